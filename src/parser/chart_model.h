/* chart_model.h -- chart parsers and their models, as users see them through trellis/parser.h. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHART_MODEL_H
#define TRL_CHART_MODEL_H

#include "parser/tree_model.h"
#include "trellis/parser.h"

#define TRL_MORE_GRAMMARS 2 /* beside the first */

typedef struct trl_chart_model {
    trl_container *file;
    trl_tree_model m;
    trl_strtab labels;       /* as they are shown: m.fine.labels with the treebank's own root, then
                                NP-SBJ ...: label l with class c of functions is
                                with_function[l * m.functions.class.n + c] */
    uint32_t *with_function; /* NULL: the model has no function labels */
    char *settings;
    bool is_probability; /* scores give probabilities; false for the perceptron */
    uint64_t size;
    struct trl_chart_model *more[TRL_MORE_GRAMMARS]; /* parsers of other grammars, which are models
                                                        of their own inside the file, ... */
    uint32_t *label_of[TRL_MORE_GRAMMARS]; /* [labels of its charts]: the same label here, or
                                              TRL_NO_ID */
    size_t n_more;
} trl_chart_model;

/* The section that number k of `more` is in. */
const char *trl_chart_model_more_tag(size_t k);

/* Takes over the container, also on failure.  TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_chart_model_from(trl_container *c, trl_chart_model **out, trl_error *err);
void trl_chart_model_free(trl_chart_model *m); /* accepts NULL */

/* The label of charts with this name, or TRL_NO_ID. */
uint32_t trl_chart_model_label(const trl_chart_model *m, trl_str label);

/* As the functions of trellis/parser.h without "chart". */
bool trl_chart_model_has(const trl_chart_model *m, trl_str label);
bool trl_chart_model_has_tag(const trl_chart_model *m, trl_str tag);
trl_parse_info trl_chart_model_info(const trl_chart_model *m);
trl_status trl_chart_model_describe(const trl_chart_model *m, size_t top, trl_buf *out,
                                    trl_error *err);

trl_status trl_chart_model_shrink(const trl_chart_model *m, const trl_shrink_options *options,
                                  trl_buf *out, trl_shrink_report *report, trl_error *err);

typedef struct trl_chart_parser trl_chart_parser;

trl_status trl_chart_parser_new(const trl_chart_model *m, const trl_parse_options *o,
                                trl_chart_parser **out, trl_error *err);
void trl_chart_parser_free(trl_chart_parser *p); /* accepts NULL */
trl_status trl_chart_parser_derive(trl_chart_parser *p, const trl_parse_input *in, trl_parse *tree,
                                   trl_derived *out, trl_error *err);
/* Tags with weights for the sentence of n words that is parsed next, until it is called again;
 * n_tags 0: none. */
trl_status trl_chart_parser_tags(trl_chart_parser *p, size_t n, const trl_weighted_tag *tags,
                                 size_t n_tags, trl_error *err);
trl_status trl_chart_parser_parse(trl_chart_parser *p, const trl_parse_input *in, trl_parse *out,
                                  trl_error *err);

#endif
