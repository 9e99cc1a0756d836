/* parseval_details.c -- the words and brackets of a sentence side by side, as EVALB's -d lists
 * them.
 *
 *     number : result : tag, word              result 1 right, 0 wrong, 9 not scored
 *     number : result : start, end, label      also 5: deleted, or no words left
 */
/* SPDX-License-Identifier: MIT */
#include "score/parseval_match.h"

enum { WRONG = 0, RIGHT = 1, DELETED = 5, NOT_SCORED = 9 };

static void put_word(trl_buf *out, size_t i, int result, const trl_leaf *leaf,
                     const trl_label_table *labels)
{
    const trl_str tag = trl_strtab_get(&labels->names, leaf->tag);
    trl_buf_fmt(out, "%3zu : %d : %-6.*s  %-16.*s", i, result, (int)tag.n, tag.p, (int)leaf->word.n,
                leaf->word.p);
}

static void put_words(trl_buf *out, const trl_side *gold, const trl_side *test,
                      const trl_label_table *labels, bool scored)
{
    trl_side_walk g = {.side = gold}, t = {.side = test};
    const trl_leaf *x = trl_side_next(&g), *y = trl_side_next(&t);
    for (size_t i = 0; x || y; i++) {
        const int result = !scored ? NOT_SCORED : trl_label_equal(labels, x->tag, y->tag);
        if (x && x->word.n)
            put_word(out, i, result, x, labels);
        else
            trl_buf_fmt(out, "%34s", "");
        trl_buf_str(out, "      ");
        if (y && y->word.n)
            put_word(out, i, result, y, labels);
        trl_buf_ch(out, '\n');
        x = trl_side_next(&g);
        y = trl_side_next(&t);
    }
    trl_buf_ch(out, '\n');
}

/* A label is cut to its bare form only when it is looked at. */
static void put_bracket(trl_buf *out, size_t i, const trl_bracket *b, const trl_label_table *labels,
                        bool scored)
{
    const bool looked_at = scored && b->start != b->end;
    const trl_str label =
        trl_strtab_get(&labels->names, looked_at ? labels->info[b->label].bare : b->label);
    const int result = !scored ? NOT_SCORED : !b->live ? DELETED : b->matched ? RIGHT : WRONG;
    trl_buf_fmt(out, "%3zu : %d : %3d  %3d  %-6.*s", i, result, (int)b->start, (int)b->end,
                (int)label.n, label.p);
}

static void put_brackets(trl_buf *out, const trl_side *gold, const trl_side *test,
                         const trl_label_table *labels, bool scored)
{
    for (size_t i = 0; i < gold->n_brackets || i < test->n_brackets; i++) {
        if (i < gold->n_brackets)
            put_bracket(out, i, &gold->bracket[i], labels, scored);
        else
            trl_buf_fmt(out, "%26s", "");
        trl_buf_str(out, "      ");
        if (i < test->n_brackets)
            put_bracket(out, i, &test->bracket[i], labels, scored);
        trl_buf_ch(out, '\n');
    }
    trl_buf_ch(out, '\n');
}

void trl_side_details(const trl_side *gold, const trl_side *test, const trl_label_table *labels,
                      bool scored, trl_buf *out)
{
    trl_buf_fmt(out, "-<1>---(wn1=%3d, bn1=%3zu)-           ", (int)gold->before[gold->n_leaves],
                gold->n_brackets);
    trl_buf_fmt(out, "-<2>---(wn2=%3d, bn2=%3zu)-\n", (int)test->before[test->n_leaves],
                test->n_brackets);
    put_words(out, gold, test, labels, scored);
    put_brackets(out, gold, test, labels, scored);
    trl_buf_str(out, "========\n");
}
