/* as_other.c -- options of CRF++ and Wapiti, by tables, into ours. */
/* SPDX-License-Identifier: MIT */
#include "as_other.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "message.h"
#include "output.h"
#include "trellis/version.h"

typedef enum theirs_type {
    THEIRS_VALUE,   /* has a value, which ours takes */
    THEIRS_LIMIT,   /* the same, but 0 is none */
    THEIRS_FLAG,    /* becomes one, or several words with blanks between */
    THEIRS_COST,    /* CRF++'s C, see settle_costs */
    THEIRS_RHO1,    /* Wapiti's penalties */
    THEIRS_RHO2,    /* which it halves */
    THEIRS_NAME,    /* one of a list, see `names` */
    THEIRS_LEVEL,   /* crf_test -v */
    THEIRS_NOTHING, /* has no counterpart and changes no labels: said */
    THEIRS_REFUSED, /* has none, and would */
} theirs_type;

typedef struct theirs {
    char letter; /* 0: none */
    const char *name;
    bool value;
    theirs_type type;
    const char *ours; /* an option; of NOTHING and REFUSED what to do instead */
} theirs;

/* A name that a program has for a method, and ours; NULL: refused. */
typedef struct theirs_name {
    const char *theirs, *ours;
} theirs_name;

typedef struct program {
    const char *name, *mode; /* mode: the second word, or NULL */
    const char *verb;        /* ours */
    const char *operands;    /* what they mean: t(emplate), i(nput), m(odel), o(utput) */
    size_t required;
    const theirs *option; /* up to one without name */
    const theirs_name *names;
    const char *usage;
} program;

static const theirs_name crfpp_algorithms[] = {{"CRF", ""},
                                               {"CRF-L2", ""},
                                               {"CRF-L1", ""},
                                               {"MIRA", "--objective perceptron --optimizer pa"},
                                               {0}};

static const theirs crf_learn[] = {
    {'f', "freq", true, THEIRS_VALUE, "--min-count"},
    {'m', "maxiter", true, THEIRS_VALUE, "--max-iter"},
    {'c', "cost", true, THEIRS_COST, NULL},
    {'e', "eta", true, THEIRS_VALUE, "--period 1 --delta"},
    {'a', "algorithm", true, THEIRS_NAME, NULL},
    {'p', "thread", true, THEIRS_VALUE, "--threads"},
    {'H', "shrinking-size", true, THEIRS_NOTHING, "there is no shrinking"},
    {'t', "textmodel", false, THEIRS_NOTHING, "'trellis dump' prints a model as text"},
    {'C', "convert", false, THEIRS_REFUSED, "'trellis import' reads a text model of CRF++"},
    {0},
};

static const theirs crf_test[] = {
    {'m', "model", true, THEIRS_VALUE, "-m"},
    {'n', "nbest", true, THEIRS_VALUE, "--nbest"},
    {'v', "verbose", true, THEIRS_LEVEL, NULL},
    {'c', "cost-factor", true, THEIRS_REFUSED, "'trellis calibrate --temperature' scales scores"},
    {'o', "output", true, THEIRS_VALUE, "-o"},
    {0},
};

static const theirs_name wapiti_names[] = {{"l-bfgs", ""},   {"sgd-l1", ""},
                                           {"bcd", ""},      {"rprop", ""},
                                           {"rprop+", ""},   {"rprop-", ""},
                                           {"crf", ""},      {"memm", "--objective memm"},
                                           {"maxent", NULL}, {0}};

static const theirs wapiti_train[] = {
    {'T', "type", true, THEIRS_NAME, NULL},
    {'a', "algo", true, THEIRS_NAME, NULL},
    {'p', "pattern", true, THEIRS_VALUE, "-t"},
    {'m', "model", true, THEIRS_VALUE, "--init"},
    {'d', "devel", true, THEIRS_VALUE, "--dev"},
    {'t', "nthread", true, THEIRS_VALUE, "--threads"},
    {'i', "maxiter", true, THEIRS_LIMIT, "--max-iter"},
    {'1', "rho1", true, THEIRS_RHO1, NULL},
    {'2', "rho2", true, THEIRS_RHO2, NULL},
    {0, "histsz", true, THEIRS_VALUE, "--memory"},
    {0, "me", false, THEIRS_REFUSED, "for single labels leave out the 'b' patterns"},
    {'c', "compact", false, THEIRS_NOTHING, "'trellis shrink' makes models small"},
    {'s', "sparse", false, THEIRS_NOTHING, "sums are sparse where it is faster"},
    {'j', "jobsize", true, THEIRS_NOTHING, "threads are fed by themselves"},
    {'o', "objwin", true, THEIRS_NOTHING, "--period and --delta look at the objective"},
    {'w', "stopwin", true, THEIRS_NOTHING, "--patience looks at the score on --dev"},
    {'e', "stopeps", true, THEIRS_NOTHING, "--patience looks at the score on --dev"},
    {0, "clip", false, THEIRS_NOTHING, "gradients are those of OWL-QN"},
    {0, "maxls", true, THEIRS_NOTHING, "the line search has no such limit"},
    {0, "eta0", true, THEIRS_NOTHING, "the optimiser has no such rate"},
    {0, "alpha", true, THEIRS_NOTHING, "the optimiser has no such rate"},
    {0, "kappa", true, THEIRS_NOTHING, "the optimiser has no such constant"},
    {0, "stpmin", true, THEIRS_NOTHING, "the optimiser has no such step"},
    {0, "stpmax", true, THEIRS_NOTHING, "the optimiser has no such step"},
    {0, "stpinc", true, THEIRS_NOTHING, "the optimiser has no such step"},
    {0, "stpdec", true, THEIRS_NOTHING, "the optimiser has no such step"},
    {0, "cutoff", false, THEIRS_NOTHING, "the optimiser has no such step"},
    {0, "rstate", true, THEIRS_REFUSED, "--checkpoint FILE --resume goes on with a run"},
    {0, "sstate", true, THEIRS_REFUSED, "--checkpoint FILE keeps the state of a run"},
    {0},
};

static const theirs wapiti_label[] = {
    {'m', "model", true, THEIRS_VALUE, "-m"},
    {'n', "nbest", true, THEIRS_VALUE, "--nbest"},
    {'p', "post", false, THEIRS_FLAG, "--posterior"},
    {'s', "score", false, THEIRS_FLAG, "-p -i"},
    {'c', "check", false, THEIRS_NOTHING, "'trellis score' says how good labels are"},
    {0, "me", false, THEIRS_NOTHING, "the model says what it is"},
    {'l', "label", false, THEIRS_REFUSED, "labels are the last column: cut it out"},
    {0, "force", false, THEIRS_REFUSED, "--allowed-column fixes labels that are known"},
    {0},
};

static const theirs wapiti_dump[] = {
    {'p', "prec", true, THEIRS_NOTHING, "weights have all their digits"},
    {0, "all", false, THEIRS_NOTHING, "weights that are 0 are left out"},
    {0},
};

static const program programs[] = {
    {"crf_learn", NULL, "train", "tim", 3, crf_learn, crfpp_algorithms,
     "crf_learn [OPTION]... TEMPLATE TRAIN MODEL"},
    {"crf_test", NULL, "tag", "*", 0, crf_test, NULL, "crf_test [OPTION]... -m MODEL FILE..."},
    {"wapiti", "train", "train", "im", 2, wapiti_train, wapiti_names,
     "wapiti train [OPTION]... TRAIN MODEL"},
    {"wapiti", "label", "tag", "io", 0, wapiti_label, NULL,
     "wapiti label [OPTION]... -m MODEL [INPUT [OUTPUT]]"},
    {"wapiti", "dump", "dump", "io", 1, wapiti_dump, NULL, "wapiti dump [OPTION]... MODEL"},
};
#define PROGRAMS (sizeof programs / sizeof *programs)

/* ---- our words ------------------------------------------------------------------------------- */

static void add(as_other *x, const char *word, size_t n)
{
    if (x->n + 2 > x->cap) {
        const size_t cap = x->cap ? 2 * x->cap : 32;
        char **grown = realloc(x->arg, cap * sizeof *grown);
        if (!grown) {
            x->failed = true;
            return;
        }
        x->arg = grown;
        x->cap = cap;
    }
    char *copy = malloc(n + 1);
    if (!copy) {
        x->failed = true;
        return;
    }
    memcpy(copy, word, n);
    copy[n] = '\0';
    x->arg[x->n++] = copy;
    x->arg[x->n] = NULL;
}

/* Words with blanks between. */
static void add_words(as_other *x, const char *words)
{
    while (*words) {
        const size_t n = strcspn(words, " ");
        add(x, words, n);
        words += n + strspn(words + n, " ");
    }
}

static void add_number(as_other *x, const char *option, double value)
{
    char s[40];
    snprintf(s, sizeof s, "%.15g", value);
    add_words(x, option);
    add(x, s, strlen(s));
}

void as_other_fini(as_other *x)
{
    for (size_t i = 0; i < x->n; i++)
        free(x->arg[i]);
    free(x->arg);
}

/* ---- their words ----------------------------------------------------------------------------- */

typedef struct reading {
    const program *p;
    as_other *out;
    const char **operand;
    size_t n_operands;
    double cost, rho1, rho2;
    bool l1;      /* CRF++'s CRF-L1 */
    bool no_cost; /* MIRA */
    int level;    /* crf_test -v */
    bool nbest;
} reading;

static bool say_refused(const theirs *o, const char *shown)
{
    message_say("%s: has no counterpart here", shown);
    message_hint("%s", o->ours);
    return false;
}

static bool read_number(const char *shown, const char *value, double least, double *out)
{
    char *end;
    *out = strtod(value, &end);
    if (end != value && !*end && isfinite(*out) && *out >= least)
        return true;
    message_say("%s %s: a number %s is needed", shown, value,
                least > 0.0 ? "above 0" : "from 0 on");
    return false;
}

static bool set_name(reading *r, const char *shown, const char *value)
{
    const theirs_name *k = r->p->names;
    int (*compare)(const char *, const char *) = r->p->mode ? strcmp : strcasecmp; /* as they do */
    while (k->theirs && compare(k->theirs, value) != 0)
        k++;
    if (!k->ours) {
        message_say("%s %s: %s", shown, value,
                    k->theirs ? "has no counterpart here" : "there is no such name");
        return false;
    }
    r->l1 = r->l1 || strcmp(k->theirs, "CRF-L1") == 0;
    r->no_cost = r->no_cost || strcmp(k->theirs, "MIRA") == 0;
    add_words(r->out, k->ours);
    return true;
}

static bool set_option(reading *r, const theirs *o, const char *shown, const char *value)
{
    double level;
    switch (o->type) {
    case THEIRS_LIMIT:
        if (strcmp(value, "0") == 0)
            return true;
        /* fallthrough */
    case THEIRS_VALUE:
        r->nbest = r->nbest || strcmp(o->ours, "--nbest") == 0;
        add_words(r->out, o->ours);
        add(r->out, value, strlen(value));
        return true;
    case THEIRS_FLAG:
        add_words(r->out, o->ours);
        return true;
    case THEIRS_COST:
        return read_number(shown, value, 1e-300, &r->cost);
    case THEIRS_RHO1:
        return read_number(shown, value, 0.0, &r->rho1);
    case THEIRS_RHO2:
        return read_number(shown, value, 0.0, &r->rho2);
    case THEIRS_NAME:
        return set_name(r, shown, value);
    case THEIRS_LEVEL:
        if (!read_number(shown, value, 0.0, &level))
            return false;
        r->level = level >= 2.0 ? 2 : (int)level;
        return true;
    case THEIRS_NOTHING:
        message_line("%s has no counterpart and is left out: %s", shown, o->ours);
        return true;
    case THEIRS_REFUSED:
    default:
        return say_refused(o, shown);
    }
}

static bool unknown(const reading *r, const char *shown)
{
    message_say("%s: %s%s%s has no such option", shown, r->p->name, r->p->mode ? " " : "",
                r->p->mode ? r->p->mode : "");
    message_hint("'trellis %s%s%s --help' lists those that are understood", r->p->name,
                 r->p->mode ? " " : "", r->p->mode ? r->p->mode : "");
    return false;
}

/* The mode of a program, as a word or by its first letter. */
static bool is_mode(const char *mode, const char *word)
{
    return strcmp(mode, word) == 0 || (word[0] == mode[0] && !word[1]);
}

/* The option at argv[*i], which moves over its value. */
static bool read_option(reading *r, int argc, char **argv, int *i)
{
    const char *word = argv[*i], *value = NULL;
    const theirs *o = r->p->option;
    char shown[60];
    if (word[1] == '-') {
        const size_t n = strcspn(word + 2, "=");
        while (o->name && (strlen(o->name) != n || memcmp(o->name, word + 2, n) != 0))
            o++;
        value = word[2 + n] ? word + 3 + n : NULL;
        snprintf(shown, sizeof shown, "--%.*s", n < 40 ? (int)n : 40, word + 2);
    } else {
        while (o->name && o->letter != word[1])
            o++;
        value = word[2] ? word + 2 : NULL;
        snprintf(shown, sizeof shown, "-%c", word[1]);
    }
    if (!o->name || (value && !o->value))
        return unknown(r, word);
    if (o->value && !value) {
        if (*i + 1 == argc) {
            message_say("%s needs a value", shown);
            return false;
        }
        value = argv[++*i];
    }
    return set_option(r, o, shown, value);
}

/* ---- at the end ------------------------------------------------------------------------------ */

/* CRF++ minimises |w|^2/2 - C log p, or |w| - C log p; ours is c1 |w| + c2 |w|^2 - log p. */
static void settle_costs(reading *r)
{
    if (r->p->option == crf_learn && !r->no_cost) {
        add_number(r->out, "--c2", r->l1 ? 0.0 : 0.5 / r->cost);
        if (r->l1)
            add_number(r->out, "--c1", 1.0 / r->cost);
    }
    if (r->p->option == wapiti_train) {
        add_number(r->out, "--c1", r->rho1);
        add_number(r->out, "--c2", r->rho2 / 2.0);
    }
    if (r->level && r->nbest)
        add_words(r->out, r->level > 1 ? "-l" : "-i");
    else if (r->level)
        add_words(r->out, r->level > 1 ? "-p -l" : "-p -i");
}

static bool settle_operands(reading *r)
{
    const char *means = r->p->operands;
    const bool any = means[0] == '*';
    if (r->n_operands < r->p->required || (!any && r->n_operands > strlen(means))) {
        message_say("%s%s%s: too %s files", r->p->name, r->p->mode ? " " : "",
                    r->p->mode ? r->p->mode : "", r->n_operands < r->p->required ? "few" : "many");
        message_hint("%s", r->p->usage);
        return false;
    }
    for (size_t i = 0; i < r->n_operands; i++) {
        const char what = any ? 'i' : means[i];
        if (what != 'i')
            add_words(r->out, what == 't' ? "-t" : what == 'm' ? "-m" : "-o");
        add(r->out, r->operand[i], strlen(r->operand[i]));
    }
    return true;
}

/* ---- all ------------------------------------------------------------------------------------- */

bool as_other_known(const char *name)
{
    for (size_t k = 0; k < PROGRAMS; k++)
        if (strcmp(programs[k].name, name) == 0)
            return true;
    return false;
}

static int print_help(const program *p)
{
    text t = {0};
    text_fmt(&t, "%s\n\nUnderstood as 'trellis %s'.\n\n", p->usage, p->verb);
    for (const theirs *o = p->option; o->name; o++) {
        if (o->letter)
            text_fmt(&t, "  -%c, --%-16s ", o->letter, o->name);
        else
            text_fmt(&t, "      --%-16s ", o->name);
        text_fmt(&t, "%s%s\n",
                 o->type == THEIRS_REFUSED   ? "refused: "
                 : o->type == THEIRS_NOTHING ? "left out: "
                                             : "",
                 o->ours                   ? o->ours
                 : o->type == THEIRS_COST  ? "--c2 1/(2C), of CRF-L1 --c1 1/C"
                 : o->type == THEIRS_RHO1  ? "--c1 X"
                 : o->type == THEIRS_RHO2  ? "--c2 X/2"
                 : o->type == THEIRS_LEVEL ? "1: -p -i; 2: -p -l"
                                           : "--objective, --optimizer");
    }
    return output_print(&t);
}

static const program *find(const char *name, int argc, char **argv)
{
    for (size_t k = 0; k < PROGRAMS; k++)
        if (strcmp(programs[k].name, name) == 0 &&
            (!programs[k].mode || (argc > 0 && is_mode(programs[k].mode, argv[0]))))
            return &programs[k];
    return NULL;
}

/* CRF++'s options alone; crf_test's -v says how much it prints. */
static bool wants_version(const program *p, const char *word)
{
    return !p->mode &&
           (strcmp(word, "--version") == 0 || (strcmp(word, "-v") == 0 && p->option == crf_learn));
}

static bool translate(reading *r, int argc, char **argv, int *code)
{
    add_words(r->out, r->p->verb);
    bool ends = false;
    for (int i = 0; i < argc; i++) {
        const bool option = argv[i][0] == '-' && argv[i][1] && !ends;
        if (option && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            *code = print_help(r->p);
            return false;
        }
        if (option && wants_version(r->p, argv[i])) {
            text t = {0};
            text_fmt(&t, "trellis %s\n", trl_version());
            *code = output_print(&t);
            return false;
        }
        if (option && strcmp(argv[i], "--") == 0)
            ends = true;
        else if (option && !read_option(r, argc, argv, &i))
            return false;
        else if (!option)
            r->operand[r->n_operands++] = argv[i];
    }
    settle_costs(r);
    return settle_operands(r);
}

/* What is run, as it could be typed. */
static void say(const as_other *x)
{
    text t = {0};
    for (size_t i = 0; i < x->n; i++) {
        const bool quote = !x->arg[i][0] || strpbrk(x->arg[i], " \t*?[]$&|;<>(){}\"\\~#!`'");
        text_fmt(&t, quote ? " '%s'" : " %s", x->arg[i]);
    }
    text_char(&t, '\0');
    if (!t.failed)
        message_line("this is: trellis%s", t.p);
    text_fini(&t);
}

bool as_other_translate(const char *name, int argc, char **argv, as_other *out, int *code)
{
    const program *p = find(name, argc, argv);
    *out = (as_other){0};
    *code = CLI_USAGE;
    if (!p) {
        message_say("%s %s: only 'train', 'label' and 'dump' are understood", name,
                    argc > 0 ? argv[0] : "");
        if (argc > 0 && is_mode("update", argv[0]))
            message_hint("weights of a model are changed in what 'trellis dump' writes; "
                         "'trellis load' reads it again");
        return false;
    }
    const int skip = p->mode ? 1 : 0;
    reading r = {.p = p, .out = out, .cost = 1.0, .rho1 = 0.5, .rho2 = 0.0001};
    r.operand = malloc(((size_t)argc + 1) * sizeof *r.operand);
    bool ok = r.operand && translate(&r, argc - skip, argv + skip, code);
    if (!r.operand || out->failed) {
        *code = message_memory();
        ok = false;
    }
    if (ok)
        say(out);
    free(r.operand);
    return ok;
}
