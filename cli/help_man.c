/* help_man.c -- help as a man page. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

/* Text as troff prints it unchanged: backslashes, hyphens, quotes and leading dots escaped. */
static void troff(const char *s, size_t n, text *out)
{
    for (size_t i = 0; i < n; i++) {
        const bool at_start = out->n == 0 || out->p[out->n - 1] == '\n';
        switch (s[i]) {
        case '\\':
            text_str(out, "\\e");
            break;
        case '-':
            text_str(out, "\\-");
            break;
        case '\'':
            text_str(out, "\\(aq");
            break;
        case '^':
            text_str(out, "\\(ha");
            break;
        case '~':
            text_str(out, "\\(ti");
            break;
        case '`':
            text_str(out, "\\(ga");
            break;
        case '.':
            text_str(out, at_start ? "\\&." : ".");
            break;
        default:
            text_char(out, s[i]);
        }
    }
}

static void troff_str(const char *s, text *out)
{
    troff(s, strlen(s), out);
}

static void paragraphs(const char *s, text *out)
{
    bool verbatim = false, fresh = true;
    while (*s) {
        const size_t n = strcspn(s, "\n");
        const bool as_is = *s == ' ';
        if (verbatim && !as_is) {
            text_str(out, ".fi\n.RE\n");
            verbatim = false;
            fresh = true;
        }
        if (n == 0)
            fresh = true;
        else {
            if (as_is && !verbatim)
                text_str(out, ".PP\n.RS 4\n.nf\n");
            else if (!as_is && fresh)
                text_str(out, ".PP\n");
            verbatim = as_is;
            fresh = false;
            size_t skip = 0;
            while (as_is && skip < 2 && s[skip] == ' ')
                skip++;
            troff(s + skip, n - skip, out);
            text_char(out, '\n');
        }
        s += n + (s[n] == '\n');
    }
    if (verbatim)
        text_str(out, ".fi\n.RE\n");
}

static void man_option(const option *o, const void *settings, text *out)
{
    text_str(out, ".TP\n");
    if (o->letter)
        text_fmt(out, "\\fB\\-%c\\fR, ", o->letter);
    text_str(out, "\\fB\\-\\-");
    troff_str(o->name, out);
    text_str(out, "\\fR");
    if (o->value && o->type != OPTION_FLAG) {
        text_str(out, " \\fI");
        troff_str(o->value, out);
        text_str(out, "\\fR");
    }
    for (size_t k = 0; !o->value && o->choices && o->choices[k]; k++) {
        text_str(out, k ? "|\\fB" : " \\fB");
        troff_str(o->choices[k], out);
        text_str(out, "\\fR");
    }
    text_char(out, '\n');
    troff_str(o->help, out);
    text fallback = {0};
    option_default(o, settings, &fallback);
    if (fallback.n) {
        text_str(out, " (default ");
        troff(fallback.p, fallback.n, out);
        text_char(out, ')');
    }
    text_str(out, ".\n");
    out->failed = out->failed || fallback.failed;
    text_fini(&fallback);
}

static void man_verb(const verb *v, text *out)
{
    void *settings = calloc(1, v->settings_size + 1);
    if (!settings) {
        out->failed = true;
        return;
    }
    if (v->defaults)
        v->defaults(settings);
    text_fmt(out, ".SS %s\n\\fBtrellis %s\\fR ", v->name, v->name);
    troff_str(v->usage, out);
    text_char(out, '\n');
    paragraphs(v->description, out);
    if (v->alias)
        text_fmt(out, ".PP\n\\fBtrellis %s\\fR is the same.\n", v->alias);
    for (const option *o = v->options; !option_is_last(o); o++)
        if (option_is_heading(o)) {
            text_str(out, ".PP\n\\fI");
            troff_str(o->help, out);
            text_str(out, ":\\fR\n");
        } else
            man_option(o, settings, out);
    free(settings);
}

static void section(const char *title, const char *body, text *out)
{
    text_fmt(out, ".SH %s\n", title);
    paragraphs(body, out);
}

void help_man(text *out)
{
    text_str(out, ".\\\" Made by 'trellis help --man': change the tables in cli/, not this.\n"
                  ".TH TRELLIS 1 \"\" \"Trellis " TRL_VERSION "\" \"User Commands\"\n"
                  ".SH NAME\ntrellis \\- train and use models for structured prediction\n"
                  ".SH SYNOPSIS\n\\fBtrellis\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... "
                  "[\\fIFILE\\fR]...\n.br\n\\fBtrellis \\-\\-version\\fR\n");
    section("DESCRIPTION",
            "Trellis learns to label sequences (words, lines, addresses) from examples,\n"
            "labels new ones, and says how good the labels are.\n"
            "Commands and long options may be abbreviated as long as they are unambiguous.\n"
            "Options and files may be mixed; after '--' everything is a file; the file '-'\n"
            "is standard input.\n"
            "Files may be compressed with gzip or zstd, may start with a byte order mark and\n"
            "may have DOS line ends.\n"
            "Results go to standard output, everything else to standard error.\n"
            "A file is written under another name and renamed when it is complete.\n",
            out);
    text_str(out, ".SH COMMANDS\n");
    for (size_t k = 0; verbs[k]; k++)
        man_verb(verbs[k], out);
    section("EXIT STATUS",
            "  0  done\n"
            "  1  failed: bad input, a file that cannot be read or written, no memory\n"
            "  2  wrong usage: an unknown option or a value out of its range\n"
            "  130, 143  SIGINT, SIGTERM stopped it; the model of a training's last\n"
            "            whole iteration, if there was one, was saved\n",
            out);
    section("SIGNALS",
            "SIGINT or SIGTERM stops 'trellis train' within a moment, also in the middle of an\n"
            "iteration: what is half done is thrown away, the model (and with --checkpoint the\n"
            "state) of the last whole iteration is saved, and the status is 130 or 143.  Before\n"
            "the first iteration is done, also while data is being read, nothing is written.\n"
            "'trellis boost train' saves the trees that are complete; 'trellis align' and\n"
            "'trellis cluster' write nothing.  The second signal ends the program at once; what\n"
            "was there before is then unharmed.\n",
            out);
    text_str(out, ".SH EXAMPLES\n");
    for (size_t k = 0; verbs[k]; k++)
        if (verbs[k]->examples)
            paragraphs(verbs[k]->examples, out);
}
