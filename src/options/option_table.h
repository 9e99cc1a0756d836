/* option_table.h -- a table of options over a struct that begins with its size: copies of
 * structs of any version, ranges of members, what is set. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_OPTION_TABLE_H
#define TRL_OPTION_TABLE_H

#include "trellis/options.h"

struct trl_option_table {
    const char *type; /* "trl_train_options": of messages */
    const trl_option *row;
    size_t n;
    const void *defaults; /* a struct as it is before anything is set */
    size_t size;          /* of it */
};

#define TRL_OPTION_MEMBER(type, member)                                                            \
    .at = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* A row; ROW of a table's file gives the struct. */
#define TRL_OPTION_ROW(struct_, name_, type_, member, ...)                                         \
    {                                                                                              \
        .name = (name_), .type = TRL_OPTION_##type_, TRL_OPTION_MEMBER(struct_, member),           \
        __VA_ARGS__                                                                                \
    }

/* The table of a struct, which programs get from table_(), and its _init. */
#define TRL_OPTION_TABLE(struct_, table_, rows_, defaults_)                                        \
    static const trl_option_table table_##_own = {#struct_, rows_, sizeof rows_ / sizeof *rows_,   \
                                                  &defaults_, sizeof defaults_};                   \
    const trl_option_table *table_(void)                                                           \
    {                                                                                              \
        return &table_##_own;                                                                      \
    }                                                                                              \
    void struct_##_init(struct_ *o, size_t size)                                                   \
    {                                                                                              \
        trl_options_init(&table_##_own, o, size);                                                  \
    }

/* The defaults in a struct of `size` bytes, as a program was compiled. */
void trl_options_init(const trl_option_table *t, void *options, size_t size);

/* A copy in which members that the program's headers do not have stand at their defaults.
 * TRL_EINVAL: without a size, or larger than what this library knows. */
trl_status trl_options_copy(const trl_option_table *t, const void *options, void *out,
                            trl_error *err);

/* The same, and TRL_EINVAL for a number or a choice out of its range. */
trl_status trl_options_take(const trl_option_table *t, const void *options, void *out,
                            trl_error *err);

/* Is it other than the default? */
bool trl_option_is_set(const trl_option_table *t, const trl_option *o, const void *options);

#endif
