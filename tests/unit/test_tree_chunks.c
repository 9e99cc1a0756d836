/* test_tree_chunks.c -- chunk tags from trees, rule by rule. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "treebank/tree_chunks.h"

/* The chunks of a tree in brackets: "[NP the cat] [VP sleeps] ." */
static void show(const trl_rows *rows, trl_buf *out)
{
    bool open = false;
    out->len = 0;
    for (size_t i = 0; i < rows->n_tokens; i++) {
        const trl_str word = rows->cell[3 * i], tag = rows->cell[3 * i + 2];
        const bool inside = tag.p[0] == 'I';
        assert_true(!inside || open); /* IOB2: a chunk starts with B */
        if (open && !inside)
            trl_buf_ch(out, ']');
        if (i)
            trl_buf_ch(out, ' ');
        if (tag.p[0] == 'B')
            trl_buf_fmt(out, "[%.*s ", (int)tag.n - 2, tag.p + 2);
        trl_buf_add(out, word.p, word.n);
        open = tag.p[0] != 'O';
    }
    if (open)
        trl_buf_ch(out, ']');
    trl_buf_ch(out, '\0');
}

static void assert_chunks(const char *tree, const char *want)
{
    trl_error err;
    trl_input *in = NULL;
    trl_strtab labels = {0};
    trl_bracket_reader *r = NULL;
    trl_chunker *c = NULL;
    trl_tree t;
    trl_rows rows;
    trl_buf got = {0};
    bool more;
    assert_ok(trl_input_memory("mem", tree, strlen(tree), &in, &err));
    assert_ok(trl_bracket_reader_new(in, &labels, &r, &err));
    assert_ok(trl_chunker_new(&labels, &c, &err));
    assert_ok(trl_bracket_reader_next(r, &t, &more, &err));
    assert_ok(trl_chunker_run(c, &t, &rows, &err));
    show(&rows, &got);
    assert_string_equal(got.data, want);
    trl_buf_fini(&got);
    trl_chunker_free(c);
    trl_bracket_reader_free(r);
    trl_input_free(in);
    trl_strtab_fini(&labels);
}

static void test_noun_phrases(void **state)
{
    (void)state;
    assert_chunks("(S (NP (NP (DT the) (JJ old) (NN man)) (PP (IN of) (NP (DT the) (NN sea))))"
                  " (VP (VBD slept)) (. .))",
                  "[NP the old man] [PP of] [NP the sea] [VP slept] .");
    assert_chunks("(NP (NP (NP (NN Kim)) (POS 's)) (ADJP (RB very) (JJ big)) (NN cat))",
                  "[NP Kim] [NP 's very big cat]");
    assert_chunks("(NP (DT a) (`` ``) (NN company) ('' '') (NN man) ('' ''))",
                  "[NP a `` company '' man] ''");
    assert_chunks("(NP (NP (NNS cats)) (CC and) (NP (NNS dogs)))", "[NP cats] and [NP dogs]");
    assert_chunks("(NP (NNS cats) (, ,) (NNS dogs) (CC and) (NNS cows) (, ,))",
                  "[NP cats , dogs and cows] ,");
    assert_chunks("(NP (NP (QP (RB about) ($ $) (CD 5) (CD million))) (NP (DT a) (NN day)))",
                  "[NP about $ 5 million] [NP a day]");
    assert_chunks("(NP (DT the) (ADJP (RBS most) (JJ important)))", "[NP the most important]");
    assert_chunks("(NP (NN something) (ADJP (JJ good)))", "[NP something] [ADJP good]");
    assert_chunks("(NP (DT all) (NP (DT the) (NNS men)))", "all [NP the men]");
    assert_chunks("(NP (NNP May) (CD 1) (, ,) (CD 1990))", "[NP May 1 , 1990]");
    assert_chunks("(NP (NN Xpd TTD))", "[NP Xpd_TTD]");
}

static void test_verb_groups(void **state)
{
    (void)state;
    assert_chunks("(S (NP (PRP it)) (VP (VBZ is) (ADVP (RB widely)) (VP (VBN expected)"
                  " (S (VP (TO to) (VP (VB begin) (S (VP (VBG falling)))))))))",
                  "[NP it] [VP is widely expected to begin falling]");
    assert_chunks("(S (NP (PRP it)) (VP (VBZ is) (RB n't) (NP (DT a) (NN law))))",
                  "[NP it] [VP is] n't [NP a law]");
    assert_chunks("(VP (VBZ wants) (S (NP (PRP him)) (VP (TO to) (VP (VB go)))))",
                  "[VP wants] [NP him] [VP to go]");
    assert_chunks("(VP (MD will) (VP (VP (VB buy)) (CC and) (VP (VB sell))))",
                  "[VP will buy] and [VP sell]");
    assert_chunks("(VP (VB buy) (CC or) (VB sell) (NP (NN gold)))", "[VP buy or sell] [NP gold]");
    assert_chunks("(VP (VBP are) (CC or) (VP (MD will) (VP (VB be))))", "[VP are] or [VP will be]");
    assert_chunks("(VP (ADVP (RB also)) (VBD said))", "[VP also said]");
    assert_chunks("(VP (VBD decided) (S (RB not) (VP (TO to) (VP (VB go)))))",
                  "[VP decided] not [VP to go]");
    assert_chunks("(VP (VBD gave) (PRT (RP up)) (NP (NN hope)))", "[VP gave] [PRT up] [NP hope]");
    assert_chunks("(SQ (MD should) (NP (PRP we)) (VP (VB go)) (. ?))", "should [NP we] [VP go] ?");
    assert_chunks("(SINV (ADVP (RB so)) (VBP are) (NP (NNS cats)))",
                  "[ADVP so] [VP are] [NP cats]");
    assert_chunks("(NP (NP (NN patient)) (VP (NN suffering)))", "[NP patient] [VP suffering]");
}

static void test_other_phrases(void **state)
{
    (void)state;
    assert_chunks("(PP (IN because) (IN of) (NP (NN rain)))", "[PP because of] [NP rain]");
    assert_chunks("(PP (JJ such) (IN as) (NP (NN rain)))", "[PP such as] [NP rain]");
    assert_chunks("(PP (VBN compared) (PP (IN with) (NP (NN rain))))",
                  "[PP compared] [PP with] [NP rain]");
    assert_chunks("(PP (ADVP (RB partly)) (IN because) (IN of) (NP (NN rain)))",
                  "[ADVP partly] [PP because of] [NP rain]");
    assert_chunks("(SBAR (RB even) (IN if) (S (NP (PRP it)) (VP (VBZ rains))))",
                  "[SBAR even if] [NP it] [VP rains]");
    assert_chunks("(SBAR (WHNP (WDT which)) (S (VP (VBZ rains))))", "[NP which] [VP rains]");
    assert_chunks("(ADJP (NP (CD 61) (NNS years)) (JJ old))", "[NP 61 years] [ADJP old]");
    assert_chunks("(ADVP (NP (CD two) (NNS years)) (RB ago))", "[NP two years] [ADVP ago]");
    assert_chunks("(ADJP (JJ good) (RB enough) (S (VP (TO to) (VP (VB eat)))))",
                  "[ADJP good enough] [VP to eat]");
    assert_chunks("(NP (NP (NN tea)) (CONJP (RB as) (RB well) (IN as)) (NP (NN milk)))",
                  "[NP tea] [CONJP as well as] [NP milk]");
    assert_chunks("(S (LST (CD 1) (. .)) (INTJ (UH oh)) (UCP (NN wine) (CC and) (JJ soft)))",
                  "[LST 1] . [INTJ oh] [UCP wine and soft]");
}

static void test_raw_annotation(void **state)
{
    (void)state;
    assert_chunks("( (S (NP-SBJ-1 (PRP they)) (VP (VBP seem) (S (NP-SBJ (-NONE- *-1))"
                  " (VP (TO to) (VP (VB go) (NP-TMP (NN today))))))))",
                  "[NP they] [VP seem to go] [NP today]");
    assert_chunks("(S (NP (-NONE- *)) (NP (-NONE- *)))", "");
}

/* Nesting beyond any C stack; every chain of phrases that has rules of its own. */
static void test_deep(void **state)
{
    (void)state;
    static const char *const phrase[] = {"(NP ", "(VP (VB be) ", "(S ", "(PP (IN of) "};
    for (size_t k = 0; k < 4; k++) {
        trl_buf text = {0};
        trl_error err;
        trl_input *in = NULL;
        trl_strtab labels = {0};
        trl_bracket_reader *r = NULL;
        trl_chunker *c = NULL;
        trl_tree t;
        trl_rows rows;
        bool more;
        for (size_t i = 0; i < 100000; i++)
            trl_buf_str(&text, phrase[k]);
        trl_buf_str(&text, "(NN w)");
        for (size_t i = 0; i < 100000; i++)
            trl_buf_ch(&text, ')');
        assert_ok(trl_input_memory("mem", text.data, text.len, &in, &err));
        assert_ok(trl_bracket_reader_new(in, &labels, &r, &err));
        assert_ok(trl_chunker_new(&labels, &c, &err));
        assert_ok(trl_bracket_reader_next(r, &t, &more, &err));
        assert_ok(trl_chunker_run(c, &t, &rows, &err));
        assert_int_equal(rows.n_tokens, t.n_words);
        trl_chunker_free(c);
        trl_bracket_reader_free(r);
        trl_input_free(in);
        trl_strtab_fini(&labels);
        trl_buf_fini(&text);
    }
}

/* Whole treebanks yield valid IOB2; traces and function tags change nothing. */
static void test_treebanks(void **state)
{
    (void)state;
    static const char *const names[] = {"wsj-sample-dev.mrg", "wsj-sample-dev.raw.mrg"};
    const char *dir = test_folder("TRELLIS_DATA", "../shared/data");
    trl_buf all[2] = {{0}};
    for (size_t k = 0; k < 2; k++) {
        char path[1024];
        trl_error err;
        trl_input *in = NULL;
        trl_strtab labels = {0};
        trl_bracket_reader *r = NULL;
        trl_chunker *c = NULL;
        trl_tree t;
        trl_rows rows;
        trl_buf line = {0};
        bool more;
        snprintf(path, sizeof path, "%s/treebanks/%s", dir, names[k]);
        assert_ok(trl_input_open(path, &in, &err));
        assert_ok(trl_bracket_reader_new(in, &labels, &r, &err));
        assert_ok(trl_chunker_new(&labels, &c, &err));
        for (;;) {
            assert_ok(trl_bracket_reader_next(r, &t, &more, &err));
            if (!more)
                break;
            assert_ok(trl_chunker_run(c, &t, &rows, &err));
            show(&rows, &line);
            trl_buf_add(&all[k], line.data, line.len);
        }
        trl_buf_fini(&line);
        trl_chunker_free(c);
        trl_bracket_reader_free(r);
        trl_input_free(in);
        trl_strtab_fini(&labels);
    }
    assert_int_equal(all[0].len, all[1].len);
    if (all[0].len)
        assert_memory_equal(all[0].data, all[1].data, all[0].len);
    trl_buf_fini(&all[0]);
    trl_buf_fini(&all[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noun_phrases),  cmocka_unit_test(test_verb_groups),
        cmocka_unit_test(test_other_phrases), cmocka_unit_test(test_raw_annotation),
        cmocka_unit_test(test_deep),          cmocka_unit_test(test_treebanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
