/* options.h -- options by name: what there is, its type, range, default and a line of help.
 *
 * The program `trellis` reads its command line and prints its help by the same functions and, where
 * an option is one of the library, from the same tables.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_OPTIONS_H
#define TRELLIS_OPTIONS_H

#include "trellis/buf.h"

TRL_BEGIN_DECLS

typedef enum trl_option_type {
    TRL_OPTION_FLAG = 0, /* bool; as text "true" or "false", also "1" or "0" */
    TRL_OPTION_INTEGER,  /* int, size_t or uint64_t: a whole number, 0 or more */
    TRL_OPTION_REAL,     /* double: finite */
    TRL_OPTION_STRING,   /* const char *, NULL when not given */
    TRL_OPTION_CHOICE,   /* bool or enum: the index into `choices` */
} trl_option_type;

typedef enum trl_option_file {
    TRL_OPTION_NO_FILE = 0,
    TRL_OPTION_INPUT, /* the string is the path of a file that is read, */
    TRL_OPTION_OUTPUT /* ... of one that is written */
} trl_option_file;

/* One option.  Tables are static and only ever grow at the end of a row. */
typedef struct trl_option {
    const char *name; /* "max-iter"; max_iter is understood as well */
    trl_option_type type;
    unsigned kinds;             /* the trl_kind of the models that have it (methods.h) */
    const char *group;          /* a heading: "Model", "Training", ... */
    const char *value;          /* what help calls the value: "N"; NULL: the choices */
    const char *const *choices; /* up to a NULL: all there is; NULL: not a list */
    bool above_0;               /* a number: 0 stands for the default inside and cannot be given */
    double least, most;         /* of a number; both 0: any */
    const char *preset; /* the default in words; NULL: as the options are before they are set */
    trl_option_file file;
    const char *help; /* one line, no full stop; names of options in single quotes */
    size_t at, size;  /* of the member in the struct of options */
    bool below;       /* a number: `most` itself is too much */
    /* Of a value that is of the right type and in range: is there such a thing?  NULL: it is. */
    trl_status (*check)(const void *options, const char *value, trl_error *err);
} trl_option;

/* Sets the member of `options` from text.  A string is borrowed, as if it had been put there.
 * TRL_EINVAL, with a message that begins with o->name, when the value is of another type, out of
 * its range or none of the names that there are; the member is then as it was. */
TRL_API trl_status trl_option_set(const trl_option *o, void *options, const char *value,
                                  trl_error *err);

/* Appends the value as text that trl_option_set takes; nothing for a string that is not given.
 * TRL_ENOMEM. */
TRL_API trl_status trl_option_get(const trl_option *o, const void *options, trl_buf *out,
                                  trl_error *err);

/* ---- the options of one struct --------------------------------------------------------------
 *
 * trl_train_option_table (train.h), trl_tune_option_table (tune.h) and so on give the table of a
 * struct of options, such as trl_train_options.  Such a struct begins with its size: a program
 * keeps working when later versions have more members, which stand at their defaults.  Static. */
typedef struct trl_option_table trl_option_table;

/* The k-th option, NULL after the last one; the one of that name, or NULL. */
TRL_API const trl_option *trl_options_at(const trl_option_table *t, size_t k);
TRL_API const trl_option *trl_options_find(const trl_option_table *t, const char *name);

/* As trl_option_set and _get, of a struct of this table (`options` points to one), by name;
 * setting NULL: back to the default; getting a number that stands for a default in words
 * (trl_option.preset): nothing.  TRL_EINVAL also when there is no such option, or the struct is of
 * an older version, without it.  What only makes sense together is checked where the options are
 * used. */
TRL_API trl_status trl_options_set(const trl_option_table *t, void *options, const char *name,
                                   const char *value, trl_error *err);
TRL_API trl_status trl_options_get(const trl_option_table *t, const void *options, const char *name,
                                   trl_buf *out, trl_error *err);

TRL_END_DECLS

#endif
