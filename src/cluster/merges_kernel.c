/* merges_kernel.c -- the loops of Brown clustering: table look-ups and integer sums. */
/* SPDX-License-Identifier: MIT */
#include "cluster/merges.h"

void trl_merges_accumulate(const trl_xlogx *f, const uint32_t *y, const uint64_t *bits, size_t b0,
                           size_t b1, uint32_t from, uint32_t to, int64_t *acc)
{
    const int64_t constant = trl_xlogx_at(f, to) - trl_xlogx_at(f, from);
    for (size_t at = b0; at < b1; at += 64) {
        uint64_t m = bits[at / 64];
        if (b1 - at < 64)
            m &= ((uint64_t)1 << (b1 - at)) - 1;
        for (; m; m &= m - 1) {
            const size_t b = at + (size_t)__builtin_ctzll(m);
            acc[b] += trl_xlogx_at(f, to + y[b]) - trl_xlogx_at(f, from + y[b]) - constant;
        }
    }
}

void trl_merges_accumulate_all(const trl_xlogx *f, const uint32_t *y, size_t b0, size_t b1,
                               uint32_t from, uint32_t to, int64_t *acc)
{
    const int64_t constant = trl_xlogx_at(f, to) - trl_xlogx_at(f, from);
    for (size_t b = b0; b < b1; b++)
        acc[b] += trl_xlogx_at(f, to + y[b]) - trl_xlogx_at(f, from + y[b]) - constant;
}

/* q_r > 0: every c < r with p_c or q_c. */
static void split_changed(trl_merges *w, const trl_context *x, size_t r, int64_t sign)
{
    const trl_xlogx *f = &w->f;
    int64_t *loss = trl_merges_row(w, r);
    const uint32_t p = x->p[r], q = x->q[r], z = p + q;
    const int64_t g = trl_xlogx_at(f, p) - trl_xlogx_at(f, z), h = g + trl_xlogx_at(f, q);
    for (size_t i = 0, n = x->below_plain[r]; i < n; i++) {
        const uint32_t c = x->plain[i], y = x->plain_p[i];
        loss[c] += sign * (trl_xlogx_at(f, z + y) - trl_xlogx_at(f, p + y) + g);
        trl_merges_note(w, r, c, loss[c]);
    }
    for (size_t i = 0, n = x->below_both[r]; i < n; i++) {
        const uint32_t c = x->both[i];
        loss[c] += sign * (trl_xlogx_at(f, z + x->both_z[i]) - trl_xlogx_at(f, p + x->both_p[i]) -
                           trl_xlogx_at(f, q + x->both_q[i]) + h + x->both_h[i]);
        trl_merges_note(w, r, c, loss[c]);
    }
}

void trl_merges_split_row(trl_merges *w, const trl_context *x, size_t r, int64_t sign)
{
    const trl_xlogx *f = &w->f;
    if (x->q[r]) {
        split_changed(w, x, r, sign);
        return;
    }
    const uint32_t p = x->p[r];
    if (p == 0)
        return;
    int64_t *loss = trl_merges_row(w, r);
    for (size_t i = 0, n = x->below_both[r]; i < n; i++) {
        const uint32_t c = x->both[i];
        loss[c] += sign * (trl_xlogx_at(f, p + x->both_z[i]) - trl_xlogx_at(f, p + x->both_p[i]) +
                           x->both_g[i]);
        trl_merges_note(w, r, c, loss[c]);
    }
}

void trl_merges_rescan(trl_merges *w, size_t r)
{
    const int64_t *loss = trl_merges_row(w, r);
    int64_t least = TRL_LOSS_NONE;
    for (size_t c = 0; c < r; c++)
        least = loss[c] < least ? loss[c] : least;
    uint32_t c = 0;
    while (c < r && loss[c] != least)
        c++;
    w->best[r] = least;
    w->arg[r] = c;
    w->stale[r] = false;
}
