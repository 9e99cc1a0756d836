/* chain_model_write.c -- writing the model, and the fingerprint that a checkpoint must match. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "train_chain/chain_training.h"

/* ---- what a checkpoint must agree with ------------------------------------------------------- */

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    const uint64_t parts[2] = {h, n ? trl_str_hash(bytes, n) : 0};
    return trl_str_hash((const char *)parts, sizeof parts);
}

static uint64_t mix_names(uint64_t h, const trl_strtab *t)
{
    return mix(mix(h, t->pool, t->pool_len), t->end, t->n * sizeof *t->end);
}

static uint64_t mix_corpus(uint64_t h, const trl_corpus *c)
{
    h = mix_names(h, &c->labels);
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        h = mix_names(h, &c->family[f].names);
    h = mix(h, c->label, c->n_tokens * sizeof *c->label);
    if (c->notes)
        h = mix(mix_names(h, &c->notes->texts), c->notes->of, c->n_tokens * sizeof *c->notes->of);
    h = mix(h, c->first, (c->n_sequences + 1) * sizeof *c->first);
    return mix(h, c->weight, c->n_sequences * sizeof *c->weight);
}

/* All occurrences of attributes, with their values. */
static uint64_t mix_lists(uint64_t h, const trl_design *d)
{
    for (size_t k = 0; k <= (size_t)d->order; k++) {
        const trl_family *f = &d->family[k];
        const size_t rows = (size_t)f->dense_begin[d->n_tokens];
        const size_t entries = (size_t)f->entry_begin[d->n_tokens];
        h = mix(h, f->dense_row, rows * sizeof *f->dense_row);
        h = mix(h, f->entry, entries * sizeof *f->entry);
        h = mix(h, f->dense_value, f->dense_value ? rows * sizeof *f->dense_value : 0);
        h = mix(h, f->entry_value, f->entry_value ? entries * sizeof *f->entry_value : 0);
    }
    return h;
}

/* The fingerprint of the data, the features and the options that affect the numbers. */
uint64_t trl_chain_training_fingerprint(const trl_chain_training *j)
{
    const trl_train_options *o = j->o;
    const uint64_t counts[] = {j->design.n_weights,
                               j->design.n_live,
                               (uint64_t)j->order,
                               o->period,
                               o->memory,
                               o->batch,
                               o->seed,
                               trl_chain_training_single(j)};
    const double numbers[] = {o->c1, o->c2, o->epsilon, o->delta, o->eta};
    const char *optimizer = trl_chain_training_optimizer(j);
    uint64_t h = mix(0, counts, sizeof counts);
    h = mix(h, numbers, sizeof numbers);
    h = mix(h, j->objective->name, strlen(j->objective->name));
    h = mix(h, optimizer, strlen(optimizer));
    const uint64_t q0[] = {j->q0_base, o->q0_samples, o->q0_mask, j->is_local};
    h = mix(h, q0, sizeof q0);
    if (o->cost)
        h = mix(h, j->costs.row,
                (j->costs.by_note ? j->corpus.notes->texts.n : j->corpus.labels.n) *
                    j->task.chain.stride * sizeof *j->costs.row);
    if (o->nota)
        h = mix(h, o->nota, strlen(o->nota));
    h = mix_lists(mix_corpus(h, &j->corpus), &j->design);
    return trl_has_dev(o) ? mix_lists(mix_corpus(h, &j->dev.corpus), &j->dev.design) : h;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* The bytes of the file take the place of what the buffer held. */
static trl_status write_buffer(const trl_chain_model_spec *spec, trl_buf *out, trl_error *err)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    const trl_status st = trl_chain_model_to_buffer(spec, &bytes, &n, err);
    if (st == TRL_OK) {
        trl_buf_fini(out);
        *out = (trl_buf){.data = (char *)bytes, .len = n, .cap = n};
    }
    return st;
}

trl_status trl_chain_training_write(trl_chain_training *j, const trl_train_result *r,
                                    trl_error *err)
{
    const trl_train_options *o = j->o;
    trl_buf s = {0};
    trl_buf_fmt(&s, "trellis %s\nobjective %s\noptimizer %s\norder %d\nc1 %.17g\nc2 %.17g\n",
                TRL_VERSION, j->objective->name, trl_chain_training_optimizer(j), j->order, o->c1,
                o->c2);
    trl_buf_fmt(&s, "pairs %s\ntransitions %s\nmin-count %zu\nseed %llu\niterations %llu\n",
                o->all_pairs ? "all" : "seen", o->all_transitions ? "all" : "seen", o->min_count,
                (unsigned long long)o->seed, (unsigned long long)r->iterations);
    if (o->min_freq > 0.0)
        trl_buf_fmt(&s, "min-freq %.17g\n", o->min_freq);
    if (j->objective->has_nota)
        trl_buf_fmt(&s, "nota %s\n", o->nota ? o->nota : TRL_NOTA_USUAL);
    if (trl_chain_training_has_mest(j))
        trl_buf_fmt(&s, "q0 %s\nq0-mask %s\n", trl_q0_name(j->q0_base), o->q0_mask ? "yes" : "no");
    if (trl_has_dev(o) && !j->objective->counted)
        trl_buf_fmt(&s, "saved-iteration %llu\nobjective-value %.9g\ndev-%s %.4f\n",
                    (unsigned long long)r->saved_iteration, r->objective, r->dev_measure,
                    r->dev_score);
    trl_chain_training_put_rules(j, &s);
    trl_buf_ch(&s, '\0');
    trl_status st = s.failed ? trl_fail_mem(err) : TRL_OK;
    if (st == TRL_OK) {
        const trl_chain_model_spec spec = {.corpus = &j->corpus,
                                           .design = &j->design,
                                           .w = j->w,
                                           .tpl = j->tpl,
                                           .objective = j->objective->name,
                                           .settings = s.data,
                                           .is_probability = j->objective->probabilistic,
                                           .is_local = j->is_local,
                                           .masked = o->q0_mask,
                                           .q0 = j->has_q0 ? &j->q0 : NULL,
                                           .calibration = j->calibration,
                                           .rescue = o->rescue};
        st = o->model ? trl_chain_model_write(&spec, o->model, err)
                      : write_buffer(&spec, o->model_out, err);
    }
    trl_buf_fini(&s);
    return st;
}
