/* fuzz_clusters.c -- any bytes as a file of clusters, or as clusters in a model: a sound map
 * or a placed error; what was read can be stored and gives the same answers.
 *
 * The first byte chooses the format, the prefix, and, when large, a container whose sections
 * are cut from the rest. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/clusters_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static trl_container *stored(trl_container_builder *b, unsigned char **bytes)
{
    trl_container *box = NULL;
    size_t n;
    CHECK(trl_container_to_buffer(b, "fuzz", bytes, &n, NULL) == TRL_OK);
    CHECK(trl_container_from_memory(*bytes, n, "fuzz", &box, NULL) == TRL_OK);
    return box;
}

static void check_map(const trl_clusters *c)
{
    trl_container_builder b = {0};
    unsigned char *bytes = NULL;
    trl_cluster_view v;
    CHECK(trl_clusters_words(c) > 0 && trl_clusters_count(c) > 0);
    CHECK(trl_clusters_save(c, &b, NULL) == TRL_OK);
    trl_container *box = stored(&b, &bytes);
    CHECK(trl_cluster_view_load(box, &v, NULL) == TRL_OK);
    for (size_t i = 0; i < trl_clusters_words(c); i++) {
        uint32_t id;
        const trl_str w = trl_clusters_word(c, i, &id), name = trl_clusters_name(c, id);
        CHECK(w.n > 0 && name.n > 0 && id >= 1 && id <= trl_clusters_count(c));
        CHECK(trl_clusters_find(c, w.p, w.n) == id);
        CHECK(trl_cluster_view_find(&v, w.p, w.n) == id);
    }
    trl_container_free(box);
    trl_free(bytes);
    trl_container_builder_fini(&b);
}

/* Seven sections of sizes that the first bytes name. */
static void check_sections(const uint8_t *data, size_t size)
{
    static const char *const tags[] = {"clwdpool", "clwdend4", "clwdslot", "clnmpool",
                                       "clnmend4", "clnmslot", "clid"};
    trl_container_builder b = {0};
    unsigned char *bytes = NULL;
    trl_cluster_view v;
    trl_error err;
    if (size < 7)
        return;
    const uint8_t *at = data + 7;
    size_t left = size - 7;
    for (size_t i = 0; i < 7; i++) {
        const size_t n = data[i] < left ? data[i] : left;
        trl_container_builder_add(&b, tags[i], at, n);
        at += n;
        left -= n;
    }
    trl_container *box = stored(&b, &bytes);
    if (trl_cluster_view_load(box, &v, &err) == TRL_OK) {
        for (uint32_t i = 0; i < v.word.n; i++) {
            const trl_str w = trl_strview_get(&v.word, i);
            CHECK(trl_cluster_view_find(&v, w.p, w.n) <= v.name.n);
        }
    } else {
        CHECK(err.code == TRL_EMODEL && err.msg[0]);
    }
    trl_container_free(box);
    trl_free(bytes);
    trl_container_builder_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] >= 0xf0) {
        check_sections(data + 1, size - 1);
        return 0;
    }
    trl_input *in = NULL;
    trl_clusters *c = NULL;
    trl_error err = {0};
    CHECK(trl_input_memory("fuzz", data + 1, size - 1, &in, &err) == TRL_OK);
    const trl_status st =
        trl_clusters_read(in, (trl_cluster_format)(data[0] % 3), data[0] / 3 % 4, &c, &err);
    if (st == TRL_OK)
        check_map(c);
    else
        CHECK(st == err.code && err.msg[0] && err.path[0] &&
              (st != TRL_EPARSE || err.col > 0 || strstr(err.msg, "empty")));
    trl_clusters_free(c);
    trl_input_free(in);
    return 0;
}
