/* parser_scenario.h -- tree models trained and used, for test_alloc. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_PARSER_SCENARIO_H
#define TRL_TEST_PARSER_SCENARIO_H

#include "trellis/parser.h"
#include "trellis/train.h"

typedef struct tree_train_arg {
    const char *folder, *grade, *objective, *optimizer, *template_text;
    bool resume, functions;
    uint64_t rerank;
    uint64_t grammars;
    bool raw_text; /* self-training with the file `raw` */
} tree_train_arg;

static trl_status do_train_tree(const void *p, trl_error *err)
{
    const tree_train_arg *a = p;
    trl_train_options o = trl_train_options_default();
    trl_train_result result;
    char data[512], model[512], checkpoint[512], raw[512];
    const char *train[1] = {data};
    snprintf(data, sizeof data, "%s/trees", a->folder);
    snprintf(model, sizeof model, "%s/model", a->folder);
    snprintf(checkpoint, sizeof checkpoint, "%s/tree-checkpoint", a->folder);
    snprintf(raw, sizeof raw, "%s/raw", a->folder);
    o.kind = "tree";
    o.train = train;
    o.n_train = 1;
    o.dev = a->resume ? NULL : data;
    o.grade = a->grade;
    o.objective = a->objective;
    o.optimizer = a->optimizer;
    o.template_text = a->template_text;
    o.template_size = a->template_text ? strlen(a->template_text) : 0;
    o.max_iter = a->resume ? 3 : 2;
    o.q0_samples = 50;
    o.threads = 1;
    o.relaxed = true;
    o.q0_samples = 20;
    o.checkpoint = a->optimizer ? checkpoint : NULL;
    o.checkpoint_every = 1;
    o.resume = a->resume;
    o.functions = a->functions;
    o.rerank = a->rerank;
    o.grammars = a->grammars;
    o.self_train = a->raw_text;
    o.raw_text = a->raw_text ? raw : NULL;
    o.model = model;
    return trl_train(&o, &result, err);
}

typedef struct parse_arg {
    const char *model;
    trl_parse_options o;
    const trl_known *known;
    size_t n_known;
    const char *text; /* one sentence */
    uint64_t *want;   /* of the answer; 0: not known yet */
} parse_arg;

/* Whatever was answered, as a number. */
static uint64_t number_of(const trl_parse *out)
{
    uint64_t h = 1 + out->n_trees + 16 * out->n_spans + (out->warning ? 4096 : 0);
    for (size_t k = 0; k < out->n_trees; k++)
        for (size_t v = 0; v < out->trees[k].tree.n_nodes; v++) {
            const trl_node *n = &out->trees[k].tree.node[v];
            h = h * 0x9e3779b97f4a7c15u + n->label + 64 * n->from + 4096 * n->to;
        }
    for (size_t k = 0; k < out->n_spans; k++)
        h = h * 0x9e3779b97f4a7c15u + (uint64_t)(out->spans[k].probability * 1e6);
    return h;
}

static trl_status same_answer(void *ctx, size_t k, const trl_parse *found, trl_error *err)
{
    const parse_arg *a = ctx;
    (void)k;
    if (found && number_of(found) != *a->want)
        fail_msg("'%s' has another answer", a->text);
    return found ? TRL_OK : err->code;
}

static trl_status do_parse_batch(const trl_parse_model *m, const parse_arg *a,
                                 const trl_parse_input *in, trl_error *err)
{
    trl_parsers *p = NULL;
    parse_arg copy = *a;
    trl_status st = trl_parsers_new(m, &a->o, 1, &p, err);
    if (st == TRL_OK)
        st = trl_parsers_run(p, in, 1, same_answer, &copy, err);
    trl_parsers_free(p);
    return st;
}

static trl_status do_parse(const void *p, trl_error *err)
{
    const parse_arg *a = p;
    trl_parse_model *m = NULL;
    trl_parser *parser = NULL;
    trl_parse out;
    trl_str word[16];
    size_t n = 0;
    for (const char *s = a->text; *s; n++) {
        word[n] = (trl_str){s, strcspn(s, " ")};
        s += word[n].n + (s[word[n].n] == ' ');
    }
    trl_status st = trl_parse_model_open(a->model, &m, err);
    if (st == TRL_OK)
        st = trl_parser_new(m, &a->o, &parser, err);
    if (st == TRL_OK)
        st = trl_parser_parse(
            parser,
            &(trl_parse_input){.word = word, .n = n, .known = a->known, .n_known = a->n_known},
            &out, err);
    if (st == TRL_OK) {
        const uint64_t got = number_of(&out);
        if (*a->want == 0)
            *a->want = got;
        if (*a->want != got)
            fail_msg("'%s' has another answer", a->text);
        trl_derived parts;
        st = trl_parser_derive(
            parser,
            &(trl_parse_input){.word = word, .n = n, .known = a->known, .n_known = a->n_known},
            &out, &parts, err);
        st = st == TRL_EINVAL ? TRL_OK : st; /* boosted */
    }
    trl_parser_free(parser);
    if (st == TRL_OK)
        st = do_parse_batch(
            m, a,
            &(trl_parse_input){.word = word, .n = n, .known = a->known, .n_known = a->n_known},
            err);
    trl_parse_model_free(m);
    return st;
}

static trl_status parser_text_to(void *ctx, const char *text, size_t n, trl_error *err)
{
    return trl_buf_add(ctx, text, n) ? TRL_OK : trl_fail_mem(err);
}

/* A smaller parser, opened again; none of one without features. */
static trl_status shrink_parser(const trl_parse_model *m, const trl_shrink_options *o,
                                trl_error *err)
{
    trl_parse_model *small = NULL;
    trl_shrink_report report;
    trl_buf bytes = {0};
    trl_status st = trl_parse_model_shrink(m, o, &bytes, &report, err);
    if (st == TRL_OK)
        st = trl_parse_model_from_memory(bytes.data, bytes.len, &small, err);
    else if (st == TRL_EINVAL)
        st = TRL_OK;
    trl_parse_model_free(small);
    trl_buf_fini(&bytes);
    return st;
}

/* A parser as text, and back; and smaller. */
static trl_status do_dump_parser(const void *path, trl_error *err)
{
    trl_parse_model *m = NULL;
    trl_buf text = {0}, bytes = {0};
    trl_status st = trl_parse_model_open(path, &m, err);
    if (st == TRL_OK)
        st = trl_parse_model_dump(m, parser_text_to, &text, err);
    if (st == TRL_OK)
        st = trl_model_undump_buf("dump", text.data, text.len, &bytes, err);
    if (st == TRL_OK)
        st = shrink_parser(
            m, &(trl_shrink_options){.size = sizeof(trl_shrink_options), .keep = 0.5, .bits = 16},
            err);
    if (st == TRL_OK)
        st = shrink_parser(
            m,
            &(trl_shrink_options){
                .size = sizeof(trl_shrink_options), .prune = 1e-3, .bits = 8, .fingerprints = true},
            err);
    trl_buf_fini(&text);
    trl_buf_fini(&bytes);
    trl_parse_model_free(m);
    return st;
}

static const char parser_trees[] =
    "(TOP (S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .)))\n"
    "(TOP (S (NP-SBJ (NNP Anna)) (VP (VBZ sees) (NP (DT a) (NN cat))) (. .)))\n"
    "(TOP (FRAG (NP (NNP Anna)) (. .)))\n";
static const char *const parser_text[] = {"Anna sees a dog .", "cat cat cat cat"};
static const trl_known parser_known[] = {{TRL_KNOWN_TAG, 0, 1, {"NNP", 3}},
                                         {TRL_KNOWN_CONSTITUENT, 1, 4, {"VP", 2}},
                                         {TRL_KNOWN_NO_CONSTITUENT, 3, 4, {"", 0}}};

/* Features of every hang. */
static const char tree_template[] = "tag here.word\nbase-tag here-1.class\nbase-parent first.form\n"
                                    "base-parent after.tag\nbase-parent length first.tag\n"
                                    "base-parent inside.tag inside+1.tag\nbase-rule split.form\n"
                                    "base-unary first.tag\n";

#endif
