/* cmd_convert.c -- trellis convert: from one format to another. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "convert_rows.h"
#include "message.h"
#include "output.h"
#include "tag_print.h"
#include "trellis/text.h"
#include "verbs.h"

typedef struct settings {
    convert_format from, to;
    const char *path;
    trl_text_options text;
    trl_scheme scheme, validate;
    bool unlabelled, verbose;
} settings;

const char *const grain_names[] = {"words", "fine", NULL};
const char *const rule_names[] = {"split", "lines", "whole", NULL};
static const char *const scheme_names[] = {"none", "iob1",  "iob2",  "ioe1",
                                           "ioe2", "iobes", "bilou", NULL};

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
    {"columns", 'c', OPTION_STRING, OPTION_FIELD(settings, text.columns), .value = "LIST",
     .fallback = "word; form,upos,xpos of conllu; all of others", .table = convert_column_table,
     .help = "columns to write, comma between: numbers from 0, names of conllu, or what is made "
             "of text ('help' lists those) and, of words in columns, lower, shape, case"},
    {"scheme", .type = OPTION_CHOICE, OPTION_FIELD(settings, scheme), .choices = scheme_names,
     .fallback = "labels as they are",
     .help = "write the labels, of whichever scheme, in this one"},
    {"validate", .type = OPTION_CHOICE, OPTION_FIELD(settings, validate), .choices = scheme_names,
     .fallback = "no",
     .help = "write nothing, but name every label that this scheme does not allow"},
    {"unlabelled", .type = OPTION_FLAG, OPTION_FIELD(settings, unlabelled),
     .help = "the last column is not a label"},
    {"verbose", 'v', OPTION_FLAG, OPTION_FIELD(settings, verbose),
     .help = "say how many documents, sentences and tokens there were"},
    {.help = "Text"},
    {"tokens", .type = OPTION_CHOICE, OPTION_FIELD(settings, text.tokens.grain),
     .choices = grain_names,
     .help = "words: URLs, numbers and abbreviations are one token; fine: runs of letters and "
             "digits, and every other character alone"},
    {"sentences", .type = OPTION_CHOICE, OPTION_FIELD(settings, text.tokens.sentences),
     .choices = rule_names,
     .help = "split: at final punctuation and empty lines; lines: each line; whole: each file"},
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
    convert_plan plan;
    bool documents; /* several: each is headed */
    size_t n_documents, n_sentences, n_tokens, cut, lost, faults, faulty;
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
        static const char *const place[] = {"form", "misc"};
        convert_sequence c = {.rows = &seq.rows,
                              .place = place,
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

static trl_status convert_text(job *j, const char *path, trl_error *err)
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

/* ---- other formats --------------------------------------------------------------------------- */

#define FAULTS_SHOWN 20

static trl_status validate(job *j, const trl_reader *r, const trl_rows *rows, trl_error *err)
{
    size_t at = 0, next = 0;
    trl_rows changed;
    convert_sequence c;
    trl_error fault = {0};
    bool found = false;
    const trl_status st = convert_apply(&j->plan, rows, &changed, &c, err);
    if (st != TRL_OK || !c.labelled)
        return st;
    while (trl_scheme_check_next(j->s->validate, j->plan.memory.label, rows->n_tokens, &next, &at,
                                 &fault) != TRL_OK) {
        convert_place(rows, trl_reader_row(r, at), at, &fault);
        if (j->faults++ < FAULTS_SHOWN)
            message_error(&fault);
        fault = (trl_error){0};
        found = true;
    }
    j->faulty += found;
    return TRL_OK;
}

static trl_status write_rows(job *j, const trl_reader *r, const trl_rows *rows, trl_error *err)
{
    trl_rows changed;
    convert_sequence c;
    if (rows->n_tokens == 0) { /* what stands after the last sequence */
        c = (convert_sequence){.rows = rows};
        if (j->s->to == CONVERT_COLUMNS || j->s->to == CONVERT_CONLLU)
            convert_write(j->s->to, &c, &j->state, &j->pending);
        return TRL_OK;
    }
    const trl_status st = convert_apply(&j->plan, rows, &changed, &c, err);
    c.source = trl_reader_source(r);
    if (st == TRL_OK)
        convert_write(j->s->to, &c, &j->state, &j->pending);
    return st;
}

static trl_status write_items(job *j, const trl_items *items, trl_error *err)
{
    if (convert_items(j->s->to, items, &j->pending))
        return TRL_OK;
    *err = (trl_error){.code = TRL_EINVAL, .row = items->first_row};
    snprintf(err->path, sizeof err->path, "%s", items->path);
    snprintf(err->msg, sizeof err->msg,
             "an attribute with a value other than 1, which MALLET's "
             "and GRMM's formats cannot have");
    return TRL_EINVAL;
}

static bool has_attributes(convert_format f)
{
    return f == CONVERT_CRFSUITE || f == CONVERT_MALLET || f == CONVERT_GRMM;
}

static trl_status write_attributes(job *j, const trl_reader *r, const trl_rows *rows,
                                   trl_error *err)
{
    if (convert_attributes(j->s->to, r, rows, &j->pending))
        return TRL_OK;
    *err = (trl_error){.code = TRL_EINVAL, .row = rows->first_row};
    snprintf(err->path, sizeof err->path, "%s", rows->path);
    snprintf(err->msg, sizeof err->msg, "%zu labels of a token: %s has one", rows->n_columns - 1,
             convert_format_names[j->s->to]);
    return TRL_EINVAL;
}

static trl_status convert_reader(job *j, trl_reader *r, trl_error *err)
{
    const bool is_rows = trl_format_is_rows(trl_reader_format(r));
    const bool both = j->s->from == CONVERT_GRMM && has_attributes(j->s->to);
    for (bool more = true; more && !j->out.failed;) {
        trl_rows rows = {0};
        trl_items items = {0};
        trl_status st = is_rows ? trl_reader_rows(r, &rows, &more, err)
                                : trl_reader_items(r, &items, &more, err);
        if (st == TRL_OK && more) {
            j->n_sentences++;
            j->n_tokens += is_rows ? rows.n_tokens : items.n_tokens;
        }
        if (st == TRL_OK && both)
            st = more ? write_attributes(j, r, &rows, err) : TRL_OK;
        else if (st == TRL_OK && is_rows && (more || rows.heading.n))
            st = j->s->validate ? more ? validate(j, r, &rows, err) : TRL_OK
                                : write_rows(j, r, &rows, err);
        else if (st == TRL_OK && more)
            st = write_items(j, &items, err);
        if (st != TRL_OK)
            return st;
        if (j->pending.n >= 1 << 16)
            hand_over(j);
    }
    return TRL_OK;
}

static trl_status convert_file(job *j, const char *path, trl_error *err)
{
    const trl_format format = convert_reader_format(j->s->from);
    if (format == TRL_FORMAT_GUESS)
        return convert_text(j, path, err);
    trl_reader *r = NULL;
    trl_status st = trl_reader_open(path, format, &r, err);
    if (st == TRL_OK)
        st = convert_reader(j, r, err);
    j->n_documents++;
    trl_reader_free(r);
    return st;
}

static void report(const job *j)
{
    message_count a, b, c, d;
    if (j->lost)
        message_warn("%zu mark%s without a token of %s own: empty, or in a token that another mark "
                     "has; --tokens fine cuts finer",
                     j->lost, j->lost == 1 ? "" : "s", j->lost == 1 ? "its" : "their");
    if (j->s->verbose)
        message_say("%s, %s, %s; %s ended inside tokens",
                    message_counted(j->n_documents, "file", &a),
                    message_counted(j->n_sentences, "sequence", &b),
                    message_counted(j->n_tokens, "token", &c), message_counted(j->cut, "mark", &d));
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
    if (j->faults)
        return message_fail("%zu fault%s: %zu sequence%s not well-formed in %s", j->faults,
                            j->faults == 1 ? "" : "s", j->faulty, j->faulty == 1 ? " is" : "s are",
                            trl_scheme_name(j->s->validate));
    return CLI_DONE;
}

static int check(const settings *s)
{
    const bool raw = s->from == CONVERT_TEXT || s->from == CONVERT_MARKS;
    const bool items = s->from == CONVERT_CRFSUITE || s->from == CONVERT_MALLET;
    if ((s->text.labels || s->text.ignored || s->text.layers) && !s->text.marks)
        return message_usage("--labels, --ignore and --layers are for --from marks");
    if (s->text.layers && (!s->text.labels || s->to != CONVERT_COLUMNS))
        return message_usage("--layers needs --labels, and writes columns");
    if (!raw && (s->text.tokens.grain || s->text.tokens.sentences))
        return message_usage("--tokens and --sentences are for text");
    if (items && !has_attributes(s->to))
        return message_usage(
            "attributes of %s have no columns: they can become crfsuite, mallet or grmm",
            convert_format_names[s->from]);
    if ((items || raw || s->from == CONVERT_GRMM) && (s->scheme || s->validate || s->unlabelled))
        return message_usage(
            "--scheme, --validate and --unlabelled are for columns, conllu and jsonl");
    if (raw && s->to == CONVERT_CONLLU && s->text.columns)
        return message_usage("text becomes forms of CoNLL-U, without --columns");
    return CLI_DONE;
}

static int run(void *settings_, const operands *args)
{
    settings *s = settings_;
    s->text.marks = s->from == CONVERT_MARKS;
    const int wrong = check(s);
    if (wrong != CLI_DONE)
        return wrong;
    job j = {.s = s,
             .documents = args->n > 1,
             .plan = {.from = s->from,
                      .to = s->to,
                      .columns = s->text.columns,
                      .scheme = s->scheme,
                      .unlabelled = s->unlabelled}};
    const int code = run_job(&j, args);
    text_fini(&j.pending);
    convert_memory_fini(&j.memory);
    convert_plan_fini(&j.plan);
    return code;
}

const verb verb_convert = {
    .name = "convert",
    .summary = "from one format of text or sequences to another",
    .usage = "[OPTION]... [INPUT]...",
    .description =
        "Reads the INPUT files, or standard input, in one format and writes another.\n"
        "\n"
        "  text     raw text in UTF-8, of any language\n"
        "  marks    text with inline marks: <speaker>Anna Berg</speaker> speaks at\n"
        "           <stime>5:00 PM</stime>\n"
        "  columns  a token a line, an empty line after each sentence; labels, if there\n"
        "           are any, in the last column as B-NAME, I-NAME and O\n"
        "  jsonl    a sentence a line: its text, tokens with byte offsets, labels, spans\n"
        "  conllu   CoNLL-U: ten cells a word, comments, ranges and empty nodes\n"
        "  crfsuite a label, a tab and attributes\n"
        "  mallet   attributes and a label, blanks between: MALLET's SimpleTagger\n"
        "  grmm     labels, ---- and features, blanks between: GRMM; in formats of columns\n"
        "           its word (the feature W=...) and labels\n"
        "\n"
        "Text is cut into tokens and sentences, whatever its script, and byte offsets are kept:\n"
        "what --to marks writes has every byte of the text. A mark that is a label must be\n"
        "closed and may not overlap another (but see --layers); helper marks as <sentence> are\n"
        "taken out. A token that a mark cuts belongs to the side that has more of it, and no\n"
        "sentence ends inside a mark. Several files are documents: each starts with a line\n"
        "-DOCSTART-.\n"
        "\n"
        "CoNLL-U comes back as it was, to the byte; in other formats its words have three columns\n"
        "(form, upos, xpos) unless --columns names others. Columns become CoNLL-U as --columns "
        "says\n"
        "what they are: form,upos,misc. The columns of a token become attributes 0=..., 1=... of\n"
        "crfsuite and mallet, W=..., 1=... of grmm. Labels are rewritten from any tag scheme into "
        "any other (--scheme), "
        "or\n"
        "checked (--validate): every fault with its file, line and column, and exit status 1.\n"
        "Blanks inside a cell become '_' where blanks separate cells.\n",
    .examples = "  trellis convert --from marks --tokens fine -c word,shape,line,time seminars/*\n"
                "  trellis convert --from conllu --to columns -c form,feats,upos dev.conllu\n"
                "  trellis convert --from columns --to columns --scheme iobes train.txt\n"
                "  trellis convert --from columns --validate iob2 train.txt\n"
                "  echo 'Dr. Berg pays 3.50 at 5 p.m.' | trellis convert --to jsonl\n",
    .options = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .max_operands = (size_t)-1,
    .run = run,
};
