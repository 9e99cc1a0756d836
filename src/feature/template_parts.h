/* template_parts.h -- private: what a template of CRF++ or Wapiti is parsed into. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEMPLATE_PARTS_H
#define TRL_TEMPLATE_PARTS_H

#include "feature/pattern_regex.h"
#include "feature/template.h"

typedef enum piece_type { TEXT, CELL, TEST, MATCH } piece_type;

typedef struct piece {
    piece_type type;
    bool lower, absolute;
    int64_t row;
    size_t column;
    trl_str text;    /* TEXT: into trl_template.text */
    trl_regex *re;   /* TEST, MATCH: owned */
    uint64_t at_row; /* place of the macro, for messages */
    uint64_t at_col;
} piece;

/* The attribute is `letter`, then piece[first .. first + n). */
typedef struct pattern {
    char letter;
    int cliques;
    size_t first, n;
    bool constant;
} pattern;

struct trl_template {
    char *text; /* as given; pieces point into it */
    size_t text_len;
    bool wapiti;
    pattern *pattern;
    size_t n_patterns, pattern_cap;
    piece *piece;
    size_t n_pieces, piece_cap;
    size_t columns;
    trl_feature_list *list; /* the dialect in words: all else but the text is empty; owned */
};

/* template_read.c: fills t->pattern and t->piece from t->text.  TRL_EPARSE with the place. */
trl_status trl_template_read(trl_template *t, const char *name, trl_error *err);

static inline char trl_template_lowered(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

#endif
