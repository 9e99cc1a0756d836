/* fuzz_tree_model.c -- any bytes as a parser's model: never a crash; what opens can parse and be
 * described.
 *
 * Magic, size and checksums are put right first, so that the checks after them are reached.
 */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "model_bytes.h"

#include "trellis/buf.h"
#include "trellis/parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

/* Preorder, links forward, words in order. */
static void check_tree(const trl_tree *t, size_t n_words)
{
    size_t leaves = 0;
    CHECK(t->n_words == n_words && t->n_nodes > n_words - 1);
    for (size_t k = 0; k < t->n_nodes; k++) {
        const trl_node *v = &t->node[k];
        (void)trl_tree_label(t, (uint32_t)k);
        CHECK(v->from < v->to && v->to <= n_words);
        CHECK(k == 0 ? v->parent == TRL_NO_NODE : v->parent < k);
        CHECK(v->child == TRL_NO_NODE || v->child == k + 1);
        CHECK(v->next == TRL_NO_NODE || (v->next > k && v->next < t->n_nodes));
        if (v->child == TRL_NO_NODE)
            CHECK(v->to == v->from + 1 && v->from == leaves++);
    }
    CHECK(leaves == n_words);
}

static void parse(const trl_parse_model *m)
{
    static const trl_str word[] = {{"she", 3}, {"sees", 4}, {"the", 3}, {"Catz", 4}, {".", 1}};
    static const trl_known known[] = {{TRL_KNOWN_CONSTITUENT, 2, 4, {"", 0}}};
    trl_error err = {0};
    for (int how = 0; how < 4; how++) {
        trl_parse_options o = trl_parse_options_default();
        trl_parser *p = NULL;
        trl_parse got;
        o.decode = (trl_parse_decode)(how % 3);
        o.nbest = how == 2 ? 3 : 1;
        o.spans = o.probability = how == 2 && trl_parse_model_info(m).is_probability;
        o.max_bytes = 1 << 24;
        o.max_seconds = 1.0;
        CHECK(trl_parser_new(m, &o, &p, &err) == TRL_OK);
        for (size_t n = 1; n <= 5; n += 2) {
            const trl_status st = trl_parser_parse(
                p,
                &(trl_parse_input){
                    .word = word, .n = n, .known = known, .n_known = how == 3 && n > 3 ? 1 : 0},
                &got, &err);
            CHECK(st == TRL_OK && got.n_trees >= 1);
            for (size_t k = 0; k < got.n_trees; k++)
                check_tree(&got.trees[k].tree, n);
            trl_derived parts;
            const trl_status derived =
                trl_parser_derive(p, &(trl_parse_input){.word = word, .n = n}, &got, &parts, &err);
            CHECK(derived == TRL_OK || derived == TRL_EINVAL);
        }
        trl_parser_free(p);
    }
}

/* What is shrunk opens and parses. */
static void shrink(const trl_parse_model *m, uint8_t how)
{
    trl_error err = {0};
    trl_parse_model *small = NULL;
    trl_buf bytes = {0};
    const trl_shrink_options o = {.size = sizeof o,
                                  .keep = how & 1 ? 0.5 : 0.0,
                                  .bits = how & 2   ? 16
                                          : how & 4 ? 8
                                                    : 0,
                                  .fingerprints = how & 8};
    const trl_status st = trl_parse_model_shrink(m, &o, &bytes, NULL, &err);
    CHECK(st == TRL_OK || (st == TRL_EINVAL && err.msg[0]));
    if (st == TRL_OK) {
        CHECK(trl_parse_model_from_memory(bytes.data, bytes.len, &small, &err) == TRL_OK);
        parse(small);
        trl_parse_model_free(small);
    }
    trl_buf_fini(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n;
    unsigned char *p = model_bytes(data, size, "tree", &n);
    if (!p)
        return 0;
    trl_error err = {0};
    trl_parse_model *m = NULL;
    if (trl_parse_model_from_memory(p, n, &m, &err) == TRL_OK) {
        trl_buf out = {0};
        parse(m);
        CHECK(trl_parse_model_describe(m, 0, &out, &err) == TRL_OK && out.len > 0);
        const trl_status st = trl_parse_model_describe(m, 2, &out, &err);
        CHECK(st == TRL_OK || (st == TRL_EINVAL && err.msg[0])); /* of fingerprints */
        shrink(m, data[size - 1]);
        trl_buf_fini(&out);
        trl_parse_model_free(m);
    } else {
        CHECK(err.code == TRL_EMODEL && err.msg[0] && err.path[0]);
    }
    trl_free(p);
    return 0;
}
