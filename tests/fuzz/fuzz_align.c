/* fuzz_align.c -- any bytes as parallel text or as a direction of an aligner: sound or a placed
 * error; sound text trains, and gets a line for every pair.
 *
 * When the first byte is large, the sections of a direction are cut from the rest. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "align/direction.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

/* Large sections are all ones but for what the data says at their start. */
static void check_direction(const uint8_t *data, size_t size)
{
    static const char *const tags[] = {"fkind", "fend", "ftarget", "ft", "fjump", "fplace", "fpat"};
    static const size_t whole[] = {
        16, 24, 0, 0, TRL_JUMPS * 8, 0, 4 * (TRL_ALIGN_LEARNT + 1) * (TRL_ALIGN_LEARNT + 1)};
    enum { N = sizeof tags / sizeof *tags };
    trl_container_builder b = {0};
    trl_container *box = NULL;
    trl_direction d = {0};
    trl_error err = {0};
    unsigned char *bytes = NULL;
    size_t n, left = size < N ? 0 : size - N;
    const uint8_t *at = data + N;
    for (size_t i = 0; size >= N && i < N; i++) {
        const size_t k = data[i] < left ? data[i] : left, room = whole[i] > k ? whole[i] : k;
        double *section = trl_alloc(room / 8 + 1, 8);
        CHECK(section);
        for (size_t q = 0; q < room / 8 + 1; q++)
            section[q] = 1.0;
        if (i == N - 1)
            memset(section, 0xff, room);
        memcpy(section, at, k);
        trl_container_builder_give(&b, tags[i], section, room);
        at += k;
        left -= k;
    }
    CHECK(trl_container_to_buffer(&b, "align", &bytes, &n, NULL) == TRL_OK);
    CHECK(trl_container_from_memory(bytes, n, "align", &box, NULL) == TRL_OK);
    if (trl_direction_load(&d, 'f', box, 3, 5, &err) == TRL_OK) {
        for (uint32_t e = 0; e < 4; e++)
            for (uint32_t f = 0; f < 6; f++)
                CHECK(trl_direction_t(&d, e, f) > 0.0f);
    } else {
        CHECK(err.code == TRL_EMODEL && err.msg[0]);
    }
    trl_direction_fini(&d);
    trl_container_free(box);
    trl_free(bytes);
    trl_container_builder_fini(&b);
}

static void check_text(const trl_bitext *b)
{
    trl_align_options o = trl_align_options_default();
    trl_aligner *a = NULL;
    trl_buf out = {0};
    trl_error err = {0};
    size_t lines = 0;
    o.ibm1 = o.hmm = 1;
    o.threads = 1;
    const trl_status st = trl_aligner_train(b, &o, &a, &err);
    CHECK(st == TRL_OK || (st == TRL_EINVAL && err.msg[0]));
    if (st != TRL_OK)
        return;
    CHECK(trl_align(a, b, TRL_GROW_DIAG_FINAL_AND, 1, &out, NULL) == TRL_OK);
    for (size_t k = 0; k < out.len; k++)
        lines += out.data[k] == '\n';
    CHECK(lines == trl_bitext_get_info(b).pairs);
    trl_buf_fini(&out);
    trl_aligner_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] >= 0xf0) {
        check_direction(data + 1, size - 1);
        return 0;
    }
    trl_bitext *b = trl_zalloc(1, sizeof *b);
    trl_input *in = NULL;
    trl_error err = {0};
    CHECK(b && trl_input_memory("fuzz", data + 1, size - 1, &in, NULL) == TRL_OK);
    const trl_status st = trl_bitext_joined(b, in, &err);
    if (st != TRL_OK)
        CHECK(st == err.code && err.msg[0] && err.path[0] && err.row > 0 && err.col > 0);
    else if (b->side[0].n)
        check_text(b);
    trl_input_free(in);
    trl_bitext_free(b);
    return 0;
}
