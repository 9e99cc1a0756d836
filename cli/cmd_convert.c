/* cmd_convert.c -- trellis convert: from one format to another. */
/* SPDX-License-Identifier: MIT */
#include "convert.h"
#include "message.h"
#include "output.h"
#include "tag_print.h"
#include "trellis/text.h"
#include "verbs.h"

typedef struct settings {
    convert_format from, to;
    const char *path;
    trl_text_options text;
    bool verbose;
} settings;

const char *const grain_names[] = {"words", "fine", NULL};
const char *const rule_names[] = {"split", "lines", "whole", NULL};

void convert_column_table(text *out)
{
    for (const trl_text_column *c = trl_text_columns(); c->name; c++)
        text_fmt(out, "  %-8s %s\n", c->name, c->help);
}

static const option options[] = {
    {"from", 'f', OPTION_CHOICE, OPTION_FIELD(settings, from), .choices = convert_format_names,
     .help = "format of the input"},
    {"to", 't', OPTION_CHOICE, OPTION_FIELD(settings, to), .choices = convert_format_names,
     .help = "format to write"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, path), .value = "FILE",
     .file = FILE_OUTPUT, .fallback = "standard output", .help = "where to write"},
    {"verbose", 'v', OPTION_FLAG, OPTION_FIELD(settings, verbose),
     .help = "say how many documents, sentences and tokens there were"},
    {.help = "Text:"},
    {"tokens", .type = OPTION_CHOICE, OPTION_FIELD(settings, text.tokens.grain),
     .choices = grain_names,
     .help = "words: URLs, numbers and abbreviations are one token; fine: runs of letters and "
             "digits, and every other character alone"},
    {"sentences", .type = OPTION_CHOICE, OPTION_FIELD(settings, text.tokens.sentences),
     .choices = rule_names,
     .help = "split: at final punctuation and empty lines; lines: each line; whole: each file"},
    {"columns", 'c', OPTION_STRING, OPTION_FIELD(settings, text.columns), .value = "LIST",
     .fallback = "word", .table = convert_column_table,
     .help = "columns to make of every token, comma between; 'help' lists them"},
    {"labels", .type = OPTION_STRING, OPTION_FIELD(settings, text.labels), .value = "LIST",
     .fallback = "all that are not ignored",
     .help = "the marks that are labels, comma between; others are text"},
    {"ignore", .type = OPTION_STRING, OPTION_FIELD(settings, text.ignored), .value = "LIST",
     .fallback = "sentence,paragraph", .help = "marks to take out, closed or not"},
    {"layers", .type = OPTION_FLAG, OPTION_FIELD(settings, text.layers),
     .help = "one column for each of --labels, which may overlap"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.from = CONVERT_TEXT, .to = CONVERT_COLUMNS};
}

/* ---- the work -------------------------------------------------------------------------------- */

typedef struct job {
    const settings *s;
    output out;
    text pending;
    convert_state state;
    convert_memory memory;
    bool documents; /* several: each is headed */
    size_t n_documents, n_sentences, n_tokens, cut, lost;
} job;

static bool hand_over(job *j)
{
    const bool ok = output_text(&j->out, &j->pending);
    j->pending.n = 0;
    return ok;
}

static trl_status write_text(job *j, trl_text_reader *r, trl_error *err)
{
    static const char heading[] = "-DOCSTART-\n";
    trl_text_rows seq = {0};
    bool more = true;
    for (bool first = true; more; first = false) {
        const trl_status st = trl_text_reader_next(r, &seq, &more, err);
        if (st != TRL_OK)
            return st;
        if (!more)
            break;
        if (first && j->documents)
            seq.rows.heading = (trl_str){heading, sizeof heading - 1};
        convert_sequence c = {.rows = &seq.rows,
                              .token = seq.token,
                              .text = seq.text,
                              .labelled = j->s->text.marks && !j->s->text.layers};
        if (!convert_chunks(&j->memory, &c))
            return tag_no_memory(err);
        convert_write(j->s->to, &c, &j->state, &j->pending);
        j->n_sentences++;
        j->n_tokens += seq.rows.n_tokens;
        if (j->pending.n >= 1 << 16 && !hand_over(j))
            return TRL_OK;
    }
    convert_end(j->s->to, seq.text, &j->state, &j->pending);
    return TRL_OK;
}

static trl_status convert_file(job *j, const char *path, trl_error *err)
{
    trl_text_reader *r = NULL;
    size_t cut, lost;
    trl_status st = trl_text_reader_open(path, &j->s->text, &r, err);
    if (st == TRL_OK)
        st = write_text(j, r, err);
    trl_text_reader_marks(r, &cut, &lost);
    j->cut += cut;
    j->lost += lost;
    j->n_documents++;
    trl_text_reader_free(r);
    return st;
}

static void report(const job *j)
{
    if (j->lost)
        message_warn("%zu mark%s without a token of %s own: empty, or in a token that another mark "
                     "has; --tokens fine cuts finer",
                     j->lost, j->lost == 1 ? "" : "s", j->lost == 1 ? "its" : "their");
    if (j->s->verbose)
        message_say("%zu documents, %zu sequences, %zu tokens; %zu marks ended inside tokens",
                    j->n_documents, j->n_sentences, j->n_tokens, j->cut);
}

static int run_job(job *j, const operands *args)
{
    trl_error err = {0};
    trl_status st = TRL_OK;
    if (!output_open(&j->out, j->s->path))
        return CLI_FAILED;
    if (args->n == 0)
        st = convert_file(j, "-", &err);
    for (size_t i = 0; i < args->n && st == TRL_OK && !j->out.failed; i++)
        st = convert_file(j, args->item[i], &err);
    if (st != TRL_OK) {
        message_error(&err);
        output_discard(&j->out);
        return CLI_FAILED;
    }
    hand_over(j);
    if (!output_close(&j->out))
        return CLI_FAILED;
    report(j);
    return CLI_DONE;
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    s->text.marks = s->from == CONVERT_MARKS;
    if (s->from != CONVERT_TEXT && s->from != CONVERT_MARKS)
        return message_usage("--from is text or marks");
    if ((s->text.labels || s->text.ignored || s->text.layers) && !s->text.marks)
        return message_usage("--labels, --ignore and --layers are for --from marks");
    if (s->text.layers && (!s->text.labels || s->to != CONVERT_COLUMNS))
        return message_usage("--layers needs --labels, and writes columns");
    job j = {.s = s, .documents = args->n > 1};
    const int code = run_job(&j, args);
    text_fini(&j.pending);
    convert_memory_fini(&j.memory);
    return code;
}

const verb verb_convert = {
    .name = "convert",
    .summary = "turn text and marked text into columns",
    .usage = "[OPTION]... [INPUT]...",
    .description =
        "Reads the INPUT files, or standard input, in one format and writes another.\n"
        "\n"
        "  text     raw text in UTF-8, of any language\n"
        "  marks    text with inline marks: <speaker>Anna Berg</speaker> speaks at\n"
        "           <stime>5:00 PM</stime>\n"
        "  columns  a token a line, an empty line after each sentence; labels, if there are\n"
        "           any, in the last column as B-NAME, I-NAME and O\n"
        "  jsonl    a sentence a line: its text, tokens with byte offsets, labels and spans\n"
        "\n"
        "Text is cut into tokens and sentences, whatever its script, and byte offsets are kept:\n"
        "what --to marks writes has every byte of the text. A mark that is a label must be\n"
        "closed and may not overlap another (but see --layers); helper marks as <sentence> are\n"
        "taken out. A token that a mark cuts belongs to the side that has more of it, and no\n"
        "sentence ends inside a mark. Several files are documents: each starts with a line\n"
        "-DOCSTART-.\n",
    .examples = "  trellis convert --from marks --tokens fine -c word,shape,line,time seminars/* \n"
                "  echo 'Dr. Berg pays 3.50 at 5 p.m.' | trellis convert --to jsonl\n",
    .options = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .max_operands = (size_t)-1,
    .run = run,
};
