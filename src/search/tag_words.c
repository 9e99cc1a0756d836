/* tag_words.c -- rows of words for the tagger of a parser. */
/* SPDX-License-Identifier: MIT */
#include "search/tag_words.h"

#include "base/fail.h"
#include "base/mem.h"
#include "trellis/template.h"

trl_status trl_tag_words_make(trl_tag_words *t, const trl_str *word, const trl_str *tag, size_t n,
                              trl_rows *out, trl_error *err)
{
    const bool clusters = t->names->clusters.name.n > 0;
    const size_t width = 1u + (clusters ? TRL_PATHS : 0u) + (tag ? 1u : 0u);
    trl_str *cell = trl_reserve(t->cell, &t->cell_cap, n * width, sizeof *cell);
    if (!cell)
        return trl_fail_mem(err);
    t->cell = cell;
    for (size_t i = 0; i < n; i++, cell += width) {
        uint32_t path[TRL_PATHS];
        cell[0] = word[i];
        trl_search_paths(t->names, word[i], path);
        for (size_t k = 0; clusters && k < TRL_PATHS; k++)
            cell[1 + k] = path[k] == TRL_NO_ID ? (trl_str){"-", 1}
                                               : trl_strtab_get(&t->names->paths, path[k]);
        if (tag)
            cell[width - 1] = tag[i];
    }
    *out = (trl_rows){.n_tokens = n, .n_columns = width, .cell = t->cell};
    return TRL_OK;
}

void trl_tag_words_fini(trl_tag_words *t)
{
    trl_free(t->cell);
    t->cell = NULL;
    t->cell_cap = 0;
}

void trl_tag_words_template(const trl_search_names *names, trl_buf *out)
{
    trl_buf_str(out, trl_shipped_template_find("pos"));
    for (int k = 1; names->clusters.name.n && k <= TRL_PATHS; k++)
        trl_buf_fmt(out, "column %d at -1..1\n", k);
}
