/* parse_print.c -- trees, their probabilities, spans. */
/* SPDX-License-Identifier: MIT */
#include "parse_print.h"

#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

static size_t terminal_width(void)
{
    struct winsize w;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col
                                                                                          : 100;
}

static trl_status print_tree(const parse_style *s, const trl_tree *t, trl_buf *out, trl_error *err)
{
    if (!s->draw)
        return trl_tree_print(t, s->form, 0, out, err);
    trl_draw_options o = trl_draw_options_default();
    o.width = terminal_width();
    return trl_tree_draw(t, &o, out, err);
}

static void put_json(double probability, const trl_buf *tree, text *out)
{
    text_str(out, "{\"probability\":");
    text_json_real(out, probability);
    text_str(out, ",\"tree\":");
    text_add(out, tree->data, tree->len - 1); /* without its LF */
    text_str(out, "}\n");
}

static void put_tree(const parse_style *s, double log_p, const trl_buf *tree, text *out)
{
    const bool lines = s->draw || s->form == TRL_TREE_PRETTY || s->form == TRL_TREE_CONLLU;
    if (s->numbered && !s->draw && s->form == TRL_TREE_JSON) {
        put_json(exp(log_p), tree, out);
        return;
    }
    if (s->numbered && s->form == TRL_TREE_CONLLU)
        text_str(out, "# probability = ");
    if (s->numbered && isnan(log_p))
        text_char(out, '-');
    else if (s->numbered)
        text_fmt(out, "%.6g", exp(log_p));
    if (s->numbered)
        text_char(out, lines ? '\n' : '\t');
    text_add(out, tree->data, tree->len);
}

static void put_spans(const parse_style *s, const trl_parse *p, text *out)
{
    const bool json = s->form == TRL_TREE_JSON && !s->draw;
    text_str(out, json ? "{\"spans\":[" : "");
    for (size_t k = 0; k < p->n_spans; k++) {
        const trl_span *x = &p->spans[k];
        if (json) {
            text_fmt(out, "%s{\"from\":%zu,\"to\":%zu,\"label\":", k ? "," : "", x->from + 1,
                     x->to);
            text_json_bytes(out, x->label.p, x->label.n);
            text_str(out, ",\"probability\":");
            text_json_real(out, x->probability);
            text_char(out, '}');
        } else {
            text_fmt(out, "%zu-%zu %.*s %.4f\n", x->from + 1, x->to, (int)x->label.n, x->label.p,
                     x->probability);
        }
    }
    text_str(out, json ? "]}\n" : "");
}

trl_status parse_print(const parse_style *s, const trl_parse *p, text *out, trl_error *err)
{
    trl_buf b = {0};
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < p->n_trees; k++) {
        b.len = 0;
        st = print_tree(s, &p->trees[k].tree, &b, err);
        if (st == TRL_OK && b.len)
            put_tree(s, p->trees[k].log_probability, &b, out);
    }
    if (st == TRL_OK && s->spans)
        put_spans(s, p, out);
    if (s->apart)
        text_char(out, '\n');
    trl_buf_fini(&b);
    return st;
}
