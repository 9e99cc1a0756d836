/* tag_expand.c -- assembling attributes from slots. */
/* SPDX-License-Identifier: MIT */
#include "chain/tag_expand.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define SLOT 16
#define NEAR 8 /* rows before and after the position that plain lines may read */

/* Literal text, then perhaps a cell. */
typedef struct bit {
    char text[SLOT];
    size_t n; /* of text */
    bool has_cell;
    size_t cell; /* from the first cell of the row NEAR before the position */
} bit;

typedef struct line {
    bool plain;
    size_t first, n; /* its bits */
} line;

struct trl_expander {
    const trl_template *tpl;
    size_t columns;
    line *line;
    bit *bits;
    size_t n_bits, bit_cap;

    const trl_rows *seq;
    trl_str *cell; /* [NEAR + n_tokens + NEAR][columns] */
    char *slot;    /* SLOT bytes for each */
    size_t cell_cap, slot_cap;
};

/* ---- lines ----------------------------------------------------------------------------------- */

static bool add_bit(trl_expander *x, bit b)
{
    bit *bits = trl_reserve(x->bits, &x->bit_cap, x->n_bits + 1, sizeof *bits);
    if (!bits)
        return false;
    x->bits = bits;
    x->bits[x->n_bits++] = b;
    return true;
}

static bool is_plain(const trl_template *tpl, size_t k)
{
    for (size_t i = 0; i < trl_template_pieces(tpl, k); i++) {
        const trl_piece p = trl_template_piece(tpl, k, i);
        if (p.macro && (!p.plain || p.absolute || p.row < -NEAR || p.row > NEAR))
            return false;
    }
    return true;
}

static bool compile(trl_expander *x, size_t k)
{
    line *l = &x->line[k];
    bit b = {.n = 0};
    *l = (line){is_plain(x->tpl, k), x->n_bits, 0};
    for (size_t i = 0; l->plain && i < trl_template_pieces(x->tpl, k); i++) {
        const trl_piece p = trl_template_piece(x->tpl, k, i);
        for (size_t j = 0; !p.macro && j < p.text.n; j++) {
            if (b.n == SLOT) {
                if (!add_bit(x, b))
                    return false;
                b.n = 0;
            }
            b.text[b.n++] = p.text.p[j];
        }
        if (p.macro) {
            b.has_cell = true;
            b.cell = (size_t)(p.row + NEAR) * x->columns + p.column;
            if (!add_bit(x, b))
                return false;
            b = (bit){.n = 0};
        }
    }
    if (b.n && !add_bit(x, b))
        return false;
    l->n = x->n_bits - l->first;
    return true;
}

trl_status trl_expander_new(const trl_template *tpl, trl_expander **out, trl_error *err)
{
    trl_expander *x = trl_zalloc(1, sizeof *x);
    if (!x)
        return trl_fail_mem(err);
    x->tpl = tpl;
    x->columns = trl_template_columns(tpl);
    x->line = trl_alloc(trl_template_count(tpl), sizeof *x->line);
    bool good = x->line != NULL;
    for (size_t k = 0; good && k < trl_template_count(tpl); k++)
        good = compile(x, k);
    if (!good) {
        trl_expander_free(x);
        return trl_fail_mem(err);
    }
    *out = x;
    return TRL_OK;
}

void trl_expander_free(trl_expander *x)
{
    if (!x)
        return;
    trl_free(x->line);
    trl_free(x->bits);
    trl_free(x->cell);
    trl_free(x->slot);
    trl_free(x);
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* Cell number i, in its slot when it is short. */
static void set_cell(trl_expander *x, size_t i, trl_str s)
{
    if (s.n <= SLOT) {
        char *slot = x->slot + i * SLOT;
        if (s.n)
            memcpy(slot, s.p, s.n);
        s.p = slot;
    }
    x->cell[i] = s;
}

bool trl_expander_set(trl_expander *x, const trl_rows *seq)
{
    char scratch[24];
    size_t n, bytes;
    if (__builtin_add_overflow(seq->n_tokens, 2 * NEAR, &n) ||
        __builtin_mul_overflow(n, x->columns, &n) || __builtin_mul_overflow(n, SLOT, &bytes))
        return false;
    trl_str *cell = trl_reserve(x->cell, &x->cell_cap, n, sizeof *cell);
    if (cell)
        x->cell = cell;
    char *slot = trl_reserve(x->slot, &x->slot_cap, bytes, 1);
    if (slot)
        x->slot = slot;
    if (!cell || !slot)
        return false;
    x->seq = seq;
    for (size_t r = 0; r < NEAR; r++)
        for (size_t c = 0; c < x->columns; c++) {
            const int64_t before = (int64_t)r - NEAR, after = (int64_t)r + 1;
            set_cell(x, r * x->columns + c, trl_template_outside(x->tpl, before, scratch));
            set_cell(x, (NEAR + seq->n_tokens + r) * x->columns + c,
                     trl_template_outside(x->tpl, after, scratch));
        }
    for (size_t t = 0; t < seq->n_tokens; t++)
        for (size_t c = 0; c < x->columns; c++)
            set_cell(x, (NEAR + t) * x->columns + c, seq->cell[t * seq->n_columns + c]);
    return true;
}

/* Room for n more bytes and what the last slots may overshoot. */
static bool make_room(trl_buf *b, size_t n)
{
    if (n > SIZE_MAX / 2 - b->len) {
        b->failed = true;
        return false;
    }
    char *data = trl_reserve(b->data, &b->cap, b->len + n + 3 * SLOT, 1);
    if (data)
        b->data = data;
    b->failed |= !data;
    return data != NULL;
}

bool trl_expander_put(trl_expander *x, size_t k, size_t pos, trl_buf *out)
{
    const line *l = &x->line[k];
    if (!l->plain)
        return trl_template_expand(x->tpl, k, x->seq, pos, out);
    const trl_str *cells = x->cell + pos * x->columns;
    for (const bit *b = x->bits + l->first, *end = b + l->n; b < end; b++) {
        const trl_str c = b->has_cell ? cells[b->cell] : (trl_str){b->text, 0};
        if (out->cap - out->len < c.n + 3 * SLOT && !make_room(out, c.n))
            return false;
        char *to = out->data + out->len;
        memcpy(to, b->text, SLOT);
        to += b->n;
        if (c.n <= SLOT)
            memcpy(to, c.p, SLOT);
        else
            memcpy(to, c.p, c.n);
        out->len += b->n + c.n;
    }
    return true;
}
