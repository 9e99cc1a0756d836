/* fuzz_boost.c -- any bytes as examples, as a model or as a model's sections: sound data or a
 * placed error; sound data trains, and what it trains predicts.
 *
 * The first byte chooses; when large, the sections of a model are cut from the rest. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "boost/data.h"
#include "boost/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static trl_status nothing(void *ctx, const char *text, size_t n, trl_error *err)
{
    (void)err;
    *(size_t *)ctx += n;
    CHECK(n > 0 && text[n - 1] == '\n');
    return TRL_OK;
}

static void use_model(const trl_boost_model *m, const trl_boost_data *d)
{
    double h[64];
    size_t bytes = 0;
    for (size_t k = 0; k < trl_boost_model_classifiers(m); k++) {
        CHECK(trl_boost_dump(m, k, nothing, &bytes, NULL) == TRL_OK);
        if (d && d->n <= 64)
            CHECK(trl_boost_predict(m, k, d, h, NULL) == TRL_OK);
    }
}

static void check_model(const uint8_t *data, size_t size)
{
    static const char *const tags[] = {"nodes",    "treeend",  "part",     "points",
                                       "partname", "featpool", "featend4", "featslot",
                                       "claspool", "clasend4", "classlot"};
    enum { N = sizeof tags / sizeof *tags };
    trl_container_builder b = {0};
    unsigned char *bytes = NULL;
    size_t n;
    trl_boost_model *m = NULL;
    trl_error err = {0};
    if (size < N)
        return;
    const uint8_t *at = data + N;
    size_t left = size - N;
    for (size_t i = 0; i < N; i++) {
        const size_t k = data[i] < left ? data[i] : left;
        trl_container_builder_add(&b, tags[i], at, k);
        at += k;
        left -= k;
    }
    CHECK(trl_container_to_buffer(&b, "boost", &bytes, &n, NULL) == TRL_OK);
    if (trl_boost_model_from_memory(bytes, n, &m, &err) == TRL_OK)
        use_model(m, NULL);
    else
        CHECK(err.code == TRL_EMODEL && err.msg[0]);
    trl_boost_model_free(m);
    trl_free(bytes);
    trl_container_builder_fini(&b);
}

static void check_data(trl_boost_text *t)
{
    trl_boost_options o = trl_boost_options_default();
    trl_boost_model *m = NULL;
    trl_error err = {0};
    const trl_boost_rows rows = {.raw = &t->raw,
                                 .n = 1,
                                 .n_features = t->d->names.n,
                                 .renumber = true,
                                 .memory = (size_t)1 << 20};
    if (trl_boost_build(t->d, &rows, NULL) != TRL_OK)
        return;
    o.threads = 1;
    o.trees = 8;
    o.depth = 4;
    o.sample = t->d->n % 3 ? 0 : 2;
    const trl_status st = trl_boost_train(t->d, NULL, &o, &m, &err);
    CHECK(st == TRL_OK || (st == TRL_EINVAL && err.msg[0]));
    if (st == TRL_OK)
        use_model(m, t->d);
    trl_boost_model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] >= 0xf0) {
        check_model(data + 1, size - 1);
        return 0;
    }
    trl_boost_read_options o = trl_boost_read_options_default();
    o.format = (trl_boost_format)(data[0] % 3);
    o.classes = data[0] / 3 % 2;
    trl_boost_text t = {.o = &o};
    trl_input *in = NULL;
    trl_error err = {0};
    CHECK(t.d = trl_zalloc(1, sizeof *t.d));
    t.d->named = true;
    t.d->binary = !o.classes;
    CHECK(trl_store_new((size_t)1 << 24, &t.raw.store, NULL) == TRL_OK);
    CHECK(trl_input_memory("fuzz", data + 1, size - 1, &in, NULL) == TRL_OK);
    const trl_status st = trl_boost_text_read(&t, in, &err);
    if (st == TRL_OK && t.raw.n)
        check_data(&t);
    else if (st != TRL_OK)
        CHECK(st == err.code && err.msg[0] && err.path[0] && err.row > 0 && err.col > 0);
    trl_input_free(in);
    trl_boost_text_fini(&t);
    trl_boost_data_free(t.d);
    return 0;
}
