/* tree_local_training.c -- runs without charts in the loop: MECFG, PT-CFG, M-estimation. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/format.h"
#include "base/mem.h"
#include "text/number.h"
#include "train_tree/tree_training.h"
#include "train_tree/tree_mest.h"
#include "train_tree/obj_pt_cfg.h"

#define SAMPLES 30000
#define LONGEST_SAMPLE 1000

/* ---- options --------------------------------------------------------------------------------- */

/* "score", "score:DELTA", "score:DELTA@K". */
static trl_status parse_nota(trl_tree_training *j, const char *text, trl_error *err)
{
    char *end = NULL;
    j->nota_delta = 15.0;
    j->nota_after = 10;
    bool ok = strncmp(text, "score", 5) == 0;
    const char *p = text + (ok ? 5 : 0);
    if (ok && *p == ':') {
        const size_t n = strcspn(p + 1, "@");
        ok = trl_number_parse(p + 1, n, &j->nota_delta) == TRL_NUMBER_OK && j->nota_delta >= 0.0;
        p += 1 + n;
        if (ok && *p == '@') {
            ok = p[1] >= '0' && p[1] <= '9';
            j->nota_after = ok ? strtoull(p + 1, &end, 10) : 0;
            p = end;
        }
    }
    if (ok && *p == 0 && j->nota_after > 0 && j->nota_after < 1000000)
        return TRL_OK;
    const trl_status st =
        trl_fail(err, TRL_EINVAL, "'%s' does not say which edges are NOTA instances", text);
    return trl_fail_hint(err, st, "for trees: score, score:DELTA or score:DELTA@K (score:15@10)");
}

trl_status trl_tree_training_check_local(trl_tree_training *j, trl_error *err)
{
    const trl_train_options *o = j->o;
    const bool edges = j->objective->local;
    const bool global = o->decode && strcmp(o->decode, "global") == 0;
    if (o->nota && !j->objective->has_nota)
        return trl_fail(err, TRL_EINVAL, "nota goes with the objective pt-cfg, not %s",
                        o->objective);
    if (o->decode && !global && strcmp(o->decode, "local") != 0)
        return trl_fail(err, TRL_EINVAL, "decode '%s' is not known: use local or global",
                        o->decode);
    if (o->decode && !global && !edges)
        return trl_fail(err, TRL_EINVAL,
                        "decode local goes with the objectives mecfg and pt-cfg, not %s",
                        o->objective);
    if (o->q0 && strcmp(o->q0, "pcfg") != 0)
        return trl_fail(err, TRL_EINVAL, "q0 '%s' of trees is not pcfg", o->q0);
    if (j->model_options.grade == TRL_GRADE_GENERATIVE && !j->objective->needs_inference)
        return trl_fail(err, TRL_EINVAL, "a generative grammar is counted: it has no objective %s",
                        o->objective);
    if (edges)
        j->model_options.scoring = global ? TRL_SCORING_PIECES : TRL_SCORING_LOCAL;
    if (j->objective->needs_q0)
        j->model_options.scoring = TRL_SCORING_PCFG;
    return j->objective->has_nota ? parse_nota(j, o->nota ? o->nota : "score", err) : TRL_OK;
}

trl_status trl_tree_training_check_features(const trl_tree_training *j, trl_error *err)
{
    const bool edges = j->objective->local;
    if (!edges || trl_tree_template_splitless(&j->model.tpl))
        return TRL_OK;
    const trl_status st = trl_fail(
        err, TRL_EINVAL, "%s chooses rules for whole spans: its template must not look at splits",
        trl_objective_name(j->objective, TRL_KIND_TREE));
    return trl_fail_hint(err, st, "leave out families with split and left");
}

/* ---- none of the above ----------------------------------------------------------------------- */

static const trl_str *words_of(const void *ctx, size_t source)
{
    const trl_tree_training *j = ctx;
    return j->trees.tree[source].word;
}

/* The second stage: continues with the wrong edges that the first scores too high. */
trl_status trl_tree_training_nota(trl_tree_training *j, trl_train_result *result, trl_error *err)
{
    size_t count = 0;
    j->model.features.w = j->w;
    const trl_status st = trl_tree_nota_make(
        &j->task, &j->model, &(trl_nota_edges){words_of, j, j->nota_delta}, j->pool, &count, err);
    if (st != TRL_OK)
        return st;
    char note[160];
    if (count)
        snprintf(note, sizeof note, "%zu none-of-the-above instance%s", count,
                 count == 1 ? "" : "s");
    else
        trl_snprintf(note, sizeof note,
                     "no edge is within %g of the best: without none-of-the-above instances this "
                     "is the MECFG",
                     j->nota_delta);
    if (trl_tree_training_report(j, "nota", note)) {
        result->stopped = true;
        return TRL_OK;
    }
    const double first = result->objective;
    const trl_status done = trl_session_second(&j->session, j->second, j->w, result, err);
    if (count == 0 && isnan(result->objective)) /* it was at the optimum: not one iteration */
        result->objective = first;
    return done;
}

/* ---- m-estimation ---------------------------------------------------------------------------- */

trl_status trl_tree_training_expect(trl_tree_training *j, trl_error *err)
{
    const trl_tree_expect_options o = {.samples =
                                           j->o->q0_samples ? (size_t)j->o->q0_samples : SAMPLES,
                                       .max_words = LONGEST_SAMPLE,
                                       .seed = j->o->seed,
                                       .pool = j->pool};
    trl_tree_expect_report r;
    const double started = trl_clock();
    j->E = trl_alloc64(trl_tree_weights(&j->model.features) + 64, sizeof *j->E);
    if (!j->E)
        return trl_fail_mem(err);
    const trl_status st = trl_tree_expect(&j->model, &o, j->E, &r, err);
    if (st != TRL_OK)
        return st;
    char note[200];
    trl_snprintf(
        note, sizeof note,
        "expectations under the PCFG: %.2f s; its trees have mass %.4f and %.1f words; %zu of %zu "
        "families by %zu samples",
        trl_clock() - started, r.mass, r.length, r.sampled, j->model.tpl.n, o.samples);
    trl_tree_training_report(j, "q0", note);
    return TRL_OK;
}
