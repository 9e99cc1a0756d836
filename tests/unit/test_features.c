/* test_features.c -- templates in words: what they make, what they refuse, and the same by a plain
 * expander. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/rng.h"
#include "feature/feature_expand.h"
#include "feature/template.h"
#include "text/word_forms.h"
#include "trellis/template.h"

static trl_error err;

static trl_template *parsed(const char *text)
{
    trl_template *t = NULL;
    assert_ok(trl_template_parse("tpl", text, strlen(text), &t, &err));
    assert_non_null(trl_template_list(t));
    return t;
}

/* All attributes at a position, a blank after each; values other than 1 after a colon. */
static void put_all(const trl_feature_list *l, const trl_rows *seq, size_t pos, trl_buf *out)
{
    trl_feature_expander *x = NULL;
    trl_names names = {0};
    assert_ok(trl_feature_expander_new(l, &x, &err));
    assert_ok(trl_feature_expander_set(x, seq, &err));
    for (size_t k = 0; k < l->n_features; k++)
        assert_true(trl_feature_expander_put(x, k, pos, &names));
    out->len = 0;
    for (size_t i = 0; i < names.n; i++) {
        trl_buf_add(out, names.text.data + names.name[i].at, names.name[i].n);
        if (names.name[i].value != 1.0)
            trl_buf_fmt(out, ":%g", names.name[i].value);
        trl_buf_ch(out, ' ');
    }
    trl_buf_ch(out, '\0');
    trl_names_fini(&names);
    trl_feature_expander_free(x);
}

/* Words separated by blanks, two columns: the word, and "T" and its number. */
static void expect_at(const char *text, const char *words, size_t pos, const char *want)
{
    static const char *const tags[] = {"T0", "T1", "T2", "T3", "T4", "T5", "T6", "T7"};
    trl_str cell[16];
    size_t n = 0;
    for (const char *p = words;; n++) {
        const size_t len = strcspn(p, " ");
        cell[2 * n] = (trl_str){p, len};
        cell[2 * n + 1] = (trl_str){tags[n], 2};
        p += len;
        if (!*p++)
            break;
    }
    const trl_rows seq = {.n_tokens = n + 1, .n_columns = 2, .cell = cell};
    trl_template *t = parsed(text);
    trl_buf out = {0};
    put_all(trl_template_list(t), &seq, pos, &out);
    assert_string_equal(out.data, want);
    trl_buf_fini(&out);
    trl_template_free(t);
}

static void expect(const char *text, const char *word, const char *want)
{
    expect_at(text, word, 0, want);
}

static void test_functions(void **state)
{
    (void)state;
    expect("word", "Émile", "word=Émile ");
    expect("lower", "ÉMILE", "lower=émile ");
    expect("lower", "ΑΒΓ", "lower=αβγ ");
    expect("zeros", "a12\xd9\xa3", "zeros=a000 ");
    expect("prefix 1..3", "Éa", "prefix1=É prefix2=Éa ");
    expect("suffix 1,3", "дом", "suffix1=м suffix3=дом ");
    expect("suffix 1..2 of lower", "ДОМ", "suffix1(lower)=м suffix2(lower)=ом ");
    expect("prefix 1 of suffix 2", "abc", "prefix1(suffix2)=b ");
    expect("prefix 1..2", "\xffz", "prefix1=\xff prefix2=\xffz ");
    expect("suffix 1", "a\xc3", "suffix1=\xc3 ");
    expect("ngrams 2", "añ", "ngrams2=<a ngrams2=añ ngrams2=ñ> ");
    expect("ngrams 1", "aba", "ngrams1=a ngrams1=b ");
    expect("ngrams 3", "", "");
    expect("shape", "McDonald-42é", "shape=XxXxxxxx-ddx ");
    expect("short-shape", "McDonald-42é", "short-shape=XxXx-dx ");
    expect("short-shape", "日本", "short-shape=c ");
    expect("case", "Émile", "case=title ");
    expect("case", "ÉM", "case=upper ");
    expect("kind", "3.14", "kind=number ");
    expect("kind", "año2", "kind=letters-digits ");
    expect("kind", "«»", "kind=punctuation ");
    expect("kind", "$", "kind=symbols ");
    expect("script", "дом", "script=cyrillic ");
    expect("script", "aд", "script=mixed ");
    expect("script", "漢字", "script=han ");
    expect("script", "42", "");
    expect("length", "año", "length=3 ");
    expect("length", "abcdefghijklm", "length=10+ ");
    expect("has digit", "a1", "has-digit ");
    expect("has digit", "ab", "");
    expect("all upper", "ÉÑ", "all-upper ");
    expect("all upper", "Éñ", "");
    expect("all digit", "", "");
    expect("match \"^\\d+$\"", "42", "match\"^\\d+$\" ");
    expect("match \"^\\d+$\"", "42a", "");
    expect("part \"\\d+\"", "a42b", "part\"\\d+\"=42 ");
    expect("part \"x*\"", "abc", "");
    expect("column 1", "x", "column1=T0 ");
    expect("columns word tag\ntag", "x", "tag=T0 ");
    expect("columns _ word\nword\nlower", "x", "word=T0 lower(word)=t0 ");
    expect("word", "", "word= ");
    expect("prefix 1", "", "");
    expect("node:", "x", "label ");
    expect("\xef\xbb\xbf# a comment\r\n\r\nword # and another\r\n", "x", "word=x ");
}

static void test_places(void **state)
{
    (void)state;
    expect_at("word at -2..2", "a b c", 1,
              "word[-2]=<-1> word[-1]=a word=b word[+1]=c word[+2]=<+1> ");
    expect_at("lower at -1\nzeros at 1\nsuffix 1 at -1\ncase at 1", "a", 0,
              "lower[-1]=<-1> zeros[+1]=<+1> ");
    expect_at("first\nlast\nfirst at -1", "a b", 1, "last first[-1] ");
    expect_at("first & last & case", "a", 0, "first&last&case=lower ");
    expect_at("word at -1 & suffix 1..2", "ab cd", 1,
              "word[-1]=ab&suffix1=d word[-1]=ab&suffix2=cd ");
    expect_at("(word & column 1 at 1) at -1..0", "a b", 0,
              "word[-1]=<-1>&column1=T0 word=a&column1[+1]=T1 ");
    expect_at("((word at 1) at 1) at 1", "a b c d", 0, "word[+3]=d ");
    expect_at("ngrams 1 at 1 & ngrams 1", "ab cd", 0,
              "ngrams1[+1]=c&ngrams1=a ngrams1[+1]=c&ngrams1=b ngrams1[+1]=d&ngrams1=a "
              "ngrams1[+1]=d&ngrams1=b ");
    expect_at("word at -1,1", "a b c", 1, "word[-1]=a word[+1]=c ");
}

static void test_asking(void **state)
{
    (void)state;
    trl_template *t = parsed("word\nedge:\nedge: case\ntriple:\nboth: column 3 at 1..2\n");
    static const int cliques[] = {1, 2, 2, 4, 3, 3};
    assert_int_equal(trl_template_count(t), 6);
    for (size_t k = 0; k < 6; k++) {
        assert_int_equal(trl_template_cliques(t, k), cliques[k]);
        assert_int_equal(trl_template_is_constant(t, k), k == 1 || k == 3);
    }
    assert_int_equal(trl_template_columns(t), 4);
    uint64_t row, col;
    trl_template_place(t, 1, &row, &col);
    assert_true(row == 5 && col == 7);
    trl_template_place(t, 4, &row, &col);
    assert_true(row == 0 && col == 0);
    trl_template_free(t);
    static const char *const others[] = {"U:%x[0,0]", "word", "u:word",
                                         "B",         "*",    "# word\nU01:%x[0,0]\n"};
    for (size_t k = 0; k < 6; k++) {
        assert_ok(trl_template_parse("tpl", others[k], strlen(others[k]), &t, &err));
        assert_int_equal(trl_template_list(t) != NULL, k == 1);
        trl_template_free(t);
    }
}

static void refuse(const char *text, uint64_t row, uint64_t col, const char *what)
{
    trl_template *t = NULL;
    err = (trl_error){0};
    assert_int_equal(trl_template_parse("tpl", text, strlen(text), &t, &err), TRL_EPARSE);
    if (!strstr(err.msg, what))
        print_error("'%s' is not in '%s'\n", what, err.msg);
    assert_non_null(strstr(err.msg, what));
    assert_int_equal(err.row, row);
    assert_int_equal(err.col, col);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse("word\nwrod at 1", 2, 1, "'wrod' is not a function");
    refuse("word at", 1, 8, "a distance is expected");
    refuse("word at 2..1", 1, 9, "ends before it begins");
    refuse("word at 5000", 1, 9, "a distance is from");
    refuse("word at -1 & ", 1, 14, "is expected here");
    refuse("(word", 1, 6, "')'");
    refuse("word word", 1, 6, "the end of the line");
    refuse("prefix", 1, 7, "a number of characters");
    refuse("prefix 0", 1, 8, "from 1 to 100");
    refuse("has blue", 1, 5, "a class");
    refuse("match \"a(\"", 1, 9, "'(' without ')'");
    refuse("match \"a", 1, 7, "not closed");
    refuse("match a", 1, 7, "in quotes");
    refuse("prefix 2 of ngrams 2", 1, 13, "nothing can be taken");
    refuse("values", 1, 7, "'of' and a column");
    refuse("values of lower", 1, 11, "those of a column");
    refuse("word\ncolumns a b", 2, 1, "before all features");
    refuse("columns a lower", 1, 11, "taken");
    refuse("columns a a", 1, 11, "taken");
    refuse("gazetteer", 1, 10, "the name of the list");
    refuse("gazetteer g", 1, 12, "the path");
    refuse("gazetteer g \"\"", 1, 13, "empty");
    refuse("gazetteer g \"x\" sideways", 1, 17, "'folded'");
    refuse("gazetteer shape \"x\"", 1, 11, "taken");
    refuse("vectors v \"x\" all", 1, 15, "'folded'");
    refuse("word\n\xff", 2, 1, "not UTF-8");
    refuse("word & word & word & word & word & word & word & word & word", 1, 57, "joined");
    refuse("prefix 1..60 & suffix 1..60 & word at -30..30", 1, 39, "10,000");
    trl_template *t = NULL;
    assert_int_equal(trl_template_parse("tpl", "word\nca\0se", 10, &t, &err), TRL_EPARSE);
    assert_true(err.row == 2 && err.col == 3);
}

/* ---- the same by a plain expander ------------------------------------------------------------ */

/* The values of a property at t, computed afresh: at most 64, in the text's order. */
static size_t plain_values(const trl_feature_list *l, size_t k, const trl_rows *seq, int64_t t,
                           char out[64][80])
{
    const trl_property *p = &l->property[k];
    const int64_t n = (int64_t)seq->n_tokens;
    if (t < 0 || t >= n) {
        if (!p->padded)
            return 0;
        snprintf(out[0], 80, t < 0 ? "<-%d>" : "<+%d>", (int)(t < 0 ? -t : t - n + 1));
        return 1;
    }
    if (p->fn == TRL_FN_FIRST || p->fn == TRL_FN_LAST) {
        out[0][0] = '\0';
        return t == (p->fn == TRL_FN_FIRST ? 0 : n - 1);
    }
    if (p->fn == TRL_FN_COLUMN) {
        const trl_str s = seq->cell[(size_t)t * seq->n_columns + p->arg];
        snprintf(out[0], 80, "%.*s", (int)s.n, s.p);
        return 1;
    }
    char of[64][80];
    if (!plain_values(l, p->of, seq, t, of))
        return 0;
    const char *s = of[0];
    /* where characters start, as the functions see them */
    size_t at[81], m = 0;
    for (size_t i = 0; i < strlen(s); i += trl_char_at((trl_str){s, strlen(s)}, i).n)
        at[m++] = i;
    at[m] = strlen(s);
    size_t count = 0;
    switch (p->fn) {
    case TRL_FN_PREFIX:
        if (m < p->arg)
            return 0;
        snprintf(out[0], 80, "%.*s", (int)at[p->arg], s);
        return 1;
    case TRL_FN_SUFFIX:
        if (m < p->arg)
            return 0;
        snprintf(out[0], 80, "%s", s + at[m - p->arg]);
        return 1;
    case TRL_FN_NGRAMS: {
        char whole[90];
        snprintf(whole, sizeof whole, p->arg > 1 ? "<%s>" : "%s", s);
        size_t start[90], w = 0;
        for (size_t i = 0; i < strlen(whole);
             i += trl_char_at((trl_str){whole, strlen(whole)}, i).n)
            start[w++] = i;
        start[w] = strlen(whole);
        for (size_t i = 0; *s && i + p->arg <= w; i++) {
            snprintf(out[count], 80, "%.*s", (int)(start[i + p->arg] - start[i]), whole + start[i]);
            bool twice = false;
            for (size_t j = 0; j < count; j++)
                twice |= strcmp(out[j], out[count]) == 0;
            count += !twice;
        }
        return count;
    }
    default: {
        trl_arena arena = {0};
        trl_str v = {0};
        if (p->fn == TRL_FN_LOWER)
            trl_word_lower((trl_str){s, strlen(s)}, &arena, &v);
        else if (p->fn == TRL_FN_CASE)
            v = trl_word_case((trl_str){s, strlen(s)});
        else
            trl_word_shape((trl_str){s, strlen(s)}, p->fn == TRL_FN_SHORT_SHAPE, &arena, &v);
        snprintf(out[0], 80, "%.*s", (int)v.n, v.p);
        trl_arena_fini(&arena);
        return 1;
    }
    }
}

static void plain_names(const trl_feature_list *l, const trl_feature *f, const trl_rows *seq,
                        const size_t place[2], const char *so_far, trl_buf *out)
{
    const size_t pos = place[0], i = place[1];
    if (i == f->n) {
        trl_buf_fmt(out, "%s ", so_far);
        return;
    }
    const trl_feature_term *term = &l->term[f->first + i];
    const trl_property *p = &l->property[term->property];
    char(*value)[80] = malloc(64 * 80);
    const trl_str name = trl_strtab_get(&l->names, (uint32_t)term->property);
    const size_t n = plain_values(l, term->property, seq, (int64_t)pos + term->offset, value);
    for (size_t k = 0; k < n; k++) {
        char text[1000], offset[20] = "";
        if (term->offset)
            snprintf(offset, sizeof offset, "[%+d]", (int)term->offset);
        snprintf(text, sizeof text, "%s%s%.*s%s%s%s", so_far, i ? "&" : "", (int)name.n, name.p,
                 offset, p->test ? "" : "=", value[k]);
        plain_names(l, f, seq, (size_t[2]){pos, i + 1}, text, out);
    }
    free(value);
}

static void random_property(trl_rng *rng, int depth, trl_buf *out)
{
    static const char *const plain[] = {"lower", "prefix 1..2", "suffix 2,3",
                                        "shape", "short-shape", "case"};
    const uint64_t what = trl_rng_below(rng, 11);
    if (what < 6) {
        trl_buf_str(out, plain[what]);
        if (depth && trl_rng_below(rng, 2)) {
            trl_buf_str(out, " of ");
            trl_buf_str(out, plain[trl_rng_below(rng, 6)]);
            if (trl_rng_below(rng, 2))
                trl_buf_str(out, " of column 1");
        }
    } else {
        trl_buf_str(out, what == 6   ? "word"
                         : what == 7 ? "column 1"
                         : what == 8 ? "first"
                         : what == 9 ? "ngrams 1..3"
                                     : "last");
    }
}

static void random_template(trl_rng *rng, trl_buf *out)
{
    trl_buf_str(out, "word\n");
    for (size_t k = 1 + trl_rng_below(rng, 4); k > 0; k--) {
        const bool group = trl_rng_below(rng, 4) == 0;
        trl_buf_str(out, group ? "(" : "");
        for (size_t i = 1 + trl_rng_below(rng, 3); i > 0; i--) {
            random_property(rng, 1, out);
            if (trl_rng_below(rng, 2))
                trl_buf_fmt(out, " at %d..%d", (int)trl_rng_below(rng, 4) - 3,
                            (int)trl_rng_below(rng, 3) + 1);
            trl_buf_str(out, i > 1 ? " & " : "");
        }
        trl_buf_str(out, group ? ") at -1, 2\n" : "\n");
    }
}

static void test_plain(void **state)
{
    (void)state;
    static const char *const words[] = {"a",    "Ab",      "ÉTÉ", "d'été", "",   "x\xff\xc3",
                                        "42-a", "日本語x", "ΑΒγ", "--",    "aaa"};
    trl_rng rng = trl_rng_seed(3);
    for (int trial = 0; trial < 400; trial++) {
        trl_buf text = {0}, have = {0}, want = {0};
        trl_str cell[12];
        random_template(&rng, &text);
        trl_template *t = NULL;
        assert_ok(trl_template_parse("tpl", text.data, text.len, &t, &err));
        const trl_feature_list *l = trl_template_list(t);
        const trl_rows seq = {.n_tokens = 1 + trl_rng_below(&rng, 6), .n_columns = 2, .cell = cell};
        for (size_t i = 0; i < 12; i++) {
            const char *w = words[trl_rng_below(&rng, sizeof words / sizeof *words)];
            cell[i] = (trl_str){w, strlen(w)};
        }
        for (size_t pos = 0; pos < seq.n_tokens; pos++) {
            put_all(l, &seq, pos, &have);
            want.len = 0;
            for (size_t k = 0; k < l->n_features; k++)
                plain_names(l, &l->feature[k], &seq, (size_t[2]){pos, 0}, "", &want);
            trl_buf_ch(&want, '\0');
            assert_string_equal(have.data, want.data);
        }
        trl_buf_fini(&text);
        trl_buf_fini(&have);
        trl_buf_fini(&want);
        trl_template_free(t);
    }
}

/* ---- shipped --------------------------------------------------------------------------------- */

static void test_shipped(void **state)
{
    (void)state;
    size_t n = 0;
    for (const trl_shipped_template *x = trl_shipped_templates(); x->name; x++, n++) {
        char path[100], text[5000];
        snprintf(path, sizeof path, "templates/%s", x->name);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        const size_t len = fread(text, 1, sizeof text, f);
        fclose(f);
        assert_int_equal(len, strlen(x->text));
        assert_memory_equal(text, x->text, len);
        trl_template *t = parsed(x->text);
        assert_true(trl_template_count(t) > 10);
        assert_int_equal(trl_template_columns(t), strcmp(x->name, "chunk") == 0 ? 2 : 1);
        trl_template_free(t);
        assert_ptr_equal(trl_shipped_template_find(x->name), x->text);
    }
    assert_int_equal(n, 4);
    assert_null(trl_shipped_template_find("none"));
    assert_null(trl_shipped_template_find(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_places),
        cmocka_unit_test(test_asking),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_plain),     cmocka_unit_test(test_shipped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
