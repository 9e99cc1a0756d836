/* score_trees.c -- trellis score trees: brackets as EVALB counts them. */
/* SPDX-License-Identifier: MIT */
#include "score_trees.h"

#include <string.h>
#include <unistd.h>

#include "message.h"
#include "output.h"
#include "style.h"
#include "trellis/score.h"

tree_score_settings tree_score_defaults(void)
{
    return (tree_score_settings){
        .params = "collins", .max_length = TREE_AS_PARAMS, .max_errors = TREE_AS_PARAMS};
}

static int64_t limit(size_t n)
{
    const uint64_t wide = n; /* a size may have 32 bits */
    return n == TREE_AS_PARAMS ? TRL_AS_PARAMS : wide > INT64_MAX ? INT64_MAX : (int64_t)wide;
}

trl_parseval_options tree_score_options(const tree_score_settings *s)
{
    trl_parseval_options o = trl_parseval_options_default();
    o.params = s->params;
    o.max_length = limit(s->max_length);
    o.max_errors = limit(s->max_errors);
    o.unlabelled = s->unlabelled;
    o.gold_tags = s->gold_tags;
    o.details = s->details;
    o.functions = s->functions;
    return o;
}

void tree_score_errors(const trl_parseval *p)
{
    const char *line = trl_parseval_errors(p), *end;
    for (; (end = strchr(line, '\n')); line = end + 1)
        message_line("%.*s", (int)(end - line), line);
}

static int print_report(const trl_parseval *p, bool json, trl_error *err)
{
    char *report = NULL;
    const trl_status st =
        json ? trl_parseval_report_json(p, &report, err) : trl_parseval_report(p, &report, err);
    if (st != TRL_OK) {
        message_error(err);
        return CLI_FAILED;
    }
    static const char *const bold[] = {"Bracketing FMeasure", NULL};
    text t = {0};
    text_str(&t, report);
    trl_text_free(report);
    if (!json && style_colour(STDOUT_FILENO))
        style_report(&t, bold);
    return output_print(&t);
}

static int finish(const trl_parseval *p, bool json, trl_error *err)
{
    tree_score_errors(p);
    if (strstr(trl_parseval_errors(p), ": the line ends inside"))
        message_hint("every tree must stand on one line");
    int code = print_report(p, json, err);
    if (trl_parseval_stopped(p)) {
        message_say("too many errors");
        message_hint("--max-errors N allows more; --gold-tags avoids those that come from "
                     "wrong tags");
        code = CLI_FAILED;
    }
    return code;
}

static int nothing_to_score(const trl_parseval *p, const char *gold, const char *test)
{
    const bool gold_has_lines = strstr(trl_parseval_errors(p), "too many lines in gold") != NULL;
    const char *empty = gold_has_lines ? test : gold;
    return message_fail("%s: nothing to score: there are no trees in it",
                        strcmp(empty, "-") == 0 ? "<stdin>" : empty);
}

int score_trees(const tree_score_settings *s, bool json, const operands *args)
{
    if (args->n < 2)
        return message_usage("score trees needs the true trees and the predicted ones");
    const char *gold = args->item[1], *test = args->n > 2 ? args->item[2] : "-";
    if (strcmp(gold, "-") == 0 && strcmp(test, "-") == 0)
        return message_usage("only one of the files can be standard input");
    const trl_parseval_options o = tree_score_options(s);
    trl_error err = {0};
    trl_parseval *p = NULL;
    trl_status st = trl_parseval_new(&o, &p, &err);
    if (st == TRL_OK)
        st = trl_parseval_files(p, gold, test, &err);
    int code = CLI_FAILED;
    if (st != TRL_OK)
        message_error(&err);
    else if (trl_parseval_get(p, UINT64_MAX).sentences == 0)
        code = nothing_to_score(p, gold, test);
    else
        code = finish(p, json, &err);
    trl_parseval_free(p);
    return code;
}
