/* fuzz_model.c -- any bytes as a model: never a crash; what opens can be used, dumped,
 * described.
 *
 * Magic, size and checksums are put right first, so that the checks after them are reached.
 */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "model/model.h"
#include "trellis/tagger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_right(unsigned char *p, size_t n)
{
    const uint64_t size = n;
    uint64_t sum = XXH3_64bits(p + 64, n - 64);
    memcpy(p, "TRELLIS\x1a\1\0\0", 12);
    memcpy(p + 16, &size, 8);
    memcpy(p + 24, &sum, 8);
    memset(p + 32, 0, 8);
    memcpy(p + 40, "chain\0\0", 8);
    memset(p + 48, 0, 16);
    sum = XXH3_64bits(p, 64);
    memcpy(p + 32, &sum, 8);
}

static void require(bool good)
{
    if (!good)
        abort();
}

#define TOKENS 3

/* Three tokens: the first names of the model, and others. */
static void set_sequence(trl_tagger *t, const trl_model *m)
{
    const trl_strview *names = &trl_model_chain(m)->family[TRL_NODE].names;
    const trl_str some[] = {names->n > 0 ? trl_strview_get(names, 0) : (trl_str){"a", 1},
                            names->n > 1 ? trl_strview_get(names, 1) : (trl_str){"b", 1},
                            {"the", 3}};
    const trl_model_info info = trl_model_get_info(m);
    trl_str cell[TOKENS * 8];
    trl_attr attr[TOKENS * 3];
    static const size_t begin[] = {0, 3, 6, 9};
    trl_error err;
    for (size_t i = 0; i < TOKENS * 8; i++)
        cell[i] = some[i % 3];
    for (size_t i = 0; i < TOKENS * 3; i++)
        attr[i] = (trl_attr){some[i % 3], (double)i - 3.0};
    const trl_rows rows = {.n_tokens = TOKENS, .n_columns = 8, .cell = cell};
    const trl_items items = {.n_tokens = TOKENS, .begin = begin, .attr = attr};
    const trl_status st = info.format == TRL_FORMAT_COLUMNS ? trl_tagger_set_rows(t, &rows, &err)
                                                            : trl_tagger_set_items(t, &items, &err);
    require(st == TRL_OK || st == TRL_EPARSE);
}

static void tag(const trl_model *m)
{
    const trl_model_info info = trl_model_get_info(m);
    trl_tagger *t = NULL;
    trl_error err;
    uint32_t labels[TOKENS * 2];
    double x[TOKENS * 64], score[2], log_z;
    size_t found;
    if (info.n_labels > 64)
        return; /* L^3 tables: possible, but too much for a fuzzer */
    require(trl_tagger_new(m, &t, &err) == TRL_OK);
    set_sequence(t, m);
    if (trl_tagger_viterbi(t, labels, score, &err) == TRL_OK) {
        for (size_t i = 0; i < TOKENS; i++)
            require(labels[i] < info.n_labels);
        require(trl_tagger_score(t, labels, score, &err) == TRL_OK);
        require(trl_tagger_nbest(t, 2, labels, score, &found, &err) == TRL_OK && found >= 1);
        if (info.is_probability) {
            (void)trl_tagger_marginals(t, x, &err);
            (void)trl_tagger_log_z(t, &log_z, &err);
        }
    }
    trl_tagger_free(t);
}

static trl_status count(void *ctx, const char *text, size_t n, trl_error *err)
{
    (void)text;
    (void)err;
    *(size_t *)ctx += n;
    return TRL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 64)
        return 0;
    const size_t n = (size + 63) / 64 * 64;
    unsigned char *p = trl_alloc64(n, 1);
    if (!p)
        return 0;
    memset(p, 0, n);
    memcpy(p, data, size);
    put_right(p, n);
    trl_error err = {0};
    trl_model *m = NULL;
    if (trl_model_from_memory(p, n, &m, &err) == TRL_OK) {
        size_t written = 0;
        tag(m);
        require(trl_model_dump(m, count, &written, &err) == TRL_OK && written > 0);
        require(trl_model_dump_top(m, 3, count, &written, &err) == TRL_OK);
        trl_model_free(m);
    } else {
        require(err.code == TRL_EMODEL && err.msg[0] && err.path[0]);
    }
    trl_free(p);
    return 0;
}
