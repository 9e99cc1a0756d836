/* search_parser.h -- boosted parsers, as users see them through trellis/parser.h. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SEARCH_PARSER_H
#define TRL_SEARCH_PARSER_H

#include "search/search_explain.h"
#include "search/tag_words.h"
#include "trellis/parser.h"
#include "trellis/tagger.h"

/* A model in a file. */
typedef struct trl_boosted_model {
    trl_container *file;
    trl_search_model m;
    trl_strtab labels; /* as they are shown: m.names.labels with the treebank's own root */
    char *settings;
} trl_boosted_model;

/* Does the container hold one? */
bool trl_is_boosted(const trl_container *c);

/* Takes over the container, also on failure.  TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_boosted_model_from(trl_container *c, trl_boosted_model **out, trl_error *err);
void trl_boosted_model_free(trl_boosted_model *m); /* accepts NULL */
trl_parse_info trl_boosted_model_info(const trl_boosted_model *m);
/* Sizes; or, with `top`, the compound features with the largest parameters of every label. */
trl_status trl_boosted_model_describe(const trl_boosted_model *m, size_t top, trl_buf *out,
                                      trl_error *err);

typedef struct trl_boosted_parser trl_boosted_parser;

/* As the functions of trellis/parser.h.  Known tags replace those of the tagger; what is known of
 * constituents is refused. */
trl_status trl_boosted_parser_new(const trl_boosted_model *m, const trl_parse_options *o,
                                  trl_boosted_parser **out, trl_error *err);
void trl_boosted_parser_free(trl_boosted_parser *p); /* accepts NULL */
uint64_t trl_boosted_parser_states(const trl_boosted_parser *p);
trl_status trl_boosted_parser_parse(trl_boosted_parser *p, const trl_parse_input *in,
                                    trl_parse *out, trl_error *err);
/* As trl_parser_derive; out->n = 0: no tree obeys what is known, or the search met its limit. */
trl_status trl_boosted_parser_derive(trl_boosted_parser *p, const trl_parse_input *in,
                                     trl_parse *tree, trl_derived *out, trl_error *err);

#endif
