/* options.h -- options by name: what there is, its type, range, default and a line of help.
 *
 * The program `trellis` reads its command line and prints its help from the same tables.
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
} trl_option;

TRL_END_DECLS

#endif
