/* fuzz_shrunk.c -- a shrunk model with a few bytes changed: never a crash; what opens labels, or
 * says why not, and can be shrunk again.
 *
 * Input: two bytes that choose the model and how it is shrunk, then changes of four bytes each:
 * where (three, from the lowest, modulo what the file has) and what.  Checksums are put right.
 */
/* SPDX-License-Identifier: MIT */
#include "model_bytes.h"
#include "use_model.h"

#include "trellis/shrink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD "trellis-model\t1\nkind\tchain\nobjective\tlikelihood\nprobability\tyes\n"
#define LABELS "label\tA\nlabel\tB\nlabel\tC\nconstant\tedge\tB\n"
#define WEIGHTS                                                                                    \
    "node\tthe\tA\t1.5\nnode\tthe\tB\t-0.25\nnode\tthe\tC\t2\nnode\tb\tA\t0."                      \
    "001\nnode\tdog\tB\t3\n"                                                                       \
    "node\tdog\tC\t-3\nnode\tU0:the\tA\t1\nnode\tU1:b\tC\t-7."                                     \
    "5\nedge\tB\tA\tB\t1\nedge\tB\tB\tC\t-1\n"
static const char *const dump[] = {
    HEAD "order\t1\ncolumns\t0\n" LABELS WEIGHTS,
    HEAD "order\t1\ncolumns\t2\ntemplate\tU0:%x[0,0]\ntemplate\tU1:%x[-1,0]\ntemplate\tB\n" LABELS
        WEIGHTS,
    HEAD "order\t2\ncolumns\t0\n" LABELS WEIGHTS "trip\tthe\tA\tB\tC\t1\ntrip\tthe\tB\tB\tC\t0.5\n",
    HEAD "weights\tdouble\norder\t1\ncolumns\t0\n" LABELS WEIGHTS
         "edge\tdog\tA\tB\t0.125\ntemperature\t2\n",
};

static trl_shrink_options how(uint8_t x)
{
    static const double keep[] = {0.0, 0.9, 0.5, 0.1};
    return (trl_shrink_options){.size = sizeof(trl_shrink_options),
                                .keep = keep[x & 3],
                                .bits = x & 4   ? 16
                                        : x & 8 ? 8
                                                : 0,
                                .fingerprints = x & 16};
}

/* The model of a number, shrunk; empty where it cannot be. */
static trl_buf shrunk(uint8_t which, uint8_t x)
{
    trl_buf out = {0};
    trl_model *m = NULL;
    trl_error err = {0};
    unsigned char *bytes = NULL;
    size_t n;
    const trl_shrink_options o = how(x);
    const char *text = dump[which % (sizeof dump / sizeof *dump)];
    require(trl_model_undump_memory("d", text, strlen(text), &bytes, &n, &err) == TRL_OK);
    require(trl_model_from_memory(bytes, n, &m, &err) == TRL_OK);
    const trl_status st = trl_model_shrink(m, &o, &out, NULL, &err);
    require(st == TRL_OK || err.msg[0]);
    trl_model_free(m);
    trl_free(bytes);
    return out;
}

static void change(unsigned char *p, size_t n, const uint8_t *data, size_t size)
{
    for (; size >= 4 && n > 64; data += 4, size -= 4) {
        const size_t at = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;
        p[64 + at % (n - 64)] = data[3];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    trl_buf made = shrunk(data[0], data[1]), again = {0};
    trl_error err = {0};
    trl_model *m = NULL;
    const trl_shrink_options o = how((uint8_t)(data[1] * 7 + 4));
    size_t n = 0;
    unsigned char *p =
        made.len ? model_bytes((const uint8_t *)made.data, made.len, "chain", &n) : NULL;
    trl_buf_fini(&made);
    if (!p)
        return 0;
    change(p, n, data + 2, size - 2);
    put_right(p, n, "chain");
    if (trl_model_from_memory(p, n, &m, &err) == TRL_OK) {
        tag(m);
        if (trl_model_shrink(m, &o, &again, NULL, &err) != TRL_OK)
            require(err.msg[0]);
        trl_buf_fini(&again);
        trl_model_free(m);
    } else {
        require(err.code == TRL_EMODEL && err.msg[0]);
    }
    trl_free(p);
    return 0;
}
