/* test_clusters.c -- files of clusters: reading, refusing, storing in a model; and from a text
 * to such a file and back. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "base/mem.h"
#include "model/clusters_io.h"

static trl_status read_text(const char *text, trl_cluster_format format, size_t prefix,
                            trl_clusters **out, trl_error *err)
{
    trl_input *in = NULL;
    assert_int_equal(trl_input_memory("clusters", text, strlen(text), &in, NULL), TRL_OK);
    const trl_status st = trl_clusters_read(in, format, prefix, out, err);
    trl_input_free(in);
    return st;
}

static void assert_cluster(const trl_clusters *c, const char *word, uint32_t id, const char *name)
{
    assert_int_equal(trl_clusters_find(c, word, strlen(word)), id);
    const trl_str s = trl_clusters_name(c, id);
    assert_int_equal(s.n, strlen(name));
    assert_memory_equal(s.p, name, s.n);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void test_brown(void **state)
{
    (void)state;
    trl_error err;
    trl_clusters *c = NULL;
    assert_ok(read_text("001\tthe\t12\n001\ta b\t3\n\n01\tcat\t1\r\n1\t\xc3\xa9\t0\n",
                        TRL_CLUSTERS_GUESS, 0, &c, &err));
    assert_int_equal(trl_clusters_count(c), 3);
    assert_int_equal(trl_clusters_words(c), 4);
    assert_cluster(c, "the", 1, "001");
    assert_cluster(c, "a b", 1, "001");
    assert_cluster(c, "cat", 2, "01");
    assert_cluster(c, "\xc3\xa9", 3, "1");
    assert_cluster(c, "dog", 0, "");
    assert_cluster(c, "", 0, "");
    assert_int_equal(trl_clusters_name(c, 4).n, 0);
    uint32_t id;
    const trl_str w = trl_clusters_word(c, 2, &id);
    assert_true(w.n == 3 && memcmp(w.p, "cat", 3) == 0 && id == 2);
    trl_clusters_free(c);

    assert_ok(read_text("0010\tx\n0011\ty\n01\tz\n0\tu\n", TRL_CLUSTERS_GUESS, 2, &c, &err));
    assert_int_equal(trl_clusters_count(c), 3);
    assert_cluster(c, "x", 1, "00");
    assert_cluster(c, "y", 1, "00");
    assert_cluster(c, "z", 2, "01");
    assert_cluster(c, "u", 3, "0");
    trl_clusters_free(c);
}

static void test_clark(void **state)
{
    (void)state;
    trl_error err;
    trl_clusters *c = NULL;
    assert_ok(read_text("the 7 0.25\n\ncat  noun\t1e-3\n10 7\n", TRL_CLUSTERS_GUESS, 0, &c, &err));
    assert_int_equal(trl_clusters_count(c), 2);
    assert_cluster(c, "the", 1, "7");
    assert_cluster(c, "cat", 2, "noun");
    assert_cluster(c, "10", 1, "7");
    trl_clusters_free(c);

    /* a word of 0 and 1, but the third field is not a count; and the same, stated outright */
    assert_ok(read_text("10\t5\t0.5\n11\t5\t0.5\n", TRL_CLUSTERS_GUESS, 0, &c, &err));
    assert_cluster(c, "10", 1, "5");
    trl_clusters_free(c);
    assert_ok(read_text("10\t5\n11\t5\n", TRL_CLUSTERS_CLARK, 0, &c, &err));
    assert_cluster(c, "11", 1, "5");
    trl_clusters_free(c);
    assert_ok(read_text("10\t5\n11\t6\n", TRL_CLUSTERS_BROWN, 0, &c, &err));
    assert_cluster(c, "6", 2, "11");
    trl_clusters_free(c);
}

static void test_twice(void **state)
{
    (void)state;
    trl_error err;
    trl_clusters *c = NULL;
    assert_ok(read_text("00\tx\t1\n01\ty\t1\n00\tx\t2\n", TRL_CLUSTERS_GUESS, 0, &c, &err));
    assert_int_equal(trl_clusters_words(c), 2);
    trl_clusters_free(c);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        trl_cluster_format format;
        size_t prefix;
        trl_status code;
        uint64_t row, col;
    } cases[] = {
        {"", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 0, 0},
        {"\n \t\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 0, 0},
        {"word\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 1, 5},
        {"w 1 0.5 x\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 1, 9},
        {"w 1 half\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 1, 5},
        {"w 1\nv 2\nw 2\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 3, 1},
        {"w 1\n", TRL_CLUSTERS_GUESS, 4, TRL_EINVAL, 1, 0},
        {"01\tw\t1\n01x\tv\t1\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 2, 3},
        {"01\tw\t1\n\tv\t1\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 2, 1},
        {"01\tw\t1\n01\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 2, 3},
        {"01\tw\t1\n01\t\t1\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 2, 4},
        {"01\tw\t1\n01\tv\t1x\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 2, 7},
        {"01\tw\t1\n01\tv\t\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 2, 6},
        {"01\tw\t1\n01\tv\t1\t2\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 2, 8},
        {"01\tw\t1\n00\tw\t1\n", TRL_CLUSTERS_GUESS, 0, TRL_EPARSE, 2, 4},
        {"w 1\n", TRL_CLUSTERS_BROWN, 0, TRL_EPARSE, 1, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        trl_clusters *c = NULL;
        trl_error err = {0};
        const trl_status st = read_text(cases[k].text, cases[k].format, cases[k].prefix, &c, &err);
        if (st != cases[k].code || (cases[k].row && err.row != cases[k].row) ||
            err.col != cases[k].col || !err.msg[0] || strcmp(err.path, "clusters") != 0)
            fail_msg("case %zu: status %d at %s:%d:%d: %s", k, (int)st, err.path, (int)err.row,
                     (int)err.col, err.msg);
        assert_null(c);
    }
    trl_clusters *c = NULL;
    trl_error err = {0};
    assert_int_equal(trl_clusters_open("/no/such/file", TRL_CLUSTERS_GUESS, 0, &c, &err), TRL_EIO);
}

static void test_bllip(void **state)
{
    (void)state;
    const char *dir = test_folder("TRELLIS_DATA", "../shared/data");
    trl_error err;
    trl_clusters *c = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s/clusters/bllip-clusters.txt", dir);
    assert_ok(trl_clusters_open(path, TRL_CLUSTERS_GUESS, 0, &c, &err));
    assert_int_equal(trl_clusters_words(c), 316710);
    assert_int_equal(trl_clusters_count(c), 1000);
    assert_int_equal(trl_clusters_find(c, "past", 4), 1000);
    trl_clusters_free(c);
}

/* ---- in a model ----------------------------------------------------------------------------- */

static const char stored[] = "00\tx\t1\n01\ty\t1\n00\tz\t2\n1\tu v\t2\n";

static trl_status store(const trl_clusters *c, const uint32_t *id, size_t n_id, trl_container **out,
                        unsigned char **bytes)
{
    trl_container_builder b = {0};
    size_t size;
    trl_error err;
    trl_clusters copy = *c;
    uint32_t ids[8];
    memcpy(ids, id, n_id * sizeof *id);
    copy.id = ids;
    assert_ok(trl_clusters_save(&copy, &b, &err));
    b.section[b.n - 1].size = n_id * sizeof *id;
    assert_ok(trl_container_to_buffer(&b, "test", bytes, &size, &err));
    trl_container_builder_fini(&b);
    return trl_container_from_memory(*bytes, size, "test", out, &err);
}

static void test_stored(void **state)
{
    (void)state;
    static const struct {
        uint32_t id[5];
        size_t n;
        trl_status code;
    } cases[] = {
        {{1, 2, 1, 3}, 4, TRL_OK},     {{1, 2, 1, 4}, 4, TRL_EMODEL},
        {{1, 0, 1, 3}, 4, TRL_EMODEL}, {{1, 2, 1, 3, 1}, 5, TRL_EMODEL},
        {{1, 2, 1}, 3, TRL_EMODEL},
    };
    trl_error err;
    trl_clusters *c = NULL;
    assert_ok(read_text(stored, TRL_CLUSTERS_GUESS, 0, &c, &err));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        trl_container *box = NULL;
        unsigned char *bytes = NULL;
        trl_cluster_view v = {.id = NULL};
        assert_int_equal(store(c, cases[k].id, cases[k].n, &box, &bytes), TRL_OK);
        assert_true(trl_clusters_stored(box));
        assert_int_equal(trl_cluster_view_load(box, &v, &err), cases[k].code);
        if (cases[k].code == TRL_OK) {
            const trl_cluster_view own = trl_clusters_view(c);
            static const char *const words[] = {"x", "y", "z", "u v", "", "w", "xx"};
            for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
                const size_t n = strlen(words[i]);
                const uint32_t id = trl_clusters_find(c, words[i], n);
                assert_int_equal(trl_cluster_view_find(&v, words[i], n), id);
                assert_int_equal(trl_cluster_view_find(&own, words[i], n), id);
            }
            assert_int_equal(trl_strview_get(&v.name, 1).n, 2);
        } else {
            assert_null(v.id);
        }
        trl_container_free(box);
        trl_free(bytes);
    }
    trl_clusters_free(c);
    trl_container_builder none = {0};
    unsigned char *bytes = NULL;
    size_t size;
    trl_container *box = NULL;
    trl_cluster_view v;
    assert_ok(trl_container_to_buffer(&none, "test", &bytes, &size, &err));
    assert_ok(trl_container_from_memory(bytes, size, "test", &box, &err));
    assert_false(trl_clusters_stored(box));
    assert_int_equal(trl_cluster_view_load(box, &v, &err), TRL_EMODEL);
    trl_container_free(box);
    trl_free(bytes);
}

/* ---- from a text ---------------------------------------------------------------------------- */

static char folder[] = "/tmp/trellis-clusters-XXXXXX";

static const char *place(const char *name)
{
    static char path[4][128];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void put_file(const char *name, const char *text)
{
    FILE *f = fopen(place(name), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void get_file(const char *name, char *text, size_t cap)
{
    FILE *f = fopen(place(name), "r");
    assert_non_null(f);
    text[fread(text, 1, cap - 1, f)] = '\0';
    fclose(f);
}

static trl_status cluster(const char *text, trl_cluster_options *o, trl_cluster_result *r,
                          trl_error *err)
{
    const char *paths[1] = {place("text")};
    put_file("text", text);
    o->text = paths;
    o->n_text = 1;
    o->output = place("out");
    unlink(o->output);
    return trl_cluster(o, r, err);
}

static void test_from_text(void **state)
{
    (void)state;
    static const char forward[] =
        "so the cat sleeps .\nso a dog sleeps .\nso the dog barks .\nso a cat barks .\n"
        "\nalone\n  so the\tcat  barks . \n";
    static const char backward[] = "so a cat barks .\nso the cat barks .\nso the dog barks .\n"
                                   "so a dog sleeps .\nalone\nso the cat sleeps .";
    static const char columns[] =
        "1 so\n2 the\n3 cat\n4 sleeps\n5 .\n\n1 so\n2 a\n3 dog\n4 sleeps\n5 .\n\n"
        "1 so\n2 the\n3 dog\n4 barks\n5 .\n\n1 so\n2 a\n3 cat\n4 barks\n5 .\n\n"
        "1 alone\n\n1 so\n2 the\n3 cat\n4 barks\n5 .\n";
    trl_error err;
    trl_cluster_result r;
    trl_cluster_options o = trl_cluster_options_default();
    char first[512], second[512];
    o.clusters = 6;
    assert_ok(cluster(forward, &o, &r, &err));
    assert_true(r.sentences == 6 && r.tokens == 26 && r.words == 9 && r.left_out == 0);
    assert_true(r.pairs == 32 && r.clusters == 6);
    get_file("out", first, sizeof first);
    trl_clusters *c = NULL;
    assert_ok(trl_clusters_open(place("out"), TRL_CLUSTERS_GUESS, 0, &c, &err));
    assert_int_equal(trl_clusters_count(c), 6);
    assert_int_equal(trl_clusters_words(c), 9);
    static const char *const alike[][2] = {{"the", "a"}, {"cat", "dog"}, {"sleeps", "barks"}};
    for (size_t k = 0; k < 3; k++) {
        const uint32_t id = trl_clusters_find(c, alike[k][0], strlen(alike[k][0]));
        assert_true(id > 0);
        assert_int_equal(id, trl_clusters_find(c, alike[k][1], strlen(alike[k][1])));
    }
    assert_int_equal(trl_clusters_find(c, "nobody", 6), 0);
    trl_clusters_free(c);

    assert_ok(cluster(backward, &o, &r, &err));
    get_file("out", second, sizeof second);
    assert_string_equal(first, second);
    o.columns = true;
    o.column = 2;
    assert_ok(cluster(columns, &o, &r, &err));
    get_file("out", second, sizeof second);
    assert_string_equal(first, second);

    o.columns = false;
    o.min_count = 3;
    assert_ok(cluster(forward, &o, &r, &err));
    assert_true(r.words == 5 && r.left_out == 4); /* so, the, cat, barks, . */
    get_file("out", second, sizeof second);
    assert_non_null(strstr(second, "cat\t3\n"));
    assert_null(strstr(second, "dog"));
}

static bool stop(void *ctx, const trl_cluster_progress *p)
{
    (void)ctx;
    return strcmp(p->stage, "read") == 0;
}

static void test_from_bad_text(void **state)
{
    (void)state;
    trl_cluster_result r;
    trl_error err = {0};
    trl_cluster_options o = trl_cluster_options_default();
    assert_int_equal(cluster("", &o, &r, &err), TRL_EINVAL);
    assert_int_equal(cluster("a\nb\n", &o, &r, &err), TRL_EINVAL);
    o.columns = true;
    assert_int_equal(cluster("a b\nc\n", &o, &r, &err), TRL_EPARSE);
    assert_true(err.row == 2);
    o.column = 3;
    assert_int_equal(cluster("\na b\n", &o, &r, &err), TRL_EPARSE);
    assert_true(err.row == 2);
    o.column = 0;
    assert_int_equal(cluster("a b\n", &o, &r, &err), TRL_EINVAL);
    o.columns = false;
    o.clusters = 0;
    assert_int_equal(cluster("a b\n", &o, &r, &err), TRL_EINVAL);
    o.clusters = 5;
    o.min_count = 2;
    err.hint[0] = '\0';
    assert_int_equal(cluster("a b\n", &o, &r, &err), TRL_EINVAL);
    assert_true(err.hint[0]);
    o.min_count = 1;
    o.progress = stop;
    assert_int_equal(cluster("a b\n", &o, &r, &err), TRL_ECANCEL);
    assert_int_not_equal(access(place("out"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brown),     cmocka_unit_test(test_clark),
        cmocka_unit_test(test_twice),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bllip),     cmocka_unit_test(test_stored),
        cmocka_unit_test(test_from_text), cmocka_unit_test(test_from_bad_text),
    };
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
