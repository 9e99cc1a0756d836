/* fuzz_translate.c -- any bytes as links of words, as the tables of a translator, or as classifiers
 * in a checkpoint: sound or an error (of links a placed one); sound tables translate, sound
 * classifiers are written as they were read.
 *
 * When the first byte is large, the tables are cut from the rest; 0xd0 to 0xdf: classifiers. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/strtab_io.h"
#include "train_translate/learn.h"
#include "translate/links.h"
#include "translate/translate_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static void check_links(const uint8_t *data, size_t size)
{
    trl_input *in = NULL;
    trl_links l = {0};
    trl_error err = {0};
    trl_str line;
    bool more = true;
    CHECK(trl_input_memory("fuzz", data, size, &in, NULL) == TRL_OK);
    while (trl_input_line(in, &line, &more, &err) == TRL_OK && more) {
        const size_t before = l.n_links;
        if (trl_links_add(&l, in, line, 7, 5, &err) != TRL_OK) {
            CHECK(err.code == TRL_EPARSE && err.msg[0] && err.row > 0 && err.col > 0);
            CHECK(l.n_links == before);
            continue;
        }
        for (size_t k = before; k < l.n_links; k++)
            CHECK(l.link[k].source < 7 && l.link[k].target < 5);
        CHECK(l.end[l.n - 1] == l.n_links);
    }
    trl_links_fini(&l);
    trl_input_free(in);
}

static void translate(const trl_translate_model *m)
{
    static const char text[] = "(S (A a) (S (B b) (A c)))";
    const trl_translate_limits limits = {.size = sizeof limits, .nbest = 3, .explain = true};
    trl_translator *t = NULL;
    trl_treebank *bank = NULL;
    trl_tree tree;
    trl_translations out;
    bool more;
    CHECK(trl_translator_new(m, &limits, &t, NULL) == TRL_OK);
    CHECK(trl_treebank_memory(&(trl_text){"tree", text, sizeof text - 1}, NULL, false, &bank,
                              NULL) == TRL_OK);
    CHECK(trl_treebank_next(bank, &tree, &more, NULL) == TRL_OK && more);
    CHECK(trl_translate_tree(t, &tree, &out, NULL) == TRL_OK && out.n > 0);
    trl_treebank_free(bank);
    trl_translator_free(t);
}

/* Words a b, labels S A B, targets x y z; the tables are the data's. */
static void add_names(trl_container_builder *b, trl_strtab t[3])
{
    static const char *const names[3] = {"ab", "SAB", "xyz"}, *const prefix[3] = {"word", "labl",
                                                                                  "targ"};
    for (int k = 0; k < 3; k++) {
        for (const char *p = names[k]; *p; p++)
            CHECK(trl_strtab_add(&t[k], p, 1) != TRL_NO_ID);
        CHECK(trl_strtab_save(&t[k], prefix[k], b, NULL) == TRL_OK);
    }
}

static void check_model(const uint8_t *data, size_t size)
{
    static const char *const tags[] = {"candend", "cand", "order", "bilex", "gorder"};
    enum { N = sizeof tags / sizeof *tags };
    trl_container_builder b = {0};
    trl_strtab names[3] = {{0}};
    unsigned char *bytes = NULL;
    trl_translate_model *m = NULL;
    trl_error err = {0};
    size_t n, left = size < N ? 0 : size - N;
    const uint8_t *at = data + N;
    add_names(&b, names);
    for (size_t k = 0; size >= N && k < N; k++) {
        const size_t here = data[k] < left ? data[k] : left;
        if (here || k < 3)
            trl_container_builder_add(&b, tags[k], at, here);
        at += here;
        left -= here;
    }
    trl_container_builder_add(&b, "settings", "", 1);
    CHECK(trl_container_to_buffer(&b, TRL_TRANSLATE_KIND, &bytes, &n, NULL) == TRL_OK);
    if (trl_translate_model_from_memory(bytes, n, &m, &err) == TRL_OK)
        translate(m);
    else
        CHECK(err.code == TRL_EMODEL && err.msg[0]);
    trl_translate_model_free(m);
    trl_free(bytes);
    trl_container_builder_fini(&b);
    for (int k = 0; k < 3; k++)
        trl_strtab_fini(&names[k]);
}

static void check_learnt(const uint8_t *data, size_t size)
{
    trl_learnt l;
    trl_buf out = {0};
    trl_error err = {0};
    const trl_status st = trl_learnt_load(&l, data, size, &err);
    if (st != TRL_OK) {
        CHECK(st == TRL_EMODEL && err.msg[0]);
        return;
    }
    CHECK(trl_learnt_save(&l, &out) && out.len == size && memcmp(out.data, data, size) == 0);
    trl_buf_fini(&out);
    trl_learnt_fini(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && data[0] >= 0xd0 && data[0] < 0xe0)
        check_learnt(data + 1, size - 1);
    else if (size && data[0] >= 0xf0)
        check_model(data + 1, size - 1);
    else
        check_links(data, size);
    return 0;
}
