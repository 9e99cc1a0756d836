/* cmd_trees.c -- trellis trees: treebanks shown, converted, filtered, counted, drawn. */
/* SPDX-License-Identifier: MIT */
#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "output.h"
#include "ranges.h"
#include "trellis/trees.h"
#include "style.h"
#include "verbs.h"

typedef struct settings {
    trl_tree_format to;
    bool draw, counts, json, ascii;
    trl_draw_style style;
    const char *svg, *output;
    size_t width, top;
    bool clean, drop_empty, duplicates, unescape;
    const char *root, *match, *range;
    bool invert, keep_going;
    size_t min_length, max_length, head;
} settings;

static const char *const format_choices[] = {
    [TRL_TREE_LINE] = "line",     [TRL_TREE_PRETTY] = "pretty", [TRL_TREE_COLUMNS] = "columns",
    [TRL_TREE_WORDS] = "words",   [TRL_TREE_TAGGED] = "tagged", [TRL_TREE_JSON] = "json",
    [TRL_TREE_CONLLU] = "conllu", [TRL_TREE_SOURCE] = "source", [TRL_TREE_SOURCE + 1] = NULL,
};
static const char *const style_choices[] = {"auto", "upright", "flat", NULL};

static const option options[] = {
    {.help = "What to print"},
    {"to", 't', OPTION_CHOICE, OPTION_FIELD(settings, to), .value = "FORM",
     .choices = format_choices,
     .help = "line, pretty, columns, words, tagged, json, source: as in the input, or conllu: the "
             "words' heads and relations"},
    {"draw", 'd', OPTION_FLAG, OPTION_FIELD(settings, draw), .help = "draw the trees"},
    {"style", .type = OPTION_CHOICE, OPTION_FIELD(settings, style), .choices = style_choices,
     .help = "how to draw; auto: upright where a tree fits, else flat"},
    {"ascii", .type = OPTION_FLAG, OPTION_FIELD(settings, ascii), .help = "draw with + - | only"},
    {"svg", .type = OPTION_STRING, OPTION_FIELD(settings, svg), .value = "FILE",
     .file = FILE_OUTPUT, .help = "draw the trees into an SVG file"},
    {"counts", 'c', OPTION_FLAG, OPTION_FIELD(settings, counts),
     .help = "count trees, words, labels, rules, lengths and depths instead"},
    {"top", .type = OPTION_INTEGER, OPTION_FIELD(settings, top), .value = "N",
     .help = "with --counts: rows of the tables of labels, tags and rules; 0: all"},
    {"json", .type = OPTION_FLAG, OPTION_FIELD(settings, json),
     .help = "with --counts: all of them as one JSON object; else as --to json"},
    {"width", 'w', OPTION_INTEGER, OPTION_FIELD(settings, width), .value = "N",
     .fallback = "the terminal's, or 100", .help = "columns to fit lines and drawings in"},
    {"output", 'o', OPTION_STRING, OPTION_FIELD(settings, output), .value = "FILE",
     .file = FILE_OUTPUT, .fallback = "standard output", .help = "where to write"},
    {.help = "Changes"},
    {"drop-empty", .type = OPTION_FLAG, OPTION_FIELD(settings, drop_empty),
     .help = "drop empty elements alone; function tags and indices stay"},
    {"clean", .type = OPTION_FLAG, OPTION_FIELD(settings, clean),
     .help = "drop empty elements, function tags and indices"},
    {"no-duplicates", .type = OPTION_FLAG, OPTION_FIELD(settings, duplicates),
     .help = "merge an X with its only child when that is an X"},
    {"unescape", .type = OPTION_FLAG, OPTION_FIELD(settings, unescape),
     .help = "in words, ( for -LRB- and so on, / for \\/, * for \\*"},
    {"root", .type = OPTION_STRING, OPTION_FIELD(settings, root), .value = "LABEL",
     .fallback = "as it is", .help = "add or rename the root; 'none' removes it"},
    {.help = "Which trees"},
    {"range", 'r', OPTION_STRING, OPTION_FIELD(settings, range), .value = "RANGES",
     .fallback = "all", .help = "numbers of trees, from 1: 3-7,12,20-"},
    {"min-length", .type = OPTION_INTEGER, OPTION_FIELD(settings, min_length), .value = "N",
     .help = "at least that many words"},
    {"max-length", .type = OPTION_INTEGER, OPTION_FIELD(settings, max_length), .value = "N",
     .fallback = "no limit", .help = "at most that many words"},
    {"match", 'm', OPTION_STRING, OPTION_FIELD(settings, match), .value = "PATTERN",
     .help = "only trees with a node that fits, as in 'NP < (PP < (IN < of))'"},
    {"invert", 'v', OPTION_FLAG, OPTION_FIELD(settings, invert),
     .help = "with --match: only trees without such a node"},
    {"head", 'n', OPTION_INTEGER, OPTION_FIELD(settings, head), .value = "N", .fallback = "all",
     .help = "only the first N of what is left"},
    {"keep-going", 'k', OPTION_FLAG, OPTION_FIELD(settings, keep_going),
     .help = "report bad trees and go on; a line that begins with '(' begins a tree then, so that "
             "a missing bracket costs one tree; the exit status is 1 all the same"},
    {0},
};

static void defaults(void *settings_)
{
    *(settings *)settings_ = (settings){.top = 10};
}

/* What goes on while trees are read. */
typedef struct job {
    const settings *s;
    trl_transform how;
    trl_draw_options draw;
    ranges which;
    trl_tree_pattern *pattern;
    bool *marked; /* [n_nodes] those that fit the pattern, for drawings */
    size_t marked_cap;
    trl_tree_svg *svg;
    trl_tree_counts *counts;
    output out;
    trl_buf text;
    size_t seen, shown, bad, no_utf8;
    uint64_t passed;
    trl_error err;
} job;

/* ---- trees ----------------------------------------------------------------------------------- */

static trl_status is_wanted(job *j, const trl_tree *t, bool *yes)
{
    const settings *s = j->s;
    *yes = ranges_have(&j->which, j->seen);
    if (*yes && (s->min_length || s->max_length)) {
        const size_t n = trl_tree_length(t);
        *yes = n >= s->min_length && (!s->max_length || n <= s->max_length);
    }
    if (!*yes || !j->pattern)
        return TRL_OK;
    size_t n = 0;
    if (t->n_nodes > j->marked_cap) {
        free(j->marked);
        j->marked_cap = 2 * t->n_nodes;
        j->marked = malloc(j->marked_cap * sizeof *j->marked);
    }
    if (!j->marked) {
        j->err = (trl_error){.code = TRL_ENOMEM, .msg = "out of memory"};
        return TRL_ENOMEM;
    }
    const trl_status st = trl_tree_pattern_nodes(j->pattern, t, j->marked, &n, &j->err);
    *yes = (n > 0) != s->invert;
    return st;
}

/* Text passes as it is; what is drawn or JSON cannot. */
static void check_utf8(job *j, const trl_tree *t)
{
    if (trl_tree_is_utf8(t) || j->no_utf8++ > 0)
        return;
    message_warn("%s:%llu:%llu: this tree is not in UTF-8", t->path, (unsigned long long)t->row,
                 (unsigned long long)t->col);
    message_hint("'iconv -f latin1 -t utf8' converts, if it is in Latin-1");
}

static trl_status show(job *j, const trl_tree *t)
{
    const settings *s = j->s;
    check_utf8(j, t);
    if (j->counts)
        return trl_tree_counts_add(j->counts, t, &j->err);
    if (j->svg)
        return trl_tree_svg_add_marked(j->svg, t, &(trl_tree_marks){.marked = j->marked}, &j->err);
    j->text.len = 0;
    if (!s->draw)
        return trl_tree_print(t, s->json ? TRL_TREE_JSON : s->to, s->width, &j->text, &j->err);
    j->draw.marked = j->marked;
    const trl_status st = trl_tree_draw(t, &j->draw, &j->text, &j->err);
    if (st == TRL_OK && j->shown > 0)
        output_put(&j->out, "\n", 1);
    return st;
}

/* True when no further tree can be wanted. */
static bool is_done(const job *j)
{
    return (j->s->head && j->shown >= j->s->head) || j->seen >= ranges_last(&j->which) ||
           j->out.failed;
}

static trl_status read_trees(job *j, trl_treebank *bank)
{
    while (!is_done(j)) {
        trl_tree t;
        bool more = true, yes = false;
        trl_status st = trl_treebank_next(bank, &t, &more, &j->err);
        if (st == TRL_EPARSE && j->s->keep_going) {
            message_error(&j->err);
            j->bad++;
            continue;
        }
        if (st != TRL_OK || !more)
            return st;
        j->seen++;
        st = is_wanted(j, &t, &yes);
        if (st == TRL_OK && yes)
            st = show(j, &t);
        if (st != TRL_OK)
            return st;
        if (yes && !j->counts && !j->svg)
            output_put(&j->out, j->text.data, j->text.len);
        j->shown += yes;
    }
    return TRL_OK;
}

static trl_status read_file(job *j, const char *path)
{
    trl_treebank *bank = NULL;
    const bool source = !j->s->draw && !j->svg && !j->counts && j->s->to == TRL_TREE_SOURCE;
    trl_status st = trl_treebank_open(path, &j->how, source, &bank, &j->err);
    if (st != TRL_OK)
        return st;
    if (j->s->keep_going)
        trl_treebank_resync(bank);
    st = read_trees(j, bank);
    j->passed += trl_treebank_passed(bank);
    trl_treebank_free(bank);
    return st;
}

/* ---- before and after ------------------------------------------------------------------------ */

static int check(const settings *s)
{
    const int modes = s->draw + (s->svg != NULL) + s->counts;
    if (modes > 1)
        return message_usage("give only one of --draw, --svg and --counts");
    if (modes && s->to != TRL_TREE_LINE)
        return message_usage("--to is for trees as text: not with --draw, --svg or --counts");
    if (s->json && (s->draw || s->svg))
        return message_usage("--json does not go with drawings");
    if (s->svg && s->output)
        return message_usage("--svg says where to write; --output is for text");
    if (s->invert && !s->match)
        return message_usage("--invert needs --match");
    if (s->max_length && s->max_length < s->min_length)
        return message_usage("--max-length is below --min-length");
    if (s->root && (!s->root[0] || strpbrk(s->root, "() \t\n\v\f\r")))
        return message_usage("--root: '%s' cannot be a label", s->root);
    if (s->width > 10000)
        return message_usage("--width: at most 10000");
    return CLI_DONE;
}

static void set_drawing(job *j)
{
    const settings *s = j->s;
    const bool terminal = !s->output && isatty(STDOUT_FILENO);
    const size_t wide = style_width(STDOUT_FILENO, 100);
    j->draw = trl_draw_options_default();
    j->draw.style = s->style;
    j->draw.width = s->width ? s->width : 100;
    j->draw.ascii = s->ascii;
    if (!terminal)
        return;
    if (!s->width && wide >= 20)
        j->draw.width = wide;
    j->draw.colour = style_colour(STDOUT_FILENO);
    if (setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        j->draw.ascii = true;
}

static trl_status prepare(job *j)
{
    const settings *s = j->s;
    if (s->clean)
        j->how = trl_transform_clean();
    j->how.drop_empty |= s->drop_empty;
    j->how.drop_duplicates = s->duplicates;
    j->how.unescape = s->unescape;
    if (s->root)
        j->how.root = strcmp(s->root, "none") == 0 ? "" : s->root;
    set_drawing(j);
    trl_status st = TRL_OK;
    if (s->match)
        st = trl_tree_pattern_parse(s->match, &j->pattern, &j->err);
    if (st == TRL_OK && s->svg)
        st = trl_tree_svg_new(&j->svg, &j->err);
    if (st == TRL_OK && s->counts)
        st = trl_tree_counts_new(&j->counts, &j->err);
    return st;
}

static trl_status summarise(job *j)
{
    trl_status st = TRL_OK;
    j->text.len = 0;
    if (j->svg)
        st = trl_tree_svg_finish(j->svg, &j->text, &j->err);
    else if (j->counts)
        st = j->s->json ? trl_tree_counts_json(j->counts, &j->text, &j->err)
                        : trl_tree_counts_report(j->counts, j->s->top, &j->text, &j->err);
    if (st == TRL_OK && (j->svg || j->counts))
        output_put(&j->out, j->text.data, j->text.len);
    return st;
}

static void say_what_was_left_out(const job *j)
{
    if (j->passed)
        message_warn("%llu %s left out: no words but empty elements", (unsigned long long)j->passed,
                     j->passed == 1 ? "tree" : "trees");
    if (j->no_utf8 > 1)
        message_warn("%zu trees are not in UTF-8", j->no_utf8);
    if (j->bad)
        message_warn("%zu bad %s left out", j->bad, j->bad == 1 ? "tree" : "trees");
    if (!j->shown)
        message_warn(j->seen ? "no tree was selected" : "no trees in the input");
}

static int run_job(job *j, const operands *args)
{
    trl_status st = prepare(j);
    if (st != TRL_OK) {
        message_error(&j->err);
        return st == TRL_EPARSE ? CLI_USAGE : CLI_FAILED;
    }
    if (!output_open(&j->out, j->s->svg ? j->s->svg : j->s->output))
        return CLI_FAILED;
    for (size_t i = 0; i < (args->n ? args->n : 1) && st == TRL_OK && !is_done(j); i++)
        st = read_file(j, args->n ? args->item[i] : "-");
    if (st == TRL_OK)
        st = summarise(j);
    if (st != TRL_OK) {
        if (!j->s->output && !j->s->svg)
            output_flush(&j->out); /* what came before the bad tree */
        message_error(&j->err);
        output_discard(&j->out);
        return CLI_FAILED;
    }
    say_what_was_left_out(j);
    return output_close(&j->out) && !j->bad ? CLI_DONE : CLI_FAILED;
}

static int run(void *settings_, const operands *args)
{
    const settings *s = settings_;
    int code = check(s);
    if (code != CLI_DONE)
        return code;
    job j = {.s = s};
    code = ranges_parse(&j.which, "--range", s->range);
    if (code == CLI_DONE)
        code = run_job(&j, args);
    ranges_fini(&j.which);
    trl_tree_pattern_free(j.pattern);
    trl_tree_svg_free(j.svg);
    trl_tree_counts_free(j.counts);
    trl_buf_fini(&j.text);
    free(j.marked);
    return code;
}

const verb verb_trees = {
    .name = "trees",
    .summary = "show, convert, filter, count and draw treebanks",
    .usage = "[OPTION]... [TREEBANK]...",
    .description =
        "Reads trees in Penn brackets, one line or many each, from files or standard input\n"
        "and prints them in another form, or draws or counts them.\n"
        "\n"
        "--clean makes of an annotated treebank what parsers learn from: without empty\n"
        "elements (-NONE-), marks of speech (SU, CODE), function tags, indices and gaps.\n"
        "--root gives all trees the same root, whether they have TOP, ROOT, S1, VROOT or ()\n"
        "now, or none.  Lengths count words, not empty elements.\n"
        "\n"
        "--match searches as tgrep does.  Names are labels or words; NP|PP is either, NP*\n"
        "what begins with NP, __ anything, \"$\" in quotes means itself.  Relations, which an ! "
        "before them negates:\n"
        "\n"
        "  A < B    B is a child of A        A > B    A is a child of B\n"
        "  A << B   B is below A             A >> B   A is below B\n"
        "  A <2 B   B is the second child    A <- B   B is the last child\n"
        "  A <: B   B is the only child      A $ B    A and B are sisters\n"
        "  A . B    B begins where A ends    A .. B   B begins after A\n"
        "  A , B    B ends where A begins    A ,, B   B ends before A\n"
        "\n"
        "All of them belong to the first name, unless in brackets: 'S < (NP < PRP) < VP'.\n"
        "--draw and --svg mark the nodes that fit: in reverse on a terminal, in [ ] without\n"
        "colours, in a frame in a picture.\n",
    .examples = "  trellis trees --clean --root TOP --max-length 40 wsj/*.mrg > short.mrg\n"
                "  trellis trees --draw -r 3 short.mrg\n"
                "  trellis trees --svg trees.svg -n 2 -m 'SBARQ << WHNP' short.mrg\n"
                "  trellis trees --to tagged short.mrg\n"
                "  trellis trees --counts short.mrg\n",
    .options = options,
    .settings_size = sizeof(settings),
    .defaults = defaults,
    .min_operands = 0,
    .max_operands = (size_t)-1,
    .operand = "a treebank",
    .run = run,
};
