/* convert.c -- one sequence, written. */
/* SPDX-License-Identifier: MIT */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

const char *const convert_format_names[] = {
    [CONVERT_TEXT] = "text",     [CONVERT_MARKS] = "marks",   [CONVERT_COLUMNS] = "columns",
    [CONVERT_JSONL] = "jsonl",   [CONVERT_CONLLU] = "conllu", [CONVERT_CRFSUITE] = "crfsuite",
    [CONVERT_MALLET] = "mallet", [CONVERT_GRMM] = "grmm",     NULL,
};

static trl_str cell_of(const convert_sequence *s, size_t t, size_t column)
{
    return s->rows->cell[t * s->rows->n_columns + column];
}

bool convert_chunks(convert_memory *m, convert_sequence *seq)
{
    const size_t n = seq->rows->n_tokens;
    if (!seq->labelled)
        return true;
    if (n > m->cap) {
        trl_str *label = realloc(m->label, 2 * n * sizeof *label);
        m->label = label ? label : m->label;
        trl_chunk *chunk = realloc(m->chunk, 2 * n * sizeof *chunk);
        m->chunk = chunk ? chunk : m->chunk;
        if (!label || !chunk)
            return false;
        m->cap = 2 * n;
    }
    for (size_t t = 0; t < n; t++)
        m->label[t] = cell_of(seq, t, seq->rows->n_columns - 1);
    seq->chunk = m->chunk;
    seq->n_chunks = trl_chunks_of(m->label, n, m->chunk);
    return true;
}

void convert_memory_fini(convert_memory *m)
{
    free(m->label);
    free(m->chunk);
    *m = (convert_memory){0};
}

trl_format convert_reader_format(convert_format f)
{
    static const trl_format formats[] = {
        [CONVERT_COLUMNS] = TRL_FORMAT_COLUMNS, [CONVERT_JSONL] = TRL_FORMAT_JSONL,
        [CONVERT_CONLLU] = TRL_FORMAT_CONLLU,   [CONVERT_CRFSUITE] = TRL_FORMAT_CRFSUITE,
        [CONVERT_MALLET] = TRL_FORMAT_MALLET,   [CONVERT_TEXT] = TRL_FORMAT_GUESS,
        [CONVERT_GRMM] = TRL_FORMAT_GRMM,       [CONVERT_MARKS] = TRL_FORMAT_GUESS,
        [CONVERT_COLOUR] = TRL_FORMAT_GUESS,
    };
    return formats[f];
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void put_mark(text *out, const char *open, trl_str type)
{
    text_str(out, open);
    text_add(out, type.p, type.n);
    text_char(out, '>');
}

static void copy_to(const convert_sequence *s, size_t end, convert_state *state, text *out)
{
    text_add(out, s->text.p + state->written, end - state->written);
    state->written = end;
}

/* Words that are not from a text: a sentence a line. */
static void put_words(const convert_sequence *s, bool marks, text *out)
{
    size_t k = 0;
    for (size_t t = 0; t < s->rows->n_tokens; t++) {
        const trl_chunk *c = marks && k < s->n_chunks ? &s->chunk[k] : NULL;
        text_str(out, t ? " " : "");
        if (c && c->begin == t)
            put_mark(out, "<", c->type);
        text_add(out, cell_of(s, t, 0).p, cell_of(s, t, 0).n);
        if (c && c->end == t + 1) {
            put_mark(out, "</", c->type);
            k++;
        }
    }
    text_char(out, '\n');
}

static void put_marks(const convert_sequence *s, convert_state *state, text *out)
{
    if (!s->token) {
        put_words(s, true, out);
        return;
    }
    for (size_t k = 0; k < s->n_chunks; k++) {
        const trl_chunk *c = &s->chunk[k];
        copy_to(s, s->token[c->begin].begin, state, out);
        put_mark(out, "<", c->type);
        copy_to(s, s->token[c->end - 1].end, state, out);
        put_mark(out, "</", c->type);
    }
}

/* As copy_to, without what a terminal would obey. */
static void show_to(trl_str document, size_t end, convert_state *state, text *out)
{
    for (; state->written < end; state->written++) {
        const size_t at = state->written;
        const unsigned char c = (unsigned char)document.p[at];
        if (c == '\r' && at + 1 < document.n && document.p[at + 1] == '\n')
            continue; /* the line ends all the same */
        text_char(out, (c < ' ' && c != '\n' && c != '\t') || c == 0x7f ? '?' : (char)c);
    }
}

/* One of six colours, by the type. */
static void put_colours(const convert_sequence *s, convert_state *state, text *out)
{
    for (size_t k = 0; k < s->n_chunks; k++) {
        const trl_chunk *c = &s->chunk[k];
        unsigned sum = 0;
        for (size_t i = 0; i < c->type.n; i++)
            sum = 31 * sum + (unsigned char)c->type.p[i];
        show_to(s->text, s->token[c->begin].begin, state, out);
        text_fmt(out, "\033[1;%um", 31 + sum % 6);
        show_to(s->text, s->token[c->end - 1].end, state, out);
        text_str(out, "\033[0;2m [");
        text_add(out, c->type.p, c->type.n);
        text_str(out, "]\033[0m");
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_strings(const convert_sequence *s, size_t column, text *out)
{
    text_char(out, '[');
    for (size_t t = 0; t < s->rows->n_tokens; t++) {
        text_str(out, t ? ", " : "");
        text_json_bytes(out, cell_of(s, t, column).p, cell_of(s, t, column).n);
    }
    text_char(out, ']');
}

static void put_places(const convert_sequence *s, text *out)
{
    const size_t n = s->rows->n_tokens, from = s->token[0].begin, to = s->token[n - 1].end;
    text_str(out, "{\"text\": ");
    text_json_bytes(out, s->text.p + from, to - from);
    text_fmt(out, ", \"begin\": %zu, \"end\": %zu, ", from, to);
    text_str(out, "\"offsets\": [");
    for (size_t t = 0; t < n; t++)
        text_fmt(out, "%s[%zu, %zu]", t ? ", " : "", s->token[t].begin, s->token[t].end);
    text_str(out, "], ");
}

static void put_spans(const convert_sequence *s, text *out)
{
    text_str(out, ", \"spans\": [");
    for (size_t k = 0; k < s->n_chunks; k++) {
        const trl_chunk *c = &s->chunk[k];
        text_fmt(out, "%s{\"label\": ", k ? ", " : "");
        text_json_bytes(out, c->type.p, c->type.n);
        if (s->token) {
            const size_t from = s->token[c->begin].begin, to = s->token[c->end - 1].end;
            text_fmt(out, ", \"begin\": %zu, \"end\": %zu, \"text\": ", from, to);
            text_json_bytes(out, s->text.p + from, to - from);
        } else {
            text_fmt(out, ", \"first\": %zu, \"last\": %zu", c->begin, c->end - 1);
        }
        if (s->sure)
            tag_sure_json_span(&s->sure->own[k], out);
        text_char(out, '}');
    }
    text_char(out, ']');
}

static void put_probabilities(const convert_sequence *s, text *out)
{
    text_str(out, ", \"probabilities\": [");
    for (size_t t = 0; t < s->rows->n_tokens; t++) {
        text_str(out, t ? ", " : "");
        text_fixed6(out, s->p[t]);
    }
    text_char(out, ']');
}

static void put_json(const convert_sequence *s, text *out)
{
    const size_t columns = s->rows->n_columns - s->labelled;
    if (s->token)
        put_places(s, out);
    else
        text_char(out, '{');
    if (s->rows->heading.n)
        text_str(out, "\"document\": true, ");
    text_str(out, "\"tokens\": ");
    put_strings(s, 0, out);
    for (size_t c = 1; c < columns; c++) {
        text_fmt(out, "%s", c == 1 ? ", \"columns\": [" : ", ");
        put_strings(s, c, out);
    }
    if (columns > 1)
        text_char(out, ']');
    if (s->labelled) {
        text_str(out, ", \"labels\": ");
        put_strings(s, s->rows->n_columns - 1, out);
        if (s->p)
            put_probabilities(s, out);
        if (s->sure)
            tag_sure_json(s->sure, s->rows->n_tokens, out);
        put_spans(s, out);
    }
    text_str(out, "}\n");
}

/* ---- any ------------------------------------------------------------------------------------- */

void convert_write(convert_format to, const convert_sequence *seq, convert_state *state, text *out)
{
    switch (to) {
    case CONVERT_MARKS:
        put_marks(seq, state, out);
        break;
    case CONVERT_COLOUR:
        put_colours(seq, state, out);
        break;
    case CONVERT_JSONL:
        put_json(seq, out);
        break;
    case CONVERT_COLUMNS:
        convert_columns(seq, out);
        break;
    case CONVERT_CONLLU:
        convert_conllu(seq, out);
        break;
    case CONVERT_CRFSUITE:
        convert_crfsuite(seq, out);
        break;
    case CONVERT_MALLET:
        convert_mallet(seq, out);
        break;
    case CONVERT_GRMM:
        convert_grmm(seq, out);
        break;
    case CONVERT_TEXT:
        if (!seq->token)
            put_words(seq, false, out);
        break;
    }
}

void convert_end(convert_format to, trl_str document, convert_state *state, text *out)
{
    if (to == CONVERT_COLOUR)
        show_to(document, document.n, state, out);
    if (to == CONVERT_MARKS || to == CONVERT_TEXT)
        text_add(out, document.p + state->written, document.n - state->written);
    *state = (convert_state){0};
}
