/* test_dependencies.c -- from constituents to Universal Dependencies: sentences worked by hand, and
 * that whatever the tree is, its words make a tree. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "trellis/trees.h"

static const struct {
    const char *tree, *want; /* HEAD:relation of every word */
} worked[] = {
    {"(S (NP (DT The) (NN cat)) (VP (VBZ is) (ADJP (RB very) (JJ good))) (. .))",
     "2:det 5:nsubj 5:cop 5:advmod 0:root 5:punct"},
    {"(S (NP (PRP He)) (VP (MD will) (VP (VB eat) (NP (JJ fresh) (CC and) (JJ cold) (NN fish)) (PP "
     "(IN in) (NP (NNP Rome))))) (. .))",
     "3:nsubj 3:aux 0:root 7:amod 6:cc 4:conj 3:obj 9:case 3:obl 3:punct"},
    {"(SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (DT this))) (. ?))", "0:root 1:cop 1:nsubj 1:punct"},
    {"(SQ (VBZ Is) (NP (PRP it)) (NP (DT a) (NN bus)) (. ?))",
     "4:cop 4:nsubj 4:det 0:root 4:punct"},
    {"(S (NP (NP (NNP Kim) (POS 's)) (NN dog)) (VP (VBD was) (VP (VBN seen) (PP (IN by) (NP (NP "
     "(NNP Ann)) (, ,) (NP (NNP Bob)) (, ,) (CC and) (NP (NP (DT a) (NN boy)) (SBAR (WHNP (WP "
     "who)) (S (VP (VBD slept)))))))) (. .)))",
     "3:nmod:poss 1:case 5:nsubj:pass 5:aux:pass 0:root 7:case 5:obl:agent 9:punct 7:conj 13:punct "
     "13:cc 13:det 7:conj 15:nsubj 13:acl:relcl 5:punct"},
    {"(S (S (NP (PRP He)) (VP (VBD wanted) (S (VP (TO to) (VP (VB go)))))) (, ,) (CC but) (S (NP "
     "(PRP she)) (VP (VBD said) (SBAR (IN that) (S (NP (EX there)) (VP (VBD was) (NP (DT no) (NN "
     "bus))))))))",
     "2:nsubj 0:root 4:mark 2:xcomp 8:punct 8:cc 8:nsubj 2:conj 11:mark 11:expl 8:ccomp 13:det "
     "11:nsubj"},
    {"(S (SBAR (IN Because) (S (NP (PRP it)) (VP (VBD rained)))) (, ,) (NP (PRP we)) (VP (VBD "
     "gave) "
     "(NP (PRP her)) (NP (CD two) (NNS keys)) (NP-TMP (NN yesterday))) (. .))",
     "3:mark 3:nsubj 6:advcl 6:punct 6:nsubj 0:root 6:iobj 9:nummod 6:obj 6:obl:unmarked 6:punct"},
    {"(S (NP (PRP We)) (VP (VBP have) (VP (VBN been) (VP (VBG looking) (PRT (RP up)) (NP (NNS "
     "names))))) (. .))",
     "4:nsubj 4:aux 4:aux 0:root 4:compound:prt 4:obj 4:punct"},
    {"(S (CC And) (NP-SBJ (-NONE- *)) (VP (VB go) (ADVP (RB home))) (. !))",
     "2:cc - 0:root 2:advmod 2:punct"},
};

static trl_dependency *find(const trl_tree *t)
{
    trl_error err;
    trl_dependency *d = trl_alloc(t->n_words, sizeof *d);
    assert_non_null(d);
    assert_ok(trl_tree_dependencies(t, d, &err));
    return d;
}

/* Heads count all words of the tree; in the table only those that are printed. */
static void write_found(const trl_tree *t, const trl_dependency *d, trl_buf *out)
{
    for (size_t w = 0; w < t->n_words; w++) {
        size_t empty = 0;
        for (size_t k = 0; k + 1 < d[w].head; k++)
            empty += d[k].relation == NULL;
        trl_buf_str(out, w ? " " : "");
        if (d[w].relation)
            trl_buf_fmt(out, "%zu:%s", d[w].head - (d[w].head ? empty : 0), d[w].relation);
        else
            trl_buf_ch(out, '-');
    }
    trl_buf_ch(out, '\0');
}

static void test_worked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof worked / sizeof *worked; i++) {
        trl_treebank *bank = NULL;
        trl_error err;
        trl_tree t;
        trl_buf found = {0};
        bool more;
        const trl_text text = {"mem", worked[i].tree, strlen(worked[i].tree)};
        assert_ok(trl_treebank_memory(&text, NULL, false, &bank, &err));
        assert_ok(trl_treebank_next(bank, &t, &more, &err));
        trl_dependency *d = find(&t);
        write_found(&t, d, &found);
        assert_string_equal(found.data, worked[i].want);
        trl_buf_fini(&found);
        trl_free(d);
        trl_treebank_free(bank);
    }
}

/* One root, and every word is below it. */
static void assert_is_tree(const trl_tree *t, const trl_dependency *d)
{
    size_t roots = 0, words = 0;
    for (size_t w = 0; w < t->n_words; w++) {
        assert_true((d[w].relation == NULL) == (d[w].universal == NULL));
        if (!d[w].relation)
            continue;
        words++;
        roots += d[w].head == 0;
        assert_int_equal(d[w].head == 0, strcmp(d[w].relation, "root") == 0);
        size_t steps = 0, at = w;
        while (d[at].head && steps++ <= t->n_words) {
            at = d[at].head - 1;
            assert_true(at < t->n_words && d[at].relation);
        }
        assert_true(steps <= t->n_words);
    }
    assert_int_equal(roots, words > 0);
}

/* Labels that the rules speak of, in any order: most of these trees no annotator would make. */
static void write_any(trl_rng *r, int depth, trl_buf *out)
{
    static const char *const phrase[] = {"S",  "NP",   "VP",   "SBARQ", "SQ",   "SBAR",  "WHNP",
                                         "PP", "ADJP", "ADVP", "QP",    "SINV", "CONJP", "XX"};
    static const char *const leaf[] = {"NN cat",   "VBZ is",   "CC and", ", ,",
                                       "EX there", "VBN seen", "JJ red", "-NONE- *",
                                       "IN by",    "WP who",   "TO to",  "RB not"};
    if (depth == 0 || trl_rng_below(r, 4) == 0) {
        trl_buf_fmt(out, "(%s)", leaf[trl_rng_below(r, 12)]);
        return;
    }
    trl_buf_fmt(out, "(%s", phrase[trl_rng_below(r, 14)]);
    for (size_t n = 1 + trl_rng_below(r, 5); n-- > 0;) {
        trl_buf_ch(out, ' ');
        write_any(r, depth - 1, out);
    }
    trl_buf_ch(out, ')');
}

static void test_any_tree(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(5);
    trl_buf text = {0};
    trl_error err;
    for (size_t k = 0; k < 5000; k++) {
        trl_buf_str(&text, "(TOP ");
        write_any(&r, 5, &text);
        trl_buf_str(&text, ")\n");
    }
    trl_treebank *bank = NULL;
    const trl_text in = {"mem", text.data, text.len};
    assert_ok(trl_treebank_memory(&in, NULL, false, &bank, &err));
    size_t seen = 0;
    for (bool more = true; more;) {
        trl_tree t;
        assert_ok(trl_treebank_next(bank, &t, &more, &err));
        if (!more)
            break;
        trl_dependency *d = find(&t);
        assert_is_tree(&t, d);
        trl_free(d);
        seen++;
    }
    assert_int_equal(seen, 5000);
    trl_treebank_free(bank);
    trl_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked),
        cmocka_unit_test(test_any_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
