/* main.c -- trellis COMMAND ...: finds the verb, reads its options, runs it. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "as_other.h"
#include "file_check.h"
#include "help.h"
#include "library_options.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "style.h"
#include "verbs.h"

const char *kind_verb(const char *kind)
{
    return strcmp(kind, "mt") == 0 ? "translate" : kind;
}

const verb *const verbs[] = {
    &verb_train,     &verb_cv,      &verb_tune,      &verb_tag,     &verb_score,  &verb_compare,
    &verb_plot,      &verb_dump,    &verb_load,      &verb_import,  &verb_export, &verb_trees,
    &verb_parse,     &verb_columns, &verb_cluster,   &verb_infer,   &verb_boost,  &verb_align,
    &verb_translate, &verb_convert, &verb_calibrate, &verb_explain, &verb_errors, &verb_shrink,
    &verb_help,      NULL,
};

const char *const format_names[] = {
    [TRL_FORMAT_GUESS] = "guess",       [TRL_FORMAT_COLUMNS] = "columns",
    [TRL_FORMAT_CRFSUITE] = "crfsuite", [TRL_FORMAT_CONLLU] = "conllu",
    [TRL_FORMAT_MALLET] = "mallet",     [TRL_FORMAT_JSONL] = "jsonl",
    [TRL_FORMAT_GRMM] = "grmm",         NULL,
};

static int print_help(const verb *v)
{
    text t = {0};
    if (v)
        help_about(v, &t);
    else
        help_overview(&t);
    if (style_colour(STDOUT_FILENO))
        style_help(&t);
    return output_print(&t);
}

static int print_table(const option *o)
{
    text t = {0};
    o->table(&t);
    if (style_colour(STDOUT_FILENO))
        style_help(&t);
    return output_print(&t);
}

static int print_version(void)
{
    text t = {0};
    text_str(&t, "trellis " TRL_VERSION "\n");
    return output_print(&t);
}

static int run(const verb *v, int argc, char **argv)
{
    operands args = {0};
    void *settings = calloc(1, v->settings_size + 1);
    if (!settings)
        return message_memory();
    if (v->defaults)
        v->defaults(settings);
    message_set_options(v->options);
    int code = CLI_USAGE;
    const option *asked = NULL;
    switch (options_parse(v, argc, argv, settings, &args, &asked)) {
    case PARSE_RUN:
        if (file_check(v, settings, &args))
            code = v->run(settings, &args);
        break;
    case PARSE_HELP:
        code = print_help(v);
        break;
    case PARSE_TABLE:
        code = print_table(asked);
        break;
    case PARSE_BAD:
        break;
    }
    options_fini(v, settings, &args);
    free(settings);
    return code;
}

/* A command line of another program, as ours. */
static int run_as_other(const char *name, int argc, char **argv)
{
    as_other ours;
    int code;
    if (as_other_translate(name, argc, argv, &ours, &code))
        code = run(verb_find(ours.arg[0]), (int)ours.n - 1, ours.arg + 1);
    as_other_fini(&ours);
    return code;
}

/* A descriptor that the caller closed must not be given to a file of ours.  Opened the wrong
 * way round, so that its use is still an error. */
static void fill_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error, see output.c */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow (ulimit -f) */
    for (size_t k = 0; verbs[k]; k++)
        if (verbs[k]->library_rows)
            library_options_complete(verbs[k]->library_rows);
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "trellis";
    if (as_other_known(name))
        return run_as_other(name, argc - 1, argv + 1);
    if (argc < 2) {
        message_say("no command given");
        message_hint("'trellis help' lists them");
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return print_version();
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(NULL);
    if (as_other_known(argv[1]))
        return run_as_other(argv[1], argc - 2, argv + 2);
    const verb *v = verb_find(argv[1]);
    if (!v) {
        message_hint("'trellis help' lists the commands");
        return CLI_USAGE;
    }
    return run(v, argc - 2, argv + 2);
}
