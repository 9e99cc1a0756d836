/* test_corpus.c -- is the sample corpus what docs/corpus.md says?
 *
 * The files are looked for in $TRELLIS_CORPUS, or in corpus/: tests run at the root.  Every
 * finding is printed with its line; a test fails at the end when it had any. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "corpus_lists.h"

#include "base/file.h"
#include "feature/template.h"
#include "treebank/brackets.h"
#include "trellis/trees.h"

static const char *corpus_path(const char *name)
{
    static char path[2][1024];
    static int turn;
    const char *dir = getenv("TRELLIS_CORPUS");
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir && *dir ? dir : "corpus", name);
    return path[turn];
}

/* ---- walking over the trees ------------------------------------------------------------------ */

typedef struct treebank {
    trl_strtab labels, sentences;
    trl_tree tree;
    trl_buf text; /* the tree, written back */
    size_t n, findings;
} treebank;

typedef void (*tree_check)(treebank *b);

static void finding(treebank *b, const char *what, trl_str at)
{
    print_error("%s:%lu: %s: '%.*s'\n", b->tree.path, (unsigned long)b->tree.row, what, (int)at.n,
                at.p);
    b->findings++;
}

static void for_each_tree(tree_check check)
{
    treebank b = {0};
    trl_error err;
    trl_input *in = NULL;
    trl_bracket_reader *r = NULL;
    bool more = true;
    assert_ok(trl_input_open(corpus_path("sample.mrg"), &in, &err));
    assert_ok(trl_bracket_reader_new(in, &b.labels, &r, &err));
    for (;;) {
        assert_ok(trl_bracket_reader_next(r, &b.tree, &more, &err));
        if (!more)
            break;
        b.n++;
        check(&b);
    }
    assert_true(b.n >= 400);
    assert_int_equal(b.findings, 0);
    trl_bracket_reader_free(r);
    trl_input_free(in);
    trl_strtab_fini(&b.labels);
    trl_strtab_fini(&b.sentences);
    trl_buf_fini(&b.text);
}

/* Is s one of the words of the list? */
static bool in_list(trl_str s, const char *list)
{
    for (const char *p = list; *p;) {
        const size_t n = strcspn(p, " ");
        if (n == s.n && memcmp(p, s.p, n) == 0)
            return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

static trl_str label(const treebank *b, uint32_t i)
{
    return trl_strtab_get(&b->labels, b->tree.node[i].label);
}

static bool is(const treebank *b, uint32_t i, const char *list)
{
    return in_list(label(b, i), list);
}

static bool is_word(const treebank *b, uint32_t i)
{
    return b->tree.node[i].child == TRL_NO_NODE;
}

static trl_str word(const treebank *b, uint32_t i)
{
    return b->tree.word[b->tree.node[i].from];
}

static size_t count_children(const treebank *b, uint32_t i, const char *list)
{
    size_t n = 0;
    for (uint32_t c = b->tree.node[i].child; c != TRL_NO_NODE; c = b->tree.node[c].next)
        n += !list || is(b, c, list);
    return n;
}

static uint32_t last_child(const treebank *b, uint32_t i, uint32_t *before)
{
    uint32_t c = b->tree.node[i].child;
    *before = TRL_NO_NODE;
    while (b->tree.node[c].next != TRL_NO_NODE) {
        *before = c;
        c = b->tree.node[c].next;
    }
    return c;
}

/* ---- whole sentences ------------------------------------------------------------------------- */

/* TOP over one clause, whose last child is the final mark, or the closing quote after it. */
static void check_root(treebank *b)
{
    const trl_node *node = b->tree.node;
    uint32_t before;
    if (!is(b, 0, "TOP") || count_children(b, 0, NULL) != 1 || !is(b, 1, CLAUSES)) {
        finding(b, "the root is not TOP over a clause", label(b, 0));
        return;
    }
    uint32_t last = last_child(b, 1, &before);
    if (is(b, last, "''") && before != TRL_NO_NODE)
        last = before;
    if (!is(b, last, ".") || node[last].parent != 1)
        finding(b, "no final mark under the clause", label(b, last));
}

static void check_sentence(treebank *b)
{
    const trl_tree *t = &b->tree;
    trl_buf *text = &b->text;
    const size_t n = b->sentences.n;
    text->len = 0;
    for (size_t i = 0; i < t->n_words; i++) {
        for (size_t k = 0; k < t->word[i].n; k++)
            if (t->word[i].p[k] <= ' ' || t->word[i].p[k] > '~')
                finding(b, "not plain ASCII", t->word[i]);
        trl_buf_add(text, t->word[i].p, t->word[i].n);
        trl_buf_ch(text, ' ');
    }
    if (trl_strtab_add(&b->sentences, text->data, text->len) != n)
        finding(b, "the sentence occurs twice", (trl_str){text->data, text->len});
    if (t->n_words < 4 || t->n_words > 25)
        finding(b, "not 4 to 25 words", (trl_str){text->data, text->len});
    if (t->row != b->n || t->col != 1)
        finding(b, "not one tree a line", label(b, 0));
    if (t->word[0].p[0] >= 'a' && t->word[0].p[0] <= 'z')
        finding(b, "begins with a small letter", t->word[0]);
    check_root(b);
}

static void test_sentences(void **state)
{
    (void)state;
    for_each_tree(check_sentence);
}

/* Single blanks and no other text: reading and writing gives the same bytes. */
static void test_bytes(void **state)
{
    (void)state;
    trl_mapped file;
    trl_error err;
    trl_input *in = NULL;
    trl_bracket_reader *r = NULL;
    trl_strtab labels = {0};
    trl_buf text = {0};
    trl_tree tree;
    bool more = true;
    assert_ok(trl_map_file(corpus_path("sample.mrg"), &file, &err));
    assert_ok(trl_input_memory("sample.mrg", file.data, file.size, &in, &err));
    assert_ok(trl_bracket_reader_new(in, &labels, &r, &err));
    for (;;) {
        assert_ok(trl_bracket_reader_next(r, &tree, &more, &err));
        if (!more)
            break;
        trl_tree_write(&tree, &labels, &text);
        trl_buf_ch(&text, '\n');
    }
    assert_int_equal(text.len, file.size);
    assert_memory_equal(text.data, file.data, file.size);
    trl_buf_fini(&text);
    trl_bracket_reader_free(r);
    trl_strtab_fini(&labels);
    trl_input_free(in);
    trl_unmap(&file);
}

/* ---- words and tags -------------------------------------------------------------------------- */

static void check_word(treebank *b, uint32_t i)
{
    char small[64];
    const trl_str w = word(b, i), tag = label(b, i);
    const size_t n = w.n < sizeof small ? w.n : sizeof small;
    for (size_t k = 0; k < n; k++)
        small[k] = (char)(w.p[k] >= 'A' && w.p[k] <= 'Z' ? w.p[k] + 32 : w.p[k]);
    const trl_str s = {small, n};
    if (!in_list(tag, OPEN_TAGS " " CLOSED_TAGS " " SIGNS))
        finding(b, "no such tag", tag);
    for (size_t k = 0; k < sizeof words_of_tag / sizeof *words_of_tag; k++)
        if (in_list(tag, words_of_tag[k].tag) && !in_list(s, words_of_tag[k].words))
            finding(b, "a word that cannot have its tag", w);
    for (size_t k = 0; k < sizeof tags_of_word / sizeof *tags_of_word; k++)
        if (in_list(s, tags_of_word[k].words) && !in_list(tag, tags_of_word[k].tags))
            finding(b, "a word that cannot have its tag", w);
    const bool digit = w.p[w.n > 1 && w.p[0] == '-'] >= '0' && w.p[w.n > 1 && w.p[0] == '-'] <= '9';
    if (digit && !in_list(tag, "CD JJ"))
        finding(b, "a number that is none", w);
    const bool capital = w.p[0] >= 'A' && w.p[0] <= 'Z';
    if (in_list(tag, "NNP NNPS") && !capital)
        finding(b, "a name with a small letter", w);
    if (capital && b->tree.node[i].from > 1 && in_list(tag, "NN NNS VB VBD VBN"))
        finding(b, "a capital inside the sentence", w);
}

static void check_words(treebank *b)
{
    for (uint32_t i = 0; i < b->tree.n_nodes; i++)
        if (is_word(b, i))
            check_word(b, i);
}

static void test_words(void **state)
{
    (void)state;
    for_each_tree(check_words);
}

/* ---- phrases --------------------------------------------------------------------------------- */

/* An NP without NPs: words, numbers and adjectives in their order; an infinitive may end it. */
static void check_base_np(treebank *b, uint32_t i)
{
    size_t determiners = 0;
    uint32_t before = TRL_NO_NODE, c = b->tree.node[i].child, head = TRL_NO_NODE;
    for (; c != TRL_NO_NODE; before = c, c = b->tree.node[c].next) {
        determiners += is(b, c, "DT PRP$");
        if (is(b, c, "DT PRP$ PDT") && before != TRL_NO_NODE && !is(b, before, "PDT RB"))
            finding(b, "a determiner inside a noun phrase", word(b, c));
        if (!is_word(b, c) && !is(b, c, "QP ADJP S"))
            finding(b, "a phrase inside a base noun phrase", label(b, c));
        if (is(b, c, "S") && b->tree.node[c].next != TRL_NO_NODE)
            finding(b, "an infinitive inside a noun phrase", word(b, c));
        if (is(b, c, "EX") && count_children(b, i, NULL) > 1)
            finding(b, "'there' is not alone", word(b, c));
        if (is(b, c, "POS") && b->tree.node[c].next != TRL_NO_NODE)
            finding(b, "a possessive that does not end its noun phrase", word(b, c));
        if (is(b, c, VERBS) && !is(b, c, "VBN VBG"))
            finding(b, "a verb in a noun phrase", word(b, c));
        if (!is(b, c, "S"))
            head = c;
    }
    if (determiners > 1)
        finding(b, "two determiners", word(b, i));
    if (!is(b, head, NOUNS " PRP DT CD EX POS QP JJ JJR JJS RB"))
        finding(b, "a noun phrase without a head", word(b, head));
}

static void check_phrase(treebank *b, uint32_t i)
{
    const trl_node *node = b->tree.node;
    const uint32_t first = node[i].child;
    if (!is(b, i, CLAUSES " " PHRASES) && i > 0)
        finding(b, "no such phrase", label(b, i));
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++)
        if (is(b, i, heads[k][0]) && count_children(b, i, heads[k][1]) == 0)
            finding(b, "a phrase without what makes it one", label(b, i));
    if (node[first].next == TRL_NO_NODE && node[first].label == node[i].label)
        finding(b, "a phrase that only holds another of its kind", label(b, i));
    if (is(b, i, "NP") && count_children(b, i, "NP") == 0)
        check_base_np(b, i);
    if (count_children(b, i, "POS") && !is(b, node[i].parent, "NP"))
        finding(b, "a possessive that possesses nothing", word(b, i));
}

static void check_phrases(treebank *b)
{
    size_t quotes = 0, parens = 0;
    for (uint32_t i = 0; i < b->tree.n_nodes; i++) {
        if (!is_word(b, i))
            check_phrase(b, i);
        else if (is(b, i, "`` ''") && quotes++ % 2 != is(b, i, "''"))
            finding(b, "quotes do not match", word(b, i));
        else if (is(b, i, "-LRB- -RRB-") && parens++ % 2 != is(b, i, "-RRB-"))
            finding(b, "parentheses do not match", word(b, i));
    }
    if (quotes % 2 || parens % 2)
        finding(b, "a quote or a parenthesis is not closed", b->tree.word[0]);
}

static void test_phrases(void **state)
{
    (void)state;
    for_each_tree(check_phrases);
}

/* ---- entities and documents ------------------------------------------------------------------ */

static size_t entity_findings;

static void finding_in(const trl_rows *rows, const char *what, trl_str at)
{
    print_error("%s:%lu: %s: '%.*s'\n", rows->path, (unsigned long)rows->first_row, what, (int)at.n,
                at.p);
    entity_findings++;
}

/* One name has one type: `types` says which. */
static void check_name(const trl_rows *rows, size_t from, size_t to, trl_strtab *types)
{
    trl_buf name = {0};
    for (size_t i = from; i < to; i++) {
        trl_buf_add(&name, rows->cell[4 * i].p, rows->cell[4 * i].n);
        trl_buf_ch(&name, ' ');
    }
    const size_t n = name.len;
    static const char *const all[] = {"PER", "ORG", "LOC", "TIME"};
    const trl_str tag = rows->cell[4 * from + 3];
    size_t types_seen = 0;
    for (size_t k = 0; k < 4; k++) {
        name.len = n;
        trl_buf_str(&name, all[k]);
        if (in_list((trl_str){tag.p + 2, tag.n - 2}, all[k]))
            trl_strtab_add(types, name.data, name.len);
        types_seen += trl_strtab_find(types, name.data, name.len) != TRL_NO_ID;
    }
    if (types_seen != 1)
        finding_in(rows, "a name of two types, or of none we know", rows->cell[4 * from]);
    trl_buf_fini(&name);
}

static void check_entities(const trl_rows *rows, trl_strtab *types)
{
    for (size_t i = 0; i < rows->n_tokens; i++) {
        const trl_str *cell = rows->cell + 4 * i;
        const bool name = in_list(cell[1], "NNP NNPS"), out = cell[3].p[0] == 'O';
        if (out && name && !in_list(cell[0], UNMARKED))
            finding_in(rows, "a name without a mark", cell[0]);
        if (!out && !name && !in_list(cell[1], "CC IN") &&
            !in_list((trl_str){cell[3].p + 2, cell[3].n - 2}, "TIME"))
            finding_in(rows, "a mark on something that is not a name", cell[0]);
        if (cell[3].p[0] != 'B')
            continue;
        size_t to = i + 1;
        while (to < rows->n_tokens && rows->cell[4 * to + 3].p[0] == 'I')
            to++;
        check_name(rows, i, to, types);
    }
}

/* Reads all sentences of a split (NULL: of all) and says how many there are.  The reader
 * itself compares the words of both files and makes sure that the documents cover the
 * treebank. */
static size_t read_split(const char *split)
{
    char trees[1024], marks[1024], documents[1024];
    snprintf(trees, sizeof trees, "%s", corpus_path("sample.mrg"));
    snprintf(marks, sizeof marks, "%s", corpus_path("sample.entities"));
    snprintf(documents, sizeof documents, "%s", corpus_path("documents.txt"));
    trl_tree_columns_options o = trl_tree_columns_options_default();
    o.treebank = trees;
    o.entities = marks;
    o.documents = split ? documents : NULL;
    o.split = split;
    trl_error err;
    trl_tree_columns *r = NULL;
    trl_strtab types = {0};
    trl_rows rows;
    bool more = true;
    size_t n = 0;
    assert_ok(trl_tree_columns_open(&o, &r, &err));
    for (;; n++) {
        assert_ok(trl_tree_columns_next(r, &rows, &more, &err));
        if (!more)
            break;
        check_entities(&rows, &types);
    }
    trl_tree_columns_free(r);
    trl_strtab_fini(&types);
    return n;
}

static void test_entities_and_documents(void **state)
{
    (void)state;
    entity_findings = 0;
    const size_t all = read_split(NULL), train = read_split("train"), dev = read_split("dev"),
                 test = read_split("test");
    assert_int_equal(entity_findings, 0);
    assert_int_equal(train + dev + test, all);
    assert_true(train >= 4 * dev && dev >= 50 && test >= 50);
}

/* ---- templates ------------------------------------------------------------------------------- */

static void test_templates(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t columns; /* all but the label's */
    } files[] = {{"templates/pos.template", 1},
                 {"templates/chunk.template", 2},
                 {"templates/ner.template", 3}};
    for (size_t k = 0; k < 3; k++) {
        trl_mapped file;
        trl_error err;
        trl_template *t = NULL;
        assert_ok(trl_map_file(corpus_path(files[k].name), &file, &err));
        assert_ok(trl_template_parse(files[k].name, (const char *)file.data, file.size, &t, &err));
        assert_int_equal(trl_template_columns(t), files[k].columns);
        assert_true(trl_template_count(t) > 20);
        trl_template_free(t);
        trl_unmap(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_phrases),
        cmocka_unit_test(test_entities_and_documents),
        cmocka_unit_test(test_templates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
