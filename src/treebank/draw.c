/* draw.c -- trees for terminals: upright when they fit, else as an indented list.
 *
 *                S                       S
 *          ┌─────┴─────┐                 ├─ NP
 *          NP          VP                │  ├─ DT the
 *       ┌──┴──┐        │                 │  └─ NN cat
 *       DT    NN      VBZ                └─ VP ─ VBZ sleeps
 *      the    cat    sleeps
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "text/utf8.h"
#include "treebank/layout.h"

#define MOST_CELLS (1u << 24) /* of an upright tree, rows times columns */
#define DEEPEST 40            /* levels of a flat tree; below, brackets */

typedef enum ink { INK_PLAIN, INK_LINE, INK_PHRASE, INK_TAG, INK_MARKED } ink;

typedef struct pen {
    trl_buf *out;
    bool ascii, colour;
    const bool *marked; /* [n_nodes] or NULL */
    size_t column;
} pen;

static void begin_ink(pen *p, ink what)
{
    static const char *const code[] = {"", "\x1b[2m", "\x1b[1;34m", "\x1b[32m", "\x1b[1;7m"};
    if (p->colour)
        trl_buf_str(p->out, code[what]);
}

static void end_ink(pen *p, ink what)
{
    if (p->colour && what != INK_PLAIN)
        trl_buf_str(p->out, "\x1b[0m");
}

static void put(pen *p, ink what, trl_str s)
{
    begin_ink(p, what);
    trl_buf_shown(p->out, s);
    end_ink(p, what);
    p->column += trl_utf8_columns(s);
}

static void move_to(pen *p, size_t column)
{
    for (; p->column < column; p->column++)
        trl_buf_ch(p->out, ' ');
}

static void end_line(pen *p)
{
    trl_buf_ch(p->out, '\n');
    p->column = 0;
}

static bool in_brackets(const pen *p, uint32_t i)
{
    return p->marked && p->marked[i] && !p->colour;
}

static size_t label_columns(const pen *p, const trl_tree *t, uint32_t i)
{
    return trl_utf8_columns(trl_shown_label(t, i)) + (in_brackets(p, i) ? 2 : 0);
}

static void put_label(pen *p, const trl_tree *t, uint32_t i)
{
    const ink what = p->marked && p->marked[i]         ? INK_MARKED
                     : t->node[i].child == TRL_NO_NODE ? INK_TAG
                                                       : INK_PHRASE;
    if (in_brackets(p, i))
        put(p, what, (trl_str){"[", 1});
    put(p, what, trl_shown_label(t, i));
    if (in_brackets(p, i))
        put(p, what, (trl_str){"]", 1});
}

/* ---- upright --------------------------------------------------------------------------------- */

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

static void put_line(pen *p, unsigned ways)
{
    static const char *const box[16] = {
        [UP] = "╵",
        [DOWN] = "╷",
        [UP | DOWN] = "│",
        [LEFT] = "╴",
        [UP | LEFT] = "┘",
        [DOWN | LEFT] = "┐",
        [UP | DOWN | LEFT] = "┤",
        [RIGHT] = "╶",
        [UP | RIGHT] = "└",
        [DOWN | RIGHT] = "┌",
        [UP | DOWN | RIGHT] = "├",
        [LEFT | RIGHT] = "─",
        [UP | LEFT | RIGHT] = "┴",
        [DOWN | LEFT | RIGHT] = "┬",
        [UP | DOWN | LEFT | RIGHT] = "┼",
    };
    if (!p->ascii)
        trl_buf_str(p->out, box[ways]);
    else
        trl_buf_ch(p->out, ways == (UP | DOWN) ? '|' : ways == (LEFT | RIGHT) ? '-' : '+');
    p->column++;
}

/* The line from a node to its children. */
static void put_branches(pen *p, const trl_box *box, const trl_tree *t, uint32_t i)
{
    const size_t own = box[i].centre;
    uint32_t c = t->node[i].child, last = c;
    while (t->node[last].next != TRL_NO_NODE)
        last = t->node[last].next;
    const size_t low = box[c].centre < own ? box[c].centre : own;
    const size_t high = box[last].centre > own ? box[last].centre : own;
    move_to(p, low);
    begin_ink(p, INK_LINE);
    for (size_t x = low; x <= high; x++) {
        unsigned ways = (x == own ? UP : 0) | (x > low ? LEFT : 0) | (x < high ? RIGHT : 0);
        if (c != TRL_NO_NODE && box[c].centre == x) {
            ways |= DOWN;
            c = t->node[c].next;
        }
        put_line(p, ways);
    }
    end_ink(p, INK_LINE);
}

static void draw_upright(pen *p, const trl_layout *l, const trl_tree *t)
{
    for (size_t d = 0; d < l->n_levels; d++) {
        for (size_t k = l->level[d]; k < l->level[d + 1]; k++) {
            const uint32_t i = l->order[k];
            move_to(p, l->box[i].label_left);
            put_label(p, t, i);
        }
        end_line(p);
        for (size_t k = l->level[d]; k < l->level[d + 1]; k++) {
            const uint32_t i = l->order[k];
            if (t->node[i].child != TRL_NO_NODE)
                put_branches(p, l->box, t, i);
            else {
                move_to(p, l->box[i].word_left);
                put(p, INK_PLAIN, t->word[t->node[i].from]);
            }
        }
        end_line(p);
    }
}

/* Places the tree, more tightly when it must be; false when it does not fit. */
static bool fit(const pen *p, trl_layout *l, const trl_tree *t, size_t width)
{
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const bool leaf = t->node[i].child == TRL_NO_NODE;
        l->box[i].label = label_columns(p, t, i);
        l->box[i].word = leaf ? trl_utf8_columns(t->word[t->node[i].from]) : 0;
    }
    for (size_t gap = 2; gap > 0; gap--) {
        trl_layout_place(l, t, gap);
        if (l->box[0].width <= width)
            break;
    }
    return l->box[0].width <= width && l->box[0].width < MOST_CELLS / (2 * l->n_levels);
}

/* ---- flat ------------------------------------------------------------------------------------ */

static bool is_only(const trl_tree *t, uint32_t i)
{
    return i && t->node[i].next == TRL_NO_NODE && t->node[t->node[i].parent].child == i;
}

/* A subtree in brackets; returns the node after it. */
static uint32_t put_brackets(pen *p, const trl_tree *t, uint32_t root)
{
    const uint32_t to = t->node[root].to;
    uint32_t i = root;
    for (; i < t->n_nodes && t->node[i].from < to; i++) {
        trl_buf_str(p->out, i == root ? "(" : " (");
        trl_buf_shown(p->out, trl_shown_label(t, i));
        if (t->node[i].child != TRL_NO_NODE)
            continue;
        trl_buf_ch(p->out, ' ');
        trl_buf_shown(p->out, t->word[t->node[i].from]);
        trl_buf_ch(p->out, ')');
        for (uint32_t up = i; up != root && t->node[up].next == TRL_NO_NODE;
             up = t->node[up].parent)
            trl_buf_ch(p->out, ')');
    }
    return i;
}

static void put_prefix(pen *p, const bool *open, size_t level)
{
    if (level == 0)
        return;
    begin_ink(p, INK_LINE);
    for (size_t k = 1; k < level; k++)
        trl_buf_str(p->out, !open[k] ? "   " : p->ascii ? "|  " : "│  ");
    trl_buf_str(p->out, open[level] ? (p->ascii ? "|- " : "├─ ") : p->ascii ? "`- " : "└─ ");
    end_ink(p, INK_LINE);
}

/* One line for each node that has siblings, with the only children below it; `level` of the
 * line of every node. */
static void draw_flat(pen *p, const trl_tree *t, size_t *level)
{
    bool open[DEEPEST + 1] = {false};
    for (uint32_t i = 0; i < t->n_nodes;) {
        const bool only = is_only(t, i);
        level[i] = !i ? 0 : level[t->node[i].parent] + !only;
        if (only) {
            begin_ink(p, INK_LINE);
            trl_buf_str(p->out, p->ascii ? " - " : " ─ ");
            end_ink(p, INK_LINE);
        } else {
            if (i)
                end_line(p);
            open[level[i]] = t->node[i].next != TRL_NO_NODE;
            put_prefix(p, open, level[i]);
        }
        if (level[i] == DEEPEST && t->node[i].child != TRL_NO_NODE) {
            i = put_brackets(p, t, i);
            continue;
        }
        put_label(p, t, i);
        if (t->node[i].child == TRL_NO_NODE) {
            trl_buf_ch(p->out, ' ');
            put(p, INK_PLAIN, t->word[t->node[i].from]);
        }
        i++;
    }
    end_line(p);
}

/* ---- any ------------------------------------------------------------------------------------- */

trl_draw_options trl_draw_options_default(void)
{
    return (trl_draw_options){.style = TRL_DRAW_AUTO};
}

trl_status trl_tree_draw(const trl_tree *t, const trl_draw_options *o, trl_buf *out, trl_error *err)
{
    if (!t || !o || !out)
        return trl_fail_null(err);
    pen p = {.out = out, .ascii = o->ascii, .colour = o->colour, .marked = o->marked};
    trl_layout l = {0};
    bool upright = o->style != TRL_DRAW_FLAT;
    if (upright) {
        const size_t width = o->width && o->style == TRL_DRAW_AUTO ? o->width : SIZE_MAX;
        const trl_status st = trl_layout_init(&l, t, err);
        if (st != TRL_OK)
            return st;
        upright = fit(&p, &l, t, width);
    }
    size_t *level = upright ? NULL : trl_alloc(t->n_nodes, sizeof *level);
    if (upright)
        draw_upright(&p, &l, t);
    else if (level)
        draw_flat(&p, t, level);
    const bool failed = out->failed || (!upright && !level);
    trl_free(level);
    trl_layout_fini(&l);
    return failed ? trl_fail_mem(err) : TRL_OK;
}
