/* chart_parsing.h -- private to chart parsers: one parser and its parts. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHART_PARSING_H
#define TRL_CHART_PARSING_H

#include "chart/constrain.h"
#include "chart/nbest.h"
#include "parser/chart_model.h"
#include "parser/derivation.h"
#include "parser/reranker.h"
#include "parser/span_list.h"
#include "parser/tree_decode.h"

struct trl_chart_parser {
    const trl_chart_model *model;
    trl_parse_options o;
    trl_decoder d;
    trl_nbest best;
    trl_tree_sum sum;
    trl_candidates candidates; /* of the second stage */
    trl_rerank_scratch rerank;
    trl_parsed *parsed; /* [nbest, at least 1] */
    trl_span_list spans;
    trl_constraint *known;
    size_t n_known, cap_known;
    bool sure; /* of trl_parse */
    trl_parts parts;
    trl_function_chooser functions;
    trl_given_tags tags;
    trl_chart_parser *more[TRL_MORE_GRAMMARS]; /* of the other grammars */
    size_t n_more;
    const trl_parse_input *in; /* of the sentence that is parsed */
    double deadline;           /* of the sentence, on trl_clock(); 0: none */
};

/* chart_known.c: how a sentence is decoded, by the parser's options and what is known of the
 * sentence; *given: tags that are known have become given ones, until the sentence is parsed.
 * TRL_EINVAL for words or labels that there are not, TRL_ENOMEM. */
trl_status trl_chart_set_up(trl_chart_parser *p, const trl_parse_input *in, trl_decode_options *o,
                            bool *given, trl_error *err);

/* chart_choice.c: makes p->more, for parsers whose options choose by expected brackets.
 * TRL_ENOMEM. */
trl_status trl_chart_add_grammars(trl_chart_parser *p, trl_error *err);

/* *own, what the first grammar expects of the sentence, becomes the mean with what p->more expect
 * of it; in the decoders' arenas.  TRL_ENOMEM, TRL_ENUMERIC. */
trl_status trl_chart_average(trl_chart_parser *p, trl_brackets *own, trl_error *err);

/* The parser's choice from the chart that p->d has, in p->d.result: its n is 0 where there is none,
 * and p->d.failure then says why.  TRL_ENOMEM, TRL_ENUMERIC. */
trl_status trl_chart_choose(trl_chart_parser *p, trl_error *err);

/* Whether a second stage chooses. */
static inline bool trl_chart_has_second_stage(const trl_chart_parser *p)
{
    return p->model->m.reranker.n > 0 && p->model->is_probability && !p->o.first_stage &&
           p->o.decode != TRL_PARSE_VITERBI;
}

#endif
