/* convert.c -- one sequence, written. */
/* SPDX-License-Identifier: MIT */
#include "convert.h"

#include <string.h>

const char *const convert_format_names[] = {
    [CONVERT_TEXT] = "text",
    [CONVERT_MARKS] = "marks",
    [CONVERT_COLUMNS] = "columns",
    [CONVERT_JSONL] = "jsonl",
    NULL,
};

static trl_str cell_of(const convert_sequence *s, size_t t, size_t column)
{
    return s->rows->cell[t * s->rows->n_columns + column];
}

static trl_str label_of(const convert_sequence *s, size_t t)
{
    return cell_of(s, t, s->rows->n_columns - 1);
}

static void put_columns(const convert_sequence *s, text *out)
{
    const size_t C = s->rows->n_columns;
    text_add(out, s->rows->heading.p, s->rows->heading.n);
    if (s->rows->heading.n)
        text_char(out, '\n');
    for (size_t t = 0; t < s->rows->n_tokens; t++)
        for (size_t c = 0; c < C; c++) {
            text_add(out, cell_of(s, t, c).p, cell_of(s, t, c).n);
            text_char(out, c + 1 < C ? ' ' : '\n');
        }
    text_char(out, '\n');
}

/* ---- spans ----------------------------------------------------------------------------------- */

/* Does the span of token t - 1 end before t, does one start at t? IOB2. */
static bool span_starts(const convert_sequence *s, size_t t)
{
    return s->labelled && label_of(s, t).n > 2 && label_of(s, t).p[0] == 'B';
}

static size_t span_end(const convert_sequence *s, size_t t)
{
    size_t end = t + 1;
    while (end < s->rows->n_tokens && label_of(s, end).n > 2 && label_of(s, end).p[0] == 'I')
        end++;
    return end;
}

static void put_mark(text *out, const char *open, trl_str label)
{
    text_str(out, open);
    text_add(out, label.p + 2, label.n - 2);
    text_char(out, '>');
}

static void copy_to(const convert_sequence *s, size_t end, convert_state *state, text *out)
{
    text_add(out, s->text.p + state->written, end - state->written);
    state->written = end;
}

static void put_marks(const convert_sequence *s, convert_state *state, text *out)
{
    for (size_t t = 0; t < s->rows->n_tokens; t++) {
        if (!span_starts(s, t))
            continue;
        const size_t end = span_end(s, t);
        copy_to(s, s->token[t].begin, state, out);
        put_mark(out, "<", label_of(s, t));
        copy_to(s, s->token[end - 1].end, state, out);
        put_mark(out, "</", label_of(s, t));
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
    bool first = true;
    text_str(out, ", \"spans\": [");
    for (size_t t = 0; t < s->rows->n_tokens; t++) {
        if (!span_starts(s, t))
            continue;
        const size_t from = s->token[t].begin, to = s->token[span_end(s, t) - 1].end;
        text_fmt(out, "%s{\"label\": ", first ? "" : ", ");
        text_json_bytes(out, label_of(s, t).p + 2, label_of(s, t).n - 2);
        text_fmt(out, ", \"begin\": %zu, \"end\": %zu, \"text\": ", from, to);
        text_json_bytes(out, s->text.p + from, to - from);
        text_char(out, '}');
        first = false;
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
        if (s->token)
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
    case CONVERT_JSONL:
        put_json(seq, out);
        break;
    case CONVERT_COLUMNS:
        put_columns(seq, out);
        break;
    case CONVERT_TEXT:
        break;
    }
}

void convert_end(convert_format to, trl_str document, convert_state *state, text *out)
{
    if (to == CONVERT_MARKS || to == CONVERT_TEXT)
        text_add(out, document.p + state->written, document.n - state->written);
    *state = (convert_state){0};
}
