/* fuzz_groups.c -- any bytes as a table of feature groups; what is read gives features whose names
 * lead back to them. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/span_features.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static void check_span(const trl_span_view *v, const trl_partial_parse *s, size_t first,
                       size_t last)
{
    trl_feature_keys keys = {0};
    trl_buf name = {0};
    CHECK(trl_span_features(v, s, first, last, &keys));
    for (size_t k = 0; k < keys.n; k++) {
        uint64_t again;
        name.len = 0;
        CHECK(trl_feature_key_name(v->groups, v->names, keys.key[k], &name));
        CHECK(trl_feature_key_of(v->groups, v->names, (trl_str){name.data, name.len}, &again));
        CHECK(again == keys.key[k]);
    }
    trl_buf_fini(&name);
    trl_free(keys.key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t tag[3] = {1, 2, 1}, word[3] = {0, TRL_NO_ID, 0};
    static const uint32_t path[3][TRL_PATHS] = {{0, 0, 0, 0}, {TRL_NO_ID, TRL_NO_ID, TRL_NO_ID, 0}};
    trl_feature_groups groups;
    trl_search_names names = {0};
    trl_forest forest = {0};
    trl_error err = {0};
    uint32_t root[3];
    if (trl_feature_groups_parse("g", (trl_str){(const char *)data, size}, &groups, &err) != TRL_OK)
        return 0;
    CHECK(trl_search_label(&names, (trl_str){"TOP", 3}) == 0);
    CHECK(trl_search_label(&names, (trl_str){"NN", 2}) == 1);
    CHECK(trl_search_label(&names, (trl_str){".", 1}) == 2);
    CHECK(trl_strtab_add(&names.words, "a", 1) == 0);
    CHECK(trl_strtab_add(&names.paths, "0101", 4) == 0);
    CHECK(trl_forest_start(&forest, 3, tag));
    const trl_partial_parse s = trl_partial_start(&forest, 0, root);
    const trl_span_view v = {&groups, &names, &forest, word, path};
    for (size_t first = 0; first < 3; first++)
        for (size_t last = first; last < 3; last++)
            check_span(&v, &s, first, last);
    trl_forest_fini(&forest);
    trl_search_names_fini(&names);
    return 0;
}
