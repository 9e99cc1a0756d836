/* options.h -- the verbs of the program and their options, as tables.
 *
 * One table per verb drives parsing, the default values shown, --help, the man page and the
 * record of a run.  Each option fills one field of the verb's settings struct; `defaults`
 * fills the struct first, so a default is stated there and nowhere else.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"
#include "trellis/options.h"

typedef enum option_type {
    OPTION_FLAG,    /* bool */
    OPTION_STRING,  /* const char *: borrowed from argv; NULL when not given */
    OPTION_INTEGER, /* int, size_t or uint64_t: a whole number, 0 or more */
    OPTION_REAL,    /* double: finite */
    OPTION_CHOICE,  /* bool, int or enum: the index into `choices` */
    OPTION_LIST,    /* string_list: may be given more than once */
} option_type;

/* OPTION_STRING that names a file: see file_check.h. */
typedef enum option_file { FILE_NONE, FILE_INPUT, FILE_OUTPUT } option_file;

typedef struct string_list {
    const char **item; /* borrowed from argv */
    size_t n, cap;
} string_list;

typedef struct option {
    const char *name; /* without the dashes; NULL: a heading, its text in `help` */
    char letter;      /* 0: no short form */
    option_type type;
    bool required;
    bool above_0;    /* a number; inside 0 stands for the default, which is left out instead */
    size_t at, size; /* of the field in the settings */
    option_file file;
    const char *value;          /* what help calls the value; NULL: the choices */
    const char *const *choices; /* OPTION_CHOICE: up to a NULL */
    const char *fallback;       /* the default in words; NULL: as the field stands */
    const char *help;           /* one line, no full stop */
    void (*table)(text *out);   /* what the value "help" prints instead of a run; NULL: nothing */
    const trl_option_table *(*library)(void); /* NULL: an option of the program alone */
    size_t base;                              /* of the library's struct in the settings */
    const char *also;                         /* another name that is understood; NULL: none */
} option;

#define OPTION_FIELD(settings, member)                                                             \
    .at = offsetof(settings, member), .size = sizeof(((settings *)0)->member)

/* A row for an option of the library: what is not said is taken from its table; `member` of the
 * settings is the library's struct. */
#define OPTION_LIBRARY(option_name, table_, settings, member)                                      \
    .name = (option_name), .library = (table_), .base = offsetof(settings, member)

/* Files and words on the command line that belong to no option. */
typedef string_list operands;

typedef struct verb {
    const char *name, *alias; /* alias: another program's word for it, or NULL */
    const char *summary;      /* a few words */
    const char *usage;        /* what follows the verb */
    const char *description;  /* paragraphs; lines that start with a blank stay as they are */
    const char *examples;     /* commands, one a line, after two blanks */
    const option *options;    /* up to one without name and help */
    option *library_rows; /* the same where there are rows of the library; NULL: there are none */
    size_t settings_size;
    void (*defaults)(void *settings); /* NULL: all zero */
    size_t min_operands, max_operands;
    const char *operand; /* what is missing when there are too few */
    int (*run)(void *settings, const operands *args);
} verb;

/* All verbs, up to a NULL (main.c). */
extern const verb *const verbs[];

/* The verb called `name`: exactly, by its alias or by an unambiguous prefix.  NULL: there is
 * none, and it has been said. */
const verb *verb_find(const char *name);

typedef enum parse_result { PARSE_RUN, PARSE_HELP, PARSE_TABLE, PARSE_BAD } parse_result;

/* Reads argv[0 .. argc) into `settings` (already filled by verb->defaults) and `args`.
 * PARSE_TABLE: *asked is the option whose table is wanted.  PARSE_BAD: what is wrong has been said.
 * Lists and args are to be freed with options_fini in any case. */
parse_result options_parse(const verb *v, int argc, char **argv, void *settings, operands *args,
                           const option **asked);
void options_fini(const verb *v, void *settings, operands *args);

/* Sets one option by its exact name; `shown` is what the user called it.  False: said. */
bool options_set(const verb *v, const char *name, const char *shown, const char *value,
                 void *settings);

/* Every option and its value as one JSON object. */
void options_json(const verb *v, const void *settings, text *out);

/* The default as help shows it ("" for none), from settings as `defaults` leaves them. */
void option_default(const option *o, const void *settings, text *out);

static inline bool option_is_heading(const option *o)
{
    return !o->name;
}

static inline bool option_is_last(const option *o)
{
    return !o->name && !o->help;
}

#endif
