/* graph_spec.h -- the model file: which label variables a token has, and which factors there are.
 *
 *     unit document                        or sentence, the usual one
 *     labels tag column 1                  a variable for every token, its true labels in column 1
 *     labels np column 2
 *     score np                             what a dev set is scored by
 *     template words                       lines of a chain's template (feature/template.h),
 * indented U00:%x[0,0] factor tag[i] features words factor tag[i-1] tag[i] factor between: tag[i]
 * np[i] features words factor np[i] np[j] where %x[i,0] = %x[j,0] and %t[i,0,"^\u"] features words
 * at i, j pooled piece between other                  for piecewise training: these factors
 * together
 *
 * i runs through all tokens; offsets of i (and of j) stay inside the sentence.  A factor that names
 * j, too, has an instance for every i < j of the unit that meets its condition.  Indented lines
 * continue the statement before them; '#' starts a comment.  docs/graphs.md teaches it.
 *
 * A parsed model file is read-only and may be shared by threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_SPEC_H
#define TRL_GRAPH_SPEC_H

#include "feature/tables.h"
#include "feature/template.h"

#define TRL_GRAPH_SCOPE_MAX 8
#define TRL_LAYERS_MAX 16
#define TRL_SIGHTS_MAX 4

/* A token: i or j, and so many further on. */
typedef struct trl_token_place {
    bool j;
    int32_t offset;
} trl_token_place;

typedef struct trl_layer {
    char *name;
    size_t column;
    uint64_t row, col; /* of its column in the model file */
} trl_layer;

/* A block of template lines; attributes of the data where `tpl` is NULL. */
typedef struct trl_spec_template {
    char *name;
    trl_template *tpl;
    uint64_t *row; /* [trl_template_count] lines in the model file */
} trl_spec_template;

/* What a factor sees: the attributes that a template makes at some tokens. */
typedef struct trl_sight {
    uint32_t of;
    size_t n;
    trl_token_place at[TRL_GRAPH_SCOPE_MAX];
    bool pooled; /* names alike wherever they are seen from; else apart */
} trl_sight;

/* A value of a token in a condition: what a macro makes of its columns. */
typedef struct trl_spec_value {
    bool j, literal;
    trl_template *tpl;         /* one line, the macro alone */
    trl_str text;              /* literal */
    struct trl_word_regex *re; /* the value is whether it matches: true or false; NULL: the text */
    uint64_t row, col;
} trl_spec_value;

typedef enum trl_condition_kind {
    TRL_COND_AND,
    TRL_COND_OR,
    TRL_COND_NOT,
    TRL_COND_TEST,  /* a %t is true, or a value matches an expression */
    TRL_COND_EQUAL, /* two values are the same */
    TRL_COND_DISTANCE,
    TRL_COND_SENTENCE, /* i and j are in the same sentence */
} trl_condition_kind;

typedef struct trl_condition {
    trl_condition_kind kind;
    uint32_t a, b;       /* AND, OR, NOT: conditions; TEST, EQUAL: values */
    int64_t least, most; /* DISTANCE: of j - i */
} trl_condition;

#define TRL_NO_CONDITION UINT32_MAX

typedef struct trl_factor_spec {
    char *name;
    size_t n;
    uint32_t layer[TRL_GRAPH_SCOPE_MAX];
    trl_token_place at[TRL_GRAPH_SCOPE_MAX];
    bool pairs;                  /* it names j */
    uint32_t where_first, where; /* its conditions, those inside others first; TRL_NO_CONDITION */
    size_t n_sights;
    trl_sight sight[TRL_SIGHTS_MAX];
    bool all_cells; /* weights for all cells, not only for those seen */
    bool plain;     /* a weight for each cell, whatever the text */
    uint64_t row, col;
} trl_factor_spec;

typedef struct trl_graph_spec {
    char *text; /* as given; of GRMM's templates, the model file they stand for */
    size_t text_len;
    bool document;
    bool attributes; /* data of attributes (labels ---- attributes), not of columns */
    size_t n_layers, n_templates, n_factors, n_conditions, n_values;
    trl_layer layer[TRL_LAYERS_MAX];
    trl_spec_template *tpl;
    trl_factor_spec factor[TRL_FAMILIES_MAX];
    trl_condition *condition;
    trl_spec_value *value;
    uint32_t scored;                  /* layer; TRL_NO_LAYER: all */
    uint32_t piece[TRL_FAMILIES_MAX]; /* of each factor: a number; TRL_NO_PIECE: its own */
    size_t template_cap, condition_cap, value_cap;
} trl_graph_spec;

#define TRL_NO_LAYER UINT32_MAX
#define TRL_NO_PIECE UINT32_MAX

/* `name` is for messages; GRMM's lists of templates are read, too (grmm_templates.h).  TRL_EPARSE
 * with row:col, TRL_ENOMEM. */
trl_status trl_graph_spec_parse(const char *name, const char *text, size_t n, trl_graph_spec **out,
                                trl_error *err);
void trl_graph_spec_free(trl_graph_spec *s); /* accepts NULL */

/* Does what it asks for fit data of so many columns?  The columns of labels are not text: features
 * and conditions do not see them.  TRL_EPARSE with the place in the model file. */
trl_status trl_graph_spec_check(const trl_graph_spec *s, const char *name, size_t n_columns,
                                trl_error *err);

/* The layer of a name, or TRL_NO_LAYER. */
uint32_t trl_graph_spec_layer(const trl_graph_spec *s, trl_str name);

/* The layer whose labels are in the column, or TRL_NO_LAYER. */
uint32_t trl_graph_spec_column(const trl_graph_spec *s, size_t column);

/* The cells of a factor whose layers have so many labels; 0: more than 2^24. */
size_t trl_factor_spec_cells(const trl_factor_spec *f, const size_t *n_labels);

#endif
