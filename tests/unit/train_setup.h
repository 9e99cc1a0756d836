/* train_setup.h -- files in a folder of their own, and trl_train on them. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_TRAIN_SETUP_H
#define TRL_TEST_TRAIN_SETUP_H

#include <dirent.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "trellis/score.h"
#include "trellis/tagger.h"
#include "trellis/train.h"

static char folder[64]; /* of this run, removed at its end */

static inline const char *in_folder(const char *name)
{
    static char path[8][512];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static inline const char *write_file(const char *name, const char *text)
{
    const char *path = in_folder(name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
    return path;
}

/* Words whose label depends on themselves, on the word before and on chance. */
static inline const char *write_columns(const char *name, uint64_t seed, size_t sentences)
{
    const char *path = in_folder(name);
    trl_rng rng = trl_rng_seed(seed);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (size_t s = 0; s < sentences; s++) {
        size_t before = 0;
        for (size_t t = 0, n = 1 + trl_rng_below(&rng, 9); t < n; t++) {
            const size_t w = trl_rng_below(&rng, 30), noise = trl_rng_below(&rng, 8) == 0;
            static const char *const label[] = {"B-X", "I-X", "O", "B-Y"};
            fprintf(f, "w%zu p%zu %s\n", w, w % 3, label[(w + before / 15 + noise) % 4]);
            before = w;
        }
        fprintf(f, "\n");
    }
    assert_int_equal(fclose(f), 0);
    return path;
}

static const char template_text[] = "U:%x[0,0]\nU:%x[-1,0]/%x[0,0]\nU:%x[0,1]\nB\n";

typedef struct setup {
    trl_train_options o;
    trl_train_result result;
    const char *train[1];
} setup;

static inline void setup_make(setup *s, const char *train)
{
    s->o = trl_train_options_default();
    s->train[0] = train;
    s->o.train = s->train;
    s->o.n_train = 1;
    s->o.model = in_folder("model");
    s->o.template_name = "template";
    s->o.template_text = template_text;
    s->o.template_size = strlen(template_text);
}

static inline bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Nothing but the named file starts with its name: no temporary file was left. */
static inline void assert_no_leftovers(void)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".tmp-"))
            fail_msg("%s was left behind", e->d_name);
    closedir(d);
}

static inline void assert_same_files(const char *a, const char *b)
{
    trl_error err;
    trl_mapped x, y;
    assert_ok(trl_map_file(a, &x, &err));
    assert_ok(trl_map_file(b, &y, &err));
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    trl_unmap(&x);
    trl_unmap(&y);
}

/* Tags the columns of a file and scores the result: F1 of chunks. */
static inline double score_of(const char *model, const char *path)
{
    trl_error err;
    trl_model *m = NULL;
    trl_tagger *t = NULL;
    trl_reader *r = NULL;
    trl_score *s = NULL;
    const trl_score_options so = trl_score_options_default();
    bool more = true;
    assert_ok(trl_model_open(model, &m, &err));
    assert_ok(trl_tagger_new(m, &t, &err));
    assert_ok(trl_reader_open(path, TRL_FORMAT_COLUMNS, &r, &err));
    assert_ok(trl_score_new(&so, &s, &err));
    for (;;) {
        trl_rows seq;
        uint32_t y[64];
        char text[128][8];
        const char *gold[64], *predicted[64];
        double score;
        assert_ok(trl_reader_rows(r, &seq, &more, &err));
        if (!more)
            break;
        assert_ok(trl_tagger_set_rows(t, &seq, &err));
        assert_ok(trl_tagger_viterbi(t, y, &score, &err));
        for (size_t i = 0; i < seq.n_tokens; i++) {
            const trl_str g = seq.cell[i * seq.n_columns + seq.n_columns - 1];
            const trl_str p = trl_model_label(m, y[i]);
            snprintf(text[2 * i], 8, "%.*s", (int)g.n, g.p);
            snprintf(text[2 * i + 1], 8, "%.*s", (int)p.n, p.p);
            gold[i] = text[2 * i];
            predicted[i] = text[2 * i + 1];
        }
        assert_ok(trl_score_add(s, seq.n_tokens, gold, predicted, &err));
    }
    const double f1 = trl_score_get(s).f1;
    trl_score_free(s);
    trl_reader_free(r);
    trl_tagger_free(t);
    trl_model_free(m);
    return f1;
}

#endif
