/* translate_source.c -- text, links and trees. */
/* SPDX-License-Identifier: MIT */
#include "api/translate_source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define PIECE 64 /* sentences of a job */

static const char *const escapes[][2] = {{"(", "-LRB-"}, {")", "-RRB-"}};

static trl_str map_word(trl_str word, int from)
{
    for (size_t k = 0; k < sizeof escapes / sizeof *escapes; k++) {
        const char *x = escapes[k][from], *to = escapes[k][!from];
        if (word.n == strlen(x) && memcmp(word.p, x, word.n) == 0)
            return (trl_str){to, strlen(to)};
    }
    return word;
}

trl_str trl_word_escape(trl_str word)
{
    return map_word(word, 0);
}

trl_str trl_word_unescape(trl_str word)
{
    return map_word(word, 1);
}

void trl_translate_note(const trl_translate_notes *notes, const char *fmt, ...)
{
    char text[200];
    va_list args;
    if (!notes->note)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    notes->note(notes->ctx, text);
}

void trl_translate_source_fini(trl_translate_source *s)
{
    trl_treebank_free(s->trees);
    trl_buf_fini(&s->parses);
    trl_links_fini(&s->links);
    trl_bitext_free(s->text);
    *s = (trl_translate_source){0};
}

/* ---- links ----------------------------------------------------------------------------------- */

static trl_status align(trl_translate_source *s, const trl_translate_reading *how, trl_error *err)
{
    const size_t threads = trl_pool_threads(how->pool);
    trl_align_options o = trl_align_options_default();
    trl_aligner *a = NULL;
    trl_buf lines = {0};
    size_t n = 0;
    const void *kept = trl_journal_find(how->journal, TRL_RECORD_LINKS, 0, &n);
    if (kept)
        return trl_links_memory(&s->links, &(trl_text){"<links>", kept, n}, s->text, err);
    o.threads = threads;
    trl_status st = trl_aligner_train(s->text, &o, &a, err);
    if (st == TRL_OK)
        st = trl_align(a, s->text, TRL_GROW_DIAG_FINAL_AND, threads, &lines, err);
    if (st == TRL_OK)
        trl_journal_add(how->journal, TRL_RECORD_LINKS, 0, lines.data, lines.len);
    if (st == TRL_OK)
        st = trl_links_memory(&s->links, &(trl_text){"<links>", lines.data, lines.len}, s->text,
                              err);
    trl_buf_fini(&lines);
    trl_aligner_free(a);
    return st;
}

/* ---- trees ----------------------------------------------------------------------------------- */

typedef struct parsing {
    const trl_side *side;
    trl_parser **parser; /* [threads] */
    trl_buf *piece;      /* [jobs] */
    trl_journal *journal;
} parsing;

static trl_status parse_one(parsing *p, size_t k, trl_parser *parser, trl_buf *out, trl_error *err)
{
    const size_t n = trl_side_length(p->side, k);
    const uint32_t *id = p->side->id + trl_side_begin(p->side, k);
    trl_parse parse;
    if (n == 0)
        return TRL_OK;
    trl_str *word = trl_alloc(n, sizeof *word);
    if (!word)
        return trl_fail_mem(err);
    for (size_t i = 0; i < n; i++)
        word[i] = trl_word_escape(trl_strtab_get(&p->side->words, id[i]));
    trl_status st = trl_parser_parse(parser, &(trl_parse_input){.word = word, .n = n}, &parse, err);
    if (st == TRL_OK)
        st = trl_tree_print(&parse.trees[0].tree, TRL_TREE_LINE, 0, out, err);
    trl_free(word);
    return st;
}

static trl_status parse_piece(void *ctx, size_t job, size_t worker, trl_error *err)
{
    parsing *p = ctx;
    trl_status st = TRL_OK;
    size_t n = 0;
    const void *kept = trl_journal_find(p->journal, TRL_RECORD_PARSES, job, &n);
    if (kept)
        return trl_buf_add(&p->piece[job], kept, n) ? TRL_OK : trl_fail_mem(err);
    for (size_t k = job * PIECE; st == TRL_OK && k < p->side->n && k < (job + 1) * PIECE; k++)
        st = parse_one(p, k, p->parser[worker], &p->piece[job], err);
    if (st == TRL_OK)
        trl_journal_add(p->journal, TRL_RECORD_PARSES, job, p->piece[job].data, p->piece[job].len);
    return st;
}

static trl_status parse_all(trl_translate_source *s, const trl_translate_reading *how,
                            trl_error *err)
{
    const size_t threads = trl_pool_threads(how->pool);
    const size_t jobs = (s->text->side[0].n + PIECE - 1) / PIECE;
    parsing p = {&s->text->side[0], trl_zalloc(threads, sizeof *p.parser),
                 trl_zalloc(jobs, sizeof *p.piece), how->journal};
    trl_parse_options o = trl_parse_options_default();
    trl_status st = p.parser && p.piece ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < threads; k++)
        st = trl_parser_new(how->parser, &o, &p.parser[k], err);
    if (st == TRL_OK)
        st = trl_pool_run(how->pool, jobs, parse_piece, &p, err);
    for (size_t k = 0; st == TRL_OK && k < jobs; k++)
        if (!trl_buf_add(&s->parses, p.piece[k].data, p.piece[k].len))
            st = trl_fail_mem(err);
    for (size_t k = 0; p.parser && k < threads; k++)
        trl_parser_free(p.parser[k]);
    for (size_t k = 0; p.piece && k < jobs; k++)
        trl_buf_fini(&p.piece[k]);
    trl_free(p.parser);
    trl_free(p.piece);
    return st;
}

trl_status trl_translate_source_open(trl_translate_source *s, const trl_translate_data *data,
                                     const trl_translate_notes *notes, trl_error *err)
{
    const trl_status st = trl_bitext_read(data->source, data->target, &s->text, err);
    if (st != TRL_OK)
        return st;
    const trl_bitext_info i = trl_bitext_get_info(s->text);
    trl_translate_note(notes, "%zu pairs of sentences, %zu source words", i.pairs, i.source_words);
    if (i.empty == i.pairs) {
        trl_fail(err, TRL_EINVAL, "no pair has words on both sides");
        return trl_fail_where(err, TRL_EINVAL, data->source, 0, 0);
    }
    if (i.empty)
        trl_translate_note(notes, "without words on both sides: %zu, from which nothing is learnt",
                           i.empty);
    return TRL_OK;
}

trl_status trl_translate_source_read(trl_translate_source *s, const trl_translate_data *data,
                                     const trl_translate_reading *how, trl_error *err)
{
    const trl_transform transform = {.unescape = true};
    trl_status st = TRL_OK;
    if (data->links)
        st = trl_links_read(&s->links, data->links, s->text, err);
    else if ((st = align(s, how, err)) == TRL_OK)
        trl_translate_note(&how->notes, "aligned: %zu links", s->links.n_links);
    if (st != TRL_OK)
        return st;
    if (data->trees)
        return trl_treebank_open(data->trees, &transform, false, &s->trees, err);
    if (!how->parser) {
        st =
            trl_fail(err, TRL_EINVAL, "the source sentences have no trees, and there is no parser");
        return trl_fail_hint(err, st, "give 'trees' or 'parser'");
    }
    if ((st = parse_all(s, how, err)) == TRL_OK)
        trl_translate_note(&how->notes, "parsed: %zu sentences", s->text->side[0].n);
    const trl_text text = {"<parses>", s->parses.data, s->parses.len};
    return st == TRL_OK ? trl_treebank_memory(&text, &transform, false, &s->trees, err) : st;
}
