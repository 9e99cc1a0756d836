/* test_file.c -- files mapped, replaced atomically, or left alone. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static size_t files_in(const char *dir)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void expect_content(const char *path, const void *bytes, size_t n)
{
    trl_error err;
    trl_mapped m;
    assert_ok(trl_map_file(path, &m, &err));
    assert_int_equal(m.size, n);
    if (n)
        assert_memory_equal(m.data, bytes, n);
    else
        assert_null(m.data);
    trl_unmap(&m);
    assert_true(!m.data && m.size == 0);
}

static void put_file(const char *path, const void *bytes, size_t n)
{
    trl_error err;
    trl_writer *w = NULL;
    assert_ok(trl_writer_open(path, &w, &err));
    assert_ok(trl_writer_put(w, bytes, n, &err));
    assert_ok(trl_writer_commit(w, &err));
}

static void test_writer_replaces_or_leaves(void **state)
{
    (void)state;
    trl_error err;
    trl_writer *w = NULL;
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("model"));
    put_file(path, "old", 3);
    expect_content(path, "old", 3);
    assert_int_equal(files_in(folder), 1);

    assert_ok(trl_writer_open(path, &w, &err));
    assert_ok(trl_writer_put(w, "newer", 5, &err));
    expect_content(path, "old", 3); /* not before commit */
    trl_writer_abort(w);
    expect_content(path, "old", 3);
    assert_int_equal(files_in(folder), 1); /* nothing left beside it */
    trl_writer_abort(NULL);

    assert_ok(trl_writer_open(path, &w, &err));
    assert_ok(trl_writer_put(w, "ne", 2, &err));
    assert_ok(trl_writer_put(w, "w", 1, &err));
    assert_int_equal(files_in(folder), 2);
    assert_ok(trl_writer_commit(w, &err));
    expect_content(path, "new", 3);
    assert_int_equal(files_in(folder), 1);

    struct stat sb;
    const mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0666 & ~mask);
    assert_int_equal(remove(path), 0);
}

/* Pieces around and far beyond the writer's buffer, in every order. */
static void test_writer_large(void **state)
{
    (void)state;
    static unsigned char data[5 << 20];
    static const size_t piece[] = {1, (1 << 20) - 1, 7, 1 << 20, 3, 2 << 20, 0, 500000, 40};
    trl_rng rng = trl_rng_seed(53);
    trl_error err;
    trl_writer *w = NULL;
    size_t n = 0;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)trl_rng_u64(&rng);
    assert_ok(trl_writer_open(in_folder("large"), &w, &err));
    for (size_t k = 0; k < sizeof piece / sizeof *piece; n += piece[k++])
        assert_ok(trl_writer_put(w, data + n, piece[k], &err));
    assert_true(n <= sizeof data);
    assert_ok(trl_writer_commit(w, &err));
    expect_content(in_folder("large"), data, n);
    put_file(in_folder("large"), "", 0);
    expect_content(in_folder("large"), "", 0);
    assert_int_equal(remove(in_folder("large")), 0);
}

static void expect_io(trl_status st, const trl_error *err, const char *path)
{
    assert_int_equal(st, TRL_EIO);
    assert_int_equal(err->code, TRL_EIO);
    assert_string_equal(err->path, path);
    assert_true(err->msg[0] != '\0');
}

static void test_file_failures(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_writer *w = NULL;
    trl_mapped m;
    const char *nowhere = in_folder("missing/model");
    expect_io(trl_writer_open(nowhere, &w, &err), &err, nowhere);
    expect_io(trl_map_file(nowhere, &m, &err), &err, nowhere);
    assert_non_null(strstr(err.msg, "No such file"));
    expect_io(trl_map_file(folder, &m, &err), &err, folder); /* a folder is not a file */
    expect_io(trl_writer_open(folder, &w, &err), &err, folder);
    expect_io(trl_writer_open("/proc/model", &w, &err), &err, "/proc/model"); /* nor root */
    if (geteuid() != 0) { /* root may write anywhere */
        assert_int_equal(chmod(folder, 0500), 0);
        const char *locked = in_folder("locked");
        expect_io(trl_writer_open(locked, &w, &err), &err, locked);
        assert_int_equal(chmod(folder, 0700), 0);
    }
    assert_ok(trl_writer_open(in_folder("gone"), &w, &err)); /* the target became a folder */
    assert_int_equal(mkdir(in_folder("gone"), 0700), 0);
    expect_io(trl_writer_commit(w, &err), &err, in_folder("gone"));
    assert_int_equal(rmdir(in_folder("gone")), 0);
    assert_int_equal(files_in(folder), 0);
    put_file("/dev/null", "in place", 8); /* no regular file: no temporary beside it */
}

/* What was read stays what it was when the file is overwritten, cut or gone; a map does not promise
 * it. */
static void test_read_is_private(void **state)
{
    (void)state;
    trl_error err;
    trl_mapped m, old;
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("live"));
    put_file(path, "abcdef", 6);
    assert_ok(trl_read_file(path, &m, &err));
    assert_false(m.mapped);
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    fputs("XXXXXX", f);
    fclose(f);
    assert_memory_equal(m.data, "abcdef", 6);
    assert_int_equal(truncate(path, 0), 0);
    assert_memory_equal(m.data, "abcdef", 6);
    trl_unmap(&m);
    assert_ok(trl_read_file(path, &m, &err));
    assert_true(!m.data && m.size == 0);
    trl_unmap(&m);
    put_file(path, "old", 3);
    assert_ok(trl_map_file(path, &old, &err));
    put_file(path, "new", 3); /* by rename: the map keeps the old file */
    assert_memory_equal(old.data, "old", 3);
    trl_unmap(&old);
    assert_int_equal(remove(path), 0);
}

static void touch(const char *name)
{
    FILE *f = fopen(in_folder(name), "w");
    assert_non_null(f);
    fclose(f);
}

static bool exists(const char *name)
{
    struct stat sb;
    return stat(in_folder(name), &sb) == 0;
}

/* Temporaries without a living writer go, those of others and of this target's other writers stay.
 */
static void test_stale_temporaries(void **state)
{
    (void)state;
    trl_error err;
    trl_writer *one = NULL, *two = NULL;
    char path[128], first[128];
    snprintf(path, sizeof path, "%s", in_folder("model"));
    touch("model.tmp-0123456789ab");
    touch("model.tmp-0123456789aX");
    touch("model2.tmp-0123456789ab");
    assert_ok(trl_writer_open(path, &one, &err));
    snprintf(first, sizeof first, "%s", trl_writer_temporary(one));
    assert_false(exists("model.tmp-0123456789ab"));
    assert_true(exists("model.tmp-0123456789aX"));
    assert_true(exists("model2.tmp-0123456789ab"));
    assert_ok(trl_writer_open(path, &two, &err)); /* does not take the first for dead */
    assert_int_equal(access(first, F_OK), 0);
    assert_string_not_equal(first, trl_writer_temporary(two));
    assert_ok(trl_writer_put(one, "one", 3, &err));
    assert_ok(trl_writer_put(two, "two", 3, &err));
    assert_ok(trl_writer_commit(two, &err));
    assert_ok(trl_writer_commit(one, &err));
    expect_content(path, "one", 3);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(in_folder("model.tmp-0123456789aX")), 0);
    assert_int_equal(remove(in_folder("model2.tmp-0123456789ab")), 0);
}

static void test_writer_follows_links(void **state)
{
    (void)state;
    trl_error err;
    trl_writer *w = NULL;
    char link[128], target[128], loop[128];
    struct stat sb;
    snprintf(link, sizeof link, "%s", in_folder("link"));
    snprintf(target, sizeof target, "%s", in_folder("target"));
    snprintf(loop, sizeof loop, "%s", in_folder("loop"));
    assert_int_equal(symlink("target", link), 0);
    put_file(link, "made", 4); /* the link named nothing yet */
    expect_content(target, "made", 4);
    assert_int_equal(chmod(target, 0604), 0);
    put_file(link, "again", 5);
    expect_content(target, "again", 5);
    assert_int_equal(stat(target, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0604);
    assert_int_equal(lstat(link, &sb), 0);
    assert_true(S_ISLNK(sb.st_mode));
    assert_int_equal(symlink("loop", loop), 0);
    expect_io(trl_writer_open(loop, &w, &err), &err, loop);
    assert_int_equal(remove(link) | remove(target) | remove(loop), 0);
}

static void test_same_file(void **state)
{
    (void)state;
    char a[128], b[128], c[160];
    snprintf(a, sizeof a, "%s", in_folder("a"));
    snprintf(b, sizeof b, "%s", in_folder("b"));
    snprintf(c, sizeof c, "%s/../%s/a", folder, folder + 5);
    assert_true(trl_same_file(a, a)); /* neither exists */
    assert_true(trl_same_file(a, c));
    assert_false(trl_same_file(a, b));
    assert_int_equal(symlink("a", b), 0);
    assert_true(trl_same_file(a, b)); /* a link to nothing */
    touch("a");
    assert_true(trl_same_file(a, b) && trl_same_file(a, c));
    assert_int_equal(remove(b), 0);
    assert_false(trl_same_file(a, b));
    assert_int_equal(link(a, b), 0);
    assert_true(trl_same_file(a, b));
    assert_false(trl_same_file("/dev/null", "/dev/null"));
    assert_false(trl_same_file("-", "-") || trl_same_file(NULL, a) || trl_same_file(a, NULL));
    assert_int_equal(remove(a) | remove(b), 0);
}

/* mkdtemp leaves an empty folder; rmdir at the end fails when a test left a file. */
static int folder_make(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/trl-test-base-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writer_replaces_or_leaves),
        cmocka_unit_test(test_writer_large),
        cmocka_unit_test(test_file_failures),
        cmocka_unit_test(test_read_is_private),
        cmocka_unit_test(test_stale_temporaries),
        cmocka_unit_test(test_writer_follows_links),
        cmocka_unit_test(test_same_file),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
