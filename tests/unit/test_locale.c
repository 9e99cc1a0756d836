/* test_locale.c -- a host program's locale changes neither what is written nor what is read. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <locale.h>

#include "train_setup.h"
#include "base/buf.h"
#include "base/format.h"
#include "trellis/model.h"
#include "trellis/parser.h"

/* Makes and sets a locale whose decimal point is a comma; localedef needs no other package for it,
 * and warns of all that the locale does not define. */
static bool set_comma_locale(void)
{
    char command[1200];
    const char *source = write_file("comma.src", "LC_NUMERIC\n"
                                                 "decimal_point \"<U002C>\"\n"
                                                 "thousands_sep \"\"\n"
                                                 "grouping -1\n"
                                                 "END LC_NUMERIC\n");
    snprintf(command, sizeof command,
             "localedef -c -i %s -f ANSI_X3.4-1968 %s/xx_XX >/dev/null 2>&1; exit 0", source,
             folder);
    return system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
           setlocale(LC_NUMERIC, "xx_XX") != NULL &&
           localeconv()->decimal_point[0] == ','; /* musl takes any name and keeps the point */
}

static void remove_locale(void)
{
    char command[700];
    setlocale(LC_ALL, "C");
    snprintf(command, sizeof command, "rm -rf %s/xx_XX", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(remove(in_folder("comma.src")), 0);
}

static trl_status put(void *ctx, const char *text, size_t n, trl_error *err)
{
    (void)err;
    return trl_buf_add(ctx, text, n) ? TRL_OK : TRL_ENOMEM;
}

static const char trees[] = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n"
                            "(S (NP (DT a) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))))\n"
                            "(S (NP (NN dog)) (VP (VBZ sees)))\n";

/* Trains a tagger and a parser; the bytes of both files, and the tagger's dump, into *out. */
static void train_both(const char *data, const char *bank, trl_buf *out)
{
    trl_error err = {0};
    trl_mapped bytes;
    trl_model *m = NULL;
    trl_train_options o = trl_train_options_default();
    o.train = &data;
    o.n_train = 1;
    o.template_text = template_text;
    o.template_size = strlen(template_text);
    o.c2 = 0.123456789;
    o.max_iter = 5;
    o.threads = 1;
    o.model = in_folder("tagger");
    assert_ok(trl_train(&o, NULL, &err));
    assert_ok(trl_read_file(o.model, &bytes, &err));
    trl_buf_add(out, bytes.data, bytes.size);
    trl_unmap(&bytes);
    assert_ok(trl_model_open(o.model, &m, &err));
    assert_ok(trl_model_dump(m, put, out, &err));
    assert_ok(trl_model_dump_top(m, 3, put, out, &err));
    trl_model_free(m);
    o = trl_train_options_default();
    o.kind = "tree";
    o.train = &bank;
    o.n_train = 1;
    o.clusters = "none";
    o.objective = "pt-cfg";
    o.nota = "score:2.5@1";
    o.c2 = 0.123456789;
    o.max_iter = 3;
    o.threads = 1;
    o.model = in_folder("parser");
    assert_ok(trl_train(&o, NULL, &err));
    assert_ok(trl_read_file(o.model, &bytes, &err));
    trl_buf_add(out, bytes.data, bytes.size);
    trl_unmap(&bytes);
    assert_int_equal(remove(in_folder("tagger")) | remove(in_folder("parser")), 0);
}

static void test_same_bytes(void **state)
{
    (void)state;
    trl_buf plain = {0}, comma = {0};
    char data[128], bank[128];
    snprintf(data, sizeof data, "%s", write_columns("data", 3, 20));
    snprintf(bank, sizeof bank, "%s", write_file("bank", trees));
    char text[40];
    train_both(data, bank, &plain);
    if (!set_comma_locale()) {
        remove_locale();
        remove(data);
        remove(bank);
        trl_buf_fini(&plain);
        print_message("no locale with a decimal comma, and localedef makes none\n");
        skip();
    }
    snprintf(text, sizeof text, "%.2f", 0.5);
    assert_string_equal(text, "0,50"); /* the test is able to fail */
    trl_snprintf(text, sizeof text, "%.2f %s", 0.5, "x");
    assert_string_equal(text, "0.50 x");
    train_both(data, bank, &comma);
    trl_error err = {0};
    trl_parse_options p = trl_parse_options_default();
    p.lambda = 1.5;
    trl_parser *parser = NULL;
    const trl_status st =
        trl_parser_new((const trl_parse_model *)&p, &p, &parser, &err); /* refused before use */
    remove_locale();
    assert_int_equal(st, TRL_EINVAL);
    assert_non_null(strstr(err.msg, "1.5"));
    assert_int_equal(plain.len, comma.len);
    assert_memory_equal(plain.data, comma.data, plain.len);
    trl_buf_fini(&plain);
    trl_buf_fini(&comma);
    assert_int_equal(remove(data) | remove(bank), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-locale-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return rmdir(folder) != 0 || failed;
}
