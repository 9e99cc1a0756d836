/* test_tree_columns.c -- columns from treebank, entities and documents; what is refused. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "base/buf.h"
#include "trellis/trees.h"

#define KIM "(S (NP (NNP Kim) (NNP Lee)) (VP (VBZ sleeps)) (. .))\n"
#define SAM "(S (NP (NNP Sam)) (VP (VBZ eats) (NP (NN rice))) (. .))\n"

enum { TREES, MARKS, DOCS, N_FILES };

/* One case: file contents, NULL for none, and the options. */
typedef struct input {
    const char *trees, *marks, *docs, *split;
    bool no_chunks;
} input;

static char folder[] = "/tmp/trellis-test-XXXXXX";

static const char *place(int which)
{
    static const char *const names[] = {"trees", "marks", "docs"};
    static char path[N_FILES][64];
    snprintf(path[which], sizeof path[which], "%s/%s", folder, names[which]);
    return path[which];
}

/* The columns as text, '|' for a line end, or "file:row:col: message [hint]". */
static trl_status run(const input *in, trl_buf *out)
{
    trl_tree_columns_options o = trl_tree_columns_options_default();
    const char **path[] = {&o.treebank, &o.entities, &o.documents};
    const char *const text[] = {in->trees, in->marks, in->docs};
    for (int k = 0; k < N_FILES; k++) {
        if (!text[k])
            continue;
        FILE *f = fopen(place(k), "w");
        assert_non_null(f);
        fputs(text[k], f);
        assert_int_equal(fclose(f), 0);
        *path[k] = place(k);
    }
    o.split = in->split;
    o.chunks = !in->no_chunks;
    trl_tree_columns *r = NULL;
    trl_error err;
    trl_rows rows;
    bool more = true;
    trl_status st = trl_tree_columns_open(&o, &r, &err);
    out->len = 0;
    while (st == TRL_OK) {
        st = trl_tree_columns_next(r, &rows, &more, &err);
        if (st != TRL_OK || !more)
            break;
        for (size_t i = 0; i < rows.n_tokens * rows.n_columns; i++) {
            trl_buf_add(out, rows.cell[i].p, rows.cell[i].n);
            trl_buf_ch(out, (i + 1) % rows.n_columns ? ' ' : '|');
        }
    }
    if (st != TRL_OK) {
        char message[1024];
        trl_error_text(&err, message, sizeof message);
        out->len = 0;
        for (const char *p = message; *p;) /* without the folder, wherever it stands */
            if (strncmp(p, folder, strlen(folder)) == 0)
                p += strlen(folder) + 1;
            else
                trl_buf_ch(out, *p++);
    }
    trl_buf_ch(out, '\0');
    trl_tree_columns_free(r);
    for (int k = 0; k < N_FILES; k++)
        unlink(place(k));
    return st;
}

static void assert_columns(input in, const char *want)
{
    trl_buf got = {0};
    const trl_status st = run(&in, &got);
    assert_string_equal(got.data, want);
    assert_int_equal(st, TRL_OK);
    trl_buf_fini(&got);
}

static void assert_refused(input in, trl_status status, const char *want)
{
    trl_buf got = {0};
    const trl_status st = run(&in, &got);
    assert_string_equal(got.data, want);
    assert_int_equal(st, status);
    trl_buf_fini(&got);
}

/* ---- what comes out ------------------------------------------------------------------ */

static void test_columns(void **state)
{
    (void)state;
    assert_columns((input){.trees = KIM}, "Kim NNP B-NP|Lee NNP I-NP|sleeps VBZ B-VP|. . O|");
    assert_columns((input){.trees = KIM, .no_chunks = true}, "Kim NNP|Lee NNP|sleeps VBZ|. .|");
    assert_columns((input){.trees = KIM, .marks = "[PER Kim Lee] sleeps .\n"},
                   "Kim NNP B-NP B-PER|Lee NNP I-NP I-PER|sleeps VBZ B-VP O|. . O O|");
    assert_columns((input){.trees = KIM, .marks = "Kim Lee sleeps .\n", .no_chunks = true},
                   "Kim NNP O|Lee NNP O|sleeps VBZ O|. . O|");
    assert_columns((input){.trees = ""}, "");
    assert_columns((input){.trees = "", .marks = "\n"}, "");
}

static void test_marks(void **state)
{
    (void)state;
    assert_columns(
        (input){.trees = KIM, .marks = "[X Kim] [X Lee] [YY sleeps .]", .no_chunks = true},
        "Kim NNP B-X|Lee NNP B-X|sleeps VBZ B-YY|. . I-YY|");
    assert_columns((input){.trees = KIM, .marks = " [X\tKim   Lee]  sleeps  . ", .no_chunks = true},
                   "Kim NNP B-X|Lee NNP I-X|sleeps VBZ O|. . O|");
    /* the tree knows which brackets are words */
    assert_columns(
        (input){.trees = "(X (A [) (B a]) (C ]))", .marks = "[ [T a]] ]", .no_chunks = true},
        "[ A O|a] B B-T|] C O|");
    /* empty elements are in the tree only, and one word may have blanks */
    assert_columns((input){.trees = "(S (NP (-NONE- *)) (NP (NN New York)))",
                           .marks = "[L New_York]",
                           .no_chunks = true},
                   "New_York NN B-L|");
    assert_columns((input){.trees = "(S (-NONE- *)) " SAM,
                           .marks = "\n[P Sam] eats rice .",
                           .no_chunks = true},
                   "Sam NNP B-P|eats VBZ O|rice NN O|. . O|");
}

static void test_splits(void **state)
{
    (void)state;
    const char *docs = "a 1 1 train\n\nb\t2 3 dev\nc 4 4 train";
    const char *trees = "(X a) (X b)\n(X c)\n(X d)\n";
    assert_columns((input){.trees = trees, .docs = docs, .split = "train", .no_chunks = true},
                   "a X|d X|");
    assert_columns((input){.trees = trees,
                           .marks = "a\n[T b]\nc\nd\n",
                           .docs = docs,
                           .split = "dev",
                           .no_chunks = true},
                   "b X B-T|c X O|");
}

/* ---- what is refused ------------------------------------------------------------------- */

static void test_bad_options(void **state)
{
    (void)state;
    const char *docs = "a 1 1 train\n";
    assert_refused((input){.split = NULL}, TRL_EINVAL, "no treebank is given");
    assert_refused((input){.trees = KIM, .docs = docs}, TRL_EINVAL,
                   "documents are given, but not which split is wanted");
    assert_refused((input){.trees = KIM, .split = "dev"}, TRL_EINVAL,
                   "the split 'dev' needs a list of documents");
    assert_refused((input){.trees = KIM, .docs = docs, .split = "dev"}, TRL_EINVAL,
                   "docs: no document has the split 'dev'");
    trl_tree_columns_options o = trl_tree_columns_options_default();
    trl_tree_columns *r = NULL;
    trl_error err;
    o.treebank = "/nowhere/at/all";
    assert_int_equal(trl_tree_columns_open(&o, &r, &err), TRL_EIO);
    assert_int_equal(trl_tree_columns_open(&o, &r, NULL), TRL_EIO);
    trl_tree_columns_free(NULL);
}

static void test_bad_marks(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"Kim Lie sleeps .", "marks:1:5: 'Lie' here, but 'Lee' in the tree"},
        {"Kim Lee sleeps", "marks:1:15: the line ends, but the tree goes on with '.'"},
        {"", "trees:1:1: no line of marks belongs to this tree"},
        {"Kim Lee sleeps . .", "marks:1:18: '.' comes after the last word of the tree"},
        {"[P Kim [P Lee] sleeps .", "marks:1:8: '[P' opens inside the mark [P"},
        {"Kim Lee [P sleeps .", "marks:1:9: the mark [P is not closed"},
        {"Kim Lee] sleeps .", "marks:1:8: ']' without a '[TYPE' before it"},
        {"[ Kim Lee] sleeps .", "marks:1:1: a mark without a type"},
        {"[P] Kim Lee sleeps .", "marks:1:1: a mark without words"},
        {"[P Kim Lee ] sleeps .", "marks:1:12: ']' here, but 'sleeps' in the tree"},
        {"Kim Lee sleeps . [P", "marks:1:18: '[P' comes after the last word of the tree"},
        {"Kim Lee sleeps .\n\nKim\n", "marks:3: no tree of trees belongs to this line"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_refused((input){.trees = KIM, .marks = cases[k][0]}, TRL_EPARSE, cases[k][1]);
    char line[400] = "[";
    memset(line + 1, 'T', 200);
    strcpy(line + 201, " Kim Lee] sleeps .");
    assert_refused((input){.trees = KIM, .marks = line}, TRL_EPARSE,
                   "marks:1:1: the type of a mark is too long");
}

static void test_bad_documents(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a 1 2", "docs:1:6: fewer fields than the four of NAME FIRST LAST SPLIT"},
        {"a 1 2 s x", "docs:1:9: more fields than the four of NAME FIRST LAST SPLIT"},
        {"a 1 z s", "docs:1:5: 'z' is not a sentence number"},
        {"a 0 1 s", "docs:1:3: '0' is not a sentence number"},
        {"a 1 99999999999999999999999 s",
         "docs:1:5: '99999999999999999999999' is not a sentence number"},
        {"a 1 1 s\nb 3 3 s", "docs:2:3: the document begins with sentence 3, but 2 is the next"},
        {"a 1 2 s\nb 2 3 s", "docs:2:3: the document begins with sentence 2, but 3 is the next"},
        {"a 1 1 s\nb 2 1 s", "docs:2:5: the document ends before it begins"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_refused((input){.trees = KIM SAM, .docs = cases[k][0], .split = "s"}, TRL_EPARSE,
                       cases[k][1]);
    assert_refused((input){.trees = KIM SAM, .docs = "a 1 1 s", .split = "s"}, TRL_EPARSE,
                   "trees:2:1: sentence 2 is in no document of docs");
    assert_refused((input){.trees = KIM SAM, .docs = "\na 1 3 s", .split = "s"}, TRL_EPARSE,
                   "docs:2: the last sentence is 3, but trees has 2");
}

static void test_bad_trees(void **state)
{
    (void)state;
    assert_refused((input){.trees = KIM "(S (NP)"}, TRL_EPARSE,
                   "trees:2:7: the node 'NP' has no words");
    /* parts that are not asked for are checked too */
    assert_refused((input){.trees = KIM SAM,
                           .marks = "Kim Lee sleeps .\nSam eats",
                           .docs = "a 1 1 s\nb 2 2 t\n",
                           .split = "s"},
                   TRL_EPARSE, "marks:2:9: the line ends, but the tree goes on with 'rice'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),   cmocka_unit_test(test_marks),
        cmocka_unit_test(test_splits),    cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_bad_marks), cmocka_unit_test(test_bad_documents),
        cmocka_unit_test(test_bad_trees),
    };
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
