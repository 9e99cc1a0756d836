/* chain_warnings.c -- warnings about options that are allowed but hardly intended. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "text/utf8.h"
#include "train_chain/chain_training.h"

/* With values up to 10 nothing is lost, with 100 training takes ten times as long. */
#define LARGE 50.0

void trl_chain_training_warn_values(const trl_chain_training *j)
{
    double most = 0.0;
    trl_str name = {0};
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        const trl_occurrences *o = &j->corpus.family[f];
        for (size_t i = 0; !trl_value_list_all_one(&o->values) && i < o->n; i++)
            if (fabs(trl_value_list_at(&o->values, i)) > most) {
                most = fabs(trl_value_list_at(&o->values, i));
                name = trl_strtab_get(&o->names, o->id[i]);
            }
    }
    if (most <= LARGE || (j->optimizer && j->optimizer->scales))
        return;
    char note[256];
    trl_snprintf(note, sizeof note,
                 "values of '%.*s' go up to %g: the optimizer %s does not scale them; divide them, "
                 "use lbfgs "
                 "or expect a slow and poor training",
                 name.n < 80 ? (int)name.n : 80, name.p, most, trl_chain_training_optimizer(j));
    trl_chain_training_report(j, "warning", note);
}

/* The bytes of an attribute before the first that is not UTF-8; s.n: there is none. */
static size_t utf8_part(trl_str s)
{
    uint32_t code;
    size_t at = 0;
    for (size_t n = 1; at < s.n && n; at += n)
        n = trl_utf8_next(s.p + at, s.n - at, &code);
    return at;
}

void trl_chain_training_warn_text(const trl_chain_training *j)
{
    if (!j->tpl || !trl_template_list(j->tpl))
        return;
    const trl_strtab *names = &j->corpus.family[TRL_NODE].names;
    for (size_t i = 0; i < names->n; i++) {
        const trl_str s = trl_strtab_get(names, (uint32_t)i);
        if (trl_utf8_valid(s))
            continue;
        char note[256];
        const size_t n = utf8_part(s);
        trl_snprintf(note, sizeof note,
                     "the data are not UTF-8: byte 0x%02x after '%.*s'; characters and cases of "
                     "such words are not known: convert them, as with iconv -f latin1 -t utf8",
                     (unsigned)(unsigned char)s.p[n], n < 80 ? (int)n : 80, s.p);
        trl_chain_training_report(j, "warning", note);
        return;
    }
}

/* Methods that were far below the others on every corpus tried: docs/objectives.md has the numbers.
 */
static void warn_method(const trl_chain_training *j)
{
    const trl_family *f = j->design.family;
    const bool nota = j->objective->has_nota, lu = j->has_q0 && j->q0_base == TRL_Q0_LU;
    if (nota && j->nota_options.method == TRL_NOTA_ALL && f[TRL_NODE].n_attrs > f[TRL_EDGE].n_attrs)
        trl_chain_training_report(
            j, "warning",
            "all none-of-the-above instances ('nota' all) want features of label pairs and text, "
            "template lines with B; most of these see one label: 'nota' marginal:0.2@20 does "
            "better");
    if (nota && j->o->calibrate)
        trl_chain_training_report(
            j, "warning",
            "'calibrate' decodes globally, which none-of-the-above instances bear "
            "badly: without it they do better");
    if (j->objective->calibrated && !j->calibrates)
        trl_chain_training_report(
            j, "warning",
            "pieces that were trained apart differ in scale: 'calibrate' does better");
    if (lu)
        trl_chain_training_report(
            j, "warning",
            "under q0 = lu labels do not depend on the text: hmm and emp do much better");
}

void trl_chain_training_warn_features(const trl_chain_training *j)
{
    const trl_family *f = j->design.family;
    bool any = j->objective->counted; /* has tables of its own */
    for (size_t k = 0; k <= (size_t)j->order; k++)
        any = any || f[k].n_attrs > 0;
    if (!any)
        trl_chain_training_report(
            j, "warning",
            j->o->min_count > 1 || j->o->min_freq > 0.0
                ? "no attribute is seen as often as asked for: the labels alone are learnt"
                : "there are no attributes: the labels alone are learnt");
    warn_method(j);
}

/* Label pairs alone may fit by chance: O follows O everywhere. */
static bool is_constant(const trl_chain_training *j, uint64_t weight)
{
    for (size_t k = 0; k <= (size_t)j->order; k++) {
        const trl_family *f = &j->design.family[k];
        if (f->has_constant && weight >= f->constant_at && weight < f->constant_at + f->n_constant)
            return true;
    }
    return false;
}

void trl_chain_training_warn_start(const trl_chain_training *j)
{
    for (uint64_t i = 0; i < j->design.n_weights; i++)
        if (j->w[i] != 0.0 && !is_constant(j, i))
            return;
    trl_chain_training_report(j, "warning",
                              "the model to start from has no weight of any of these attributes");
}
