/* brackets.c -- reading and writing Penn-bracketed trees. */
/* SPDX-License-Identifier: MIT */
#include "treebank/brackets.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

struct trl_bracket_reader {
    trl_input *in;
    trl_strtab *labels;
    trl_str line; /* borrowed from `in` */
    size_t at;    /* line.p[at ..] is unread */

    trl_node *node;
    size_t n_nodes, cap_nodes;
    char *text; /* the words back to back: a line is gone when the next one is read */
    size_t text_len, cap_text;
    trl_str *word; /* .p is set when the tree is complete: `text` may move until then */
    size_t n_words, cap_words;
    uint64_t row, col; /* of the tree */
    bool resync;       /* a line that begins with '(' begins a tree, whatever is still open */
    bool skipping;     /* up to such a line, after a broken tree */
    bool keep;
    trl_buf source;
    size_t source_at; /* line.p[source_at .. at) is to be kept, too */
};

#define BRACKET_HINT "brackets that are words are written -LRB- and -RRB-"

typedef enum token { OPEN, CLOSE, ATOM, END, ANOTHER } token; /* ANOTHER: the next tree begins */

/* Where the next token goes. */
typedef struct cursor {
    uint32_t node; /* the open node, or TRL_NO_NODE before the tree */
    uint32_t prev; /* its last child so far, or TRL_NO_NODE */
    bool labelled, worded;
} cursor;

trl_status trl_bracket_reader_new(trl_input *in, trl_strtab *labels, trl_bracket_reader **out,
                                  trl_error *err)
{
    trl_bracket_reader *r = trl_zalloc(1, sizeof *r);
    if (!r)
        return trl_fail_mem(err);
    r->in = in;
    r->labels = labels;
    *out = r;
    return TRL_OK;
}

void trl_bracket_reader_free(trl_bracket_reader *r)
{
    if (!r)
        return;
    trl_free(r->node);
    trl_free(r->text);
    trl_free(r->word);
    trl_buf_fini(&r->source);
    trl_free(r);
}

void trl_bracket_reader_keep_source(trl_bracket_reader *r)
{
    r->keep = true;
}

void trl_bracket_reader_resync(trl_bracket_reader *r)
{
    r->resync = true;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

enum { PLAIN, WHITE, BRACKET };

static const unsigned char char_class[256] = {
    [' '] = WHITE,  ['\t'] = WHITE, ['\v'] = WHITE,  ['\f'] = WHITE,
    ['\r'] = WHITE, ['\n'] = WHITE, ['('] = BRACKET, [')'] = BRACKET,
};

static unsigned class_at(const trl_bracket_reader *r, size_t at)
{
    return char_class[(unsigned char)r->line.p[at]];
}

/* Keeps what was read of the line. */
static bool keep_source(trl_bracket_reader *r)
{
    trl_buf_add(&r->source, r->line.p + r->source_at, r->at - r->source_at);
    r->source_at = 0;
    return !r->source.failed;
}

/* The next token, its text in *s (borrowed from the line). */
static trl_status next_token(trl_bracket_reader *r, token *what, trl_str *s, trl_error *err)
{
    for (;;) {
        while (r->at < r->line.n && class_at(r, r->at) == WHITE)
            r->at++;
        if (r->at < r->line.n)
            break;
        bool more;
        if (r->keep && r->n_nodes && !(keep_source(r) && trl_buf_ch(&r->source, '\n')))
            return trl_fail_mem(err);
        r->line = (trl_str){0};
        r->at = 0;
        trl_status st = trl_input_line(r->in, &r->line, &more, err);
        if (st == TRL_OK && more)
            st = trl_input_check_text(r->in, r->line, err);
        if (st != TRL_OK) {
            r->line = (trl_str){0};
            return st;
        }
        if (!more) {
            r->line = (trl_str){0};
            *what = END;
            return TRL_OK;
        }
        const bool begins = r->line.n && r->line.p[0] == '(';
        if (r->skipping && !begins)
            r->at = r->line.n;
        else
            r->skipping = false;
        if (r->resync && begins && r->n_nodes && r->col == 1) {
            *what = ANOTHER;
            return TRL_OK;
        }
    }
    const size_t from = r->at++;
    if (class_at(r, from) == BRACKET) {
        *what = r->line.p[from] == '(' ? OPEN : CLOSE;
    } else {
        while (r->at < r->line.n && class_at(r, r->at) == PLAIN)
            r->at++;
        *what = ATOM;
    }
    *s = (trl_str){r->line.p + from, r->at - from};
    return TRL_OK;
}

/* The user's text for a message: cut, control bytes replaced. */
typedef struct excerpt {
    char s[41];
} excerpt;

static excerpt show(trl_str s)
{
    excerpt e = {{0}};
    const size_t n = s.n < sizeof e.s - 1 ? s.n : sizeof e.s - 1;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s.p[i];
        e.s[i] = (char)(c < ' ' || c == 127 ? '?' : c);
    }
    return e;
}

/* Completes the error with the place of token s and drops the rest of the line. */
static trl_status bad_token(trl_bracket_reader *r, trl_str s, trl_error *err)
{
    const uint64_t col = (uint64_t)(s.p - r->line.p) + 1;
    r->at = r->line.n;
    return trl_input_fail(r->in, err, TRL_EPARSE, col);
}

/* ---- growing the tree ------------------------------------------------------------------------ */

static trl_status open_node(trl_bracket_reader *r, cursor *c, trl_str s, trl_error *err)
{
    if (c->worded) {
        trl_fail(err, TRL_EPARSE, "a bracket opens after a word; ')' is expected");
        trl_fail_hint(err, TRL_EPARSE, BRACKET_HINT);
        return bad_token(r, s, err);
    }
    if (c->node != TRL_NO_NODE && !c->labelled) {
        if (c->node != 0) {
            trl_fail(err, TRL_EPARSE, "no label (only the outermost node may lack it)");
            trl_fail_hint(err, TRL_EPARSE, BRACKET_HINT);
            return bad_token(r, s, err);
        }
        r->node[0].label = trl_strtab_add(r->labels, "", 0);
        if (r->node[0].label == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    trl_node *node = r->n_nodes < TRL_NO_NODE
                         ? trl_reserve(r->node, &r->cap_nodes, r->n_nodes + 1, sizeof *node)
                         : NULL;
    if (!node)
        return trl_fail_mem(err);
    r->node = node;
    const uint32_t id = (uint32_t)r->n_nodes++;
    node[id] = (trl_node){
        .parent = c->node, .child = TRL_NO_NODE, .next = TRL_NO_NODE, .from = (uint32_t)r->n_words};
    if (c->prev != TRL_NO_NODE)
        node[c->prev].next = id;
    else if (c->node != TRL_NO_NODE)
        node[c->node].child = id;
    *c = (cursor){.node = id, .prev = TRL_NO_NODE};
    return TRL_OK;
}

static trl_status add_word(trl_bracket_reader *r, trl_str s, trl_error *err)
{
    trl_str *word = trl_reserve(r->word, &r->cap_words, r->n_words + 1, sizeof *word);
    if (!word)
        return trl_fail_mem(err);
    r->word = word;
    char *text = trl_reserve(r->text, &r->cap_text, r->text_len + s.n, 1);
    if (!text)
        return trl_fail_mem(err);
    r->text = text;
    memcpy(text + r->text_len, s.p, s.n);
    r->text_len += s.n;
    word[r->n_words++] = (trl_str){NULL, s.n};
    return TRL_OK;
}

/* A second word in the same node: one word with a blank in it. */
static trl_status more_word(trl_bracket_reader *r, trl_str s, trl_error *err)
{
    char *text = trl_reserve(r->text, &r->cap_text, r->text_len + 1 + s.n, 1);
    if (!text)
        return trl_fail_mem(err);
    r->text = text;
    text[r->text_len] = ' ';
    memcpy(text + r->text_len + 1, s.p, s.n);
    r->text_len += 1 + s.n;
    r->word[r->n_words - 1].n += 1 + s.n;
    return TRL_OK;
}

static trl_status add_atom(trl_bracket_reader *r, cursor *c, trl_str s, trl_error *err)
{
    if (c->node == TRL_NO_NODE || c->prev != TRL_NO_NODE) {
        trl_fail(err, TRL_EPARSE, "word '%s' where a tree is expected", show(s).s);
        trl_fail_hint(err, TRL_EPARSE, "every word has a node of its own: (NN %s)", show(s).s);
        return bad_token(r, s, err);
    }
    if (c->worded)
        return more_word(r, s, err);
    if (c->labelled) {
        c->worded = true;
        return add_word(r, s, err);
    }
    const uint32_t label = trl_strtab_add(r->labels, s.p, s.n);
    if (label == TRL_NO_ID)
        return trl_fail_mem(err);
    r->node[c->node].label = label;
    c->labelled = true;
    return TRL_OK;
}

static trl_status close_node(trl_bracket_reader *r, cursor *c, trl_str s, trl_error *err)
{
    if (c->node == TRL_NO_NODE) {
        trl_fail(err, TRL_EPARSE, "')' without a '(' before it");
        trl_fail_hint(err, TRL_EPARSE, BRACKET_HINT);
        return bad_token(r, s, err);
    }
    trl_node *node = &r->node[c->node];
    if (node->from == r->n_words) {
        if (c->labelled)
            trl_fail(err, TRL_EPARSE, "the node '%s' has no words",
                     show(trl_strtab_get(r->labels, node->label)).s);
        else
            trl_fail(err, TRL_EPARSE, "the node has no label and no words");
        trl_fail_hint(err, TRL_EPARSE, "an empty element has a word, too: (-NONE- *)");
        return bad_token(r, s, err);
    }
    node->to = (uint32_t)r->n_words;
    *c = (cursor){.node = node->parent, .prev = c->node, .labelled = true};
    return TRL_OK;
}

static trl_status not_closed(const trl_bracket_reader *r, trl_error *err)
{
    trl_fail(err, TRL_EPARSE,
             "the tree that opens here is not closed where line %llu begins another",
             (unsigned long long)trl_input_row(r->in));
    return trl_fail_where(err, TRL_EPARSE, trl_input_name(r->in), r->row, r->col);
}

static trl_status ends_inside(const trl_bracket_reader *r, trl_error *err)
{
    trl_fail(err, TRL_EPARSE, "the input ends inside the tree that opens here");
    trl_fail_hint(err, TRL_EPARSE, "a ')' is missing in this tree or after it");
    return trl_fail_where(err, TRL_EPARSE, trl_input_name(r->in), r->row, r->col);
}

static trl_status finish(trl_bracket_reader *r, trl_tree *tree, trl_error *err)
{
    if (r->keep && !keep_source(r))
        return trl_fail_mem(err);
    const char *p = r->text;
    for (size_t i = 0; i < r->n_words; i++) {
        r->word[i].p = p;
        p += r->word[i].n;
    }
    *tree = (trl_tree){.n_nodes = r->n_nodes,
                       .n_words = r->n_words,
                       .node = r->node,
                       .word = r->word,
                       .path = trl_input_name(r->in),
                       .row = r->row,
                       .col = r->col,
                       .labels = r->labels,
                       .source = {r->source.data, r->source.len}};
    return TRL_OK;
}

trl_status trl_bracket_reader_next(trl_bracket_reader *r, trl_tree *tree, bool *more,
                                   trl_error *err)
{
    cursor c = {.node = TRL_NO_NODE, .prev = TRL_NO_NODE};
    trl_status st = TRL_OK;
    r->n_nodes = r->n_words = r->text_len = r->source.len = 0;
    r->source.failed = false;
    do {
        token what;
        trl_str s;
        st = next_token(r, &what, &s, err);
        if (st != TRL_OK)
            break;
        if (what == END) {
            *more = false;
            return r->n_nodes ? ends_inside(r, err) : TRL_OK;
        }
        if (what == ANOTHER)
            return not_closed(r, err);
        if (r->n_nodes == 0) {
            r->row = trl_input_row(r->in);
            r->col = (uint64_t)(s.p - r->line.p) + 1;
            r->source_at = (size_t)(s.p - r->line.p);
        }
        st = what == OPEN    ? open_node(r, &c, s, err)
             : what == CLOSE ? close_node(r, &c, s, err)
                             : add_atom(r, &c, s, err);
    } while (st == TRL_OK && c.node != TRL_NO_NODE);
    r->skipping = st == TRL_EPARSE && r->resync && r->col == 1;
    if (st != TRL_OK)
        return st;
    *more = true;
    return finish(r, tree, err);
}

/* ---- writing --------------------------------------------------------------------------------- */

void trl_write_word(trl_str w, trl_buf *out)
{
    size_t from = 0;
    for (size_t i = 0; i < w.n; i++) {
        if (w.p[i] != '(' && w.p[i] != ')')
            continue;
        trl_buf_add(out, w.p + from, i - from);
        trl_buf_str(out, w.p[i] == '(' ? "-LRB-" : "-RRB-");
        from = i + 1;
    }
    trl_buf_add(out, w.p + from, w.n - from);
}

bool trl_tree_write(const trl_tree *tree, const trl_strtab *labels, trl_buf *out)
{
    uint32_t i = 0;
    for (;;) {
        const trl_node *node = &tree->node[i];
        const trl_str label = trl_strtab_get(labels, node->label);
        trl_buf_ch(out, '(');
        trl_buf_add(out, label.p, label.n);
        trl_buf_ch(out, ' ');
        if (node->child != TRL_NO_NODE) {
            i = node->child;
            continue;
        }
        trl_write_word(tree->word[node->from], out);
        trl_buf_ch(out, ')');
        while (tree->node[i].next == TRL_NO_NODE && i != 0) {
            i = tree->node[i].parent;
            trl_buf_ch(out, ')');
        }
        if (i == 0)
            return !out->failed;
        trl_buf_ch(out, ' ');
        i = tree->node[i].next;
    }
}
