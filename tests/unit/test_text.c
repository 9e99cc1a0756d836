/* test_text.c -- tokens of many scripts, sentences, marks, columns, and that no byte is lost. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"
#include "text/unicode.h"
#include "text/utf8.h"
#include "trellis/text.h"

static trl_error err;

/* Tokens with a blank between them, sentences with " / "; checks that nothing is lost. */
static void cut(const char *bytes, trl_token_options o, trl_buf *out)
{
    trl_tokenizer *t = NULL;
    const trl_token *token;
    size_t n, at = 0, lines = 0;
    const trl_str text = {bytes, strlen(bytes)};
    assert_ok(trl_tokenizer_new(&o, &t, &err));
    assert_ok(trl_tokenize(t, text, &token, &n, &err));
    for (size_t i = 0; i < n; i++) {
        assert_true(token[i].begin >= at && token[i].end > token[i].begin);
        for (uint32_t code; at < token[i].begin; lines += code == '\n') {
            at += trl_utf8_next(bytes + at, text.n - at, &code);
            assert_int_equal(trl_char_class_of(code), TRL_CHAR_BLANK);
        }
        assert_int_equal(token[i].line, lines);
        trl_buf_str(out, i == 0 ? "" : token[i].starts_sentence ? " / " : " ");
        trl_buf_add(out, bytes + token[i].begin, token[i].end - token[i].begin);
        at = token[i].end;
    }
    for (uint32_t code; at < text.n; at += trl_utf8_next(bytes + at, text.n - at, &code))
        assert_true(strchr(" \n\t", bytes[at]));
    trl_buf_ch(out, '\0');
    trl_tokenizer_free(t);
}

static void expect_as(const char *text, trl_token_options o, const char *want)
{
    trl_buf out = {0};
    cut(text, o, &out);
    assert_string_equal(out.data, want);
    trl_buf_fini(&out);
}

static void expect(const char *text, const char *want)
{
    expect_as(text, (trl_token_options){0}, want);
}

static void test_english(void **state)
{
    (void)state;
    expect("Hello, world!", "Hello , world !");
    expect("Don't; he's John's. I'd can't'", "Do n't ; he 's John 's . / I 'd ca n't '");
    expect("well-known F-16 AT&T O'Brien rock'n'roll", "well-known F-16 AT&T O'Brien rock'n'roll");
    expect("l'homme qu'il dell'arte d’Arc", "l' homme qu' il dell' arte d’ Arc");
    expect("(see \"this\")[2]", "( see \" this \" ) [ 2 ]");
    expect("wait... what?! ---- ==== **x**", "wait ... what ?! / ---- ==== ** x **");
    expect("and/or w/o n/a", "and / or w/o n/a");
    expect("``quoted''", "`` quoted ''");
    expect("snake_case __init__", "snake_case __ init__");
    expect("", "");
    expect(" \n\t ", "");
}

static void test_numbers(void **state)
{
    (void)state;
    expect("$1,000.50 50% 3,5 -18 (+3) 5-3", "$ 1,000.50 50 % 3,5 -18 ( +3 ) 5-3");
    expect("3:30-5:00 3pm-5pm 3:30pm 13-Apr-94 10/12/94",
           "3:30 - 5:00 3pm - 5pm 3:30pm 13-Apr-94 10/12/94");
    expect("412-268-2144 1994-10-12 4-5:30", "412-268-2144 1994-10-12 4 - 5:30");
    expect("4th 90s H2O 2.7.3 x2", "4th 90s H2O 2.7.3 x2");
    expect("٣٫١٤ १२३ ½", "٣٫١٤ १२३ ½");
}

static void test_links(void **state)
{
    (void)state;
    expect("See http://x.org/a(b), www.y.de/?q=1.", "See http://x.org/a(b) , www.y.de/?q=1 .");
    expect("(http://x.org/a).", "( http://x.org/a ) .");
    expect("<anna+x@mail.example.org>", "< anna+x@mail.example.org >");
    expect("@anna #topic_2 C# a@ @@x", "@anna #topic_2 C # a @ @ @ x");
    expect("cmu.andrew.org end.Next U.S.A", "cmu.andrew.org end . Next U.S.A");
    expect("见http://x.jp/a。次 https://x", "见 http://x.jp/a 。 / 次 https://x");
}

static void test_sentences(void **state)
{
    (void)state;
    expect("Dr. Berg came. She sat.", "Dr. Berg came . / She sat .");
    expect("At 5 p.m. The bus left. At 5 p.m. Berg left.",
           "At 5 p.m. / The bus left . / At 5 p.m. Berg left .");
    expect("J. R. Smith of the U.S. Army.", "J. R. Smith of the U.S. Army .");
    expect("He said \"Go!\" Then he (Anna.) went.",
           "He said \" Go ! \" / Then he ( Anna . ) went .");
    expect("No. 5 is no. It is.", "No. 5 is no . / It is .");
    expect("one two\nthree\n \nfour", "one two three / four");
    expect("e.g. this, i.e. that etc. and more", "e.g. this , i.e. that etc. and more");
    expect("3.5 is. 4 was", "3.5 is . / 4 was");
    const trl_token_options fine = {TRL_GRAIN_FINE, TRL_SENTENCES_SPLIT};
    expect_as("Dr. Berg, 5 p.m. today. Go!", fine, "Dr . Berg , 5 p . m . today . / Go !");
    const trl_token_options lines = {TRL_GRAIN_WORDS, TRL_SENTENCES_LINES};
    expect_as("a. B\nc\n\nd", lines, "a . B / c / d");
    const trl_token_options whole = {TRL_GRAIN_WORDS, TRL_SENTENCES_WHOLE};
    expect_as("A. Bc.\n\nDe.", whole, "A. Bc . De .");
}

static void test_scripts(void **state)
{
    (void)state;
    expect("Москва — столица. Она велика!", "Москва — столица . / Она велика !");
    expect("т.е. проф. Иванов, ул. Мира", "т.е. проф. Иванов , ул. Мира");
    expect("Η Αθήνα είναι εδώ; Ναι.", "Η Αθήνα είναι εδώ ; Ναι .");
    expect("مرحبا، كيف حالك؟ بخير.", "مرحبا ، كيف حالك ؟ / بخير .");
    expect("नमस्ते दुनिया। यह है।", "नमस्ते दुनिया । / यह है ।");
    expect("我住在北京。你呢？", "我 住 在 北 京 。 / 你 呢 ？");
    expect("私はカメラです。", "私 は カメラ で す 。");
    expect("한국어 문장. 좋다.", "한국어 문장 . / 좋다 .");
    expect("สวัสดีชาวโลก ครับ", "สวัสดีชาวโลก ครับ"); /* runs: words need a dictionary */
    expect("cafe\xcc\x81 na\xc3\xafve", "cafe\xcc\x81 na\xc3\xafve");
    expect("«Bonjour», dit-il.", "« Bonjour » , dit-il .");
    expect("¿Qué? ¡Sí!", "¿ Qué ? / ¡ Sí !");
}

static void test_pictographs(void **state)
{
    (void)state;
    expect("hi👋🏽you 👩‍👩‍👧 🇩🇪🇫🇷",
           "hi 👋🏽 you 👩‍👩‍👧 🇩🇪 🇫🇷");
    expect("❤️x 1️⃣ €5 ½", "❤️ x 1️⃣ € 5 ½");
    expect_as("👋🏽a_b'c", (trl_token_options){.grain = TRL_GRAIN_FINE}, "👋🏽 a_b ' c");
    expect("\xef\xbb\xbfx", "x"); /* a byte order mark */
}

static void test_no_text(void **state)
{
    (void)state;
    trl_tokenizer *t = NULL;
    const trl_token *token;
    size_t n;
    assert_ok(trl_tokenizer_new(NULL, &t, &err));
    assert_ok(trl_tokenize(t,
                           (trl_str){"a\xff"
                                     "b\0\xe2\x82",
                                     6},
                           &token, &n, &err));
    assert_int_equal(n, 6);
    assert_int_equal(token[1].kind, TRL_TOKEN_SYMBOL);
    assert_int_equal(trl_tokenize(t, (trl_str){NULL, 1}, &token, &n, &err), TRL_EINVAL);
    trl_tokenizer_free(t);
    const trl_token_options wrong = {.grain = (trl_grain)9};
    assert_int_equal(trl_tokenizer_new(&wrong, &t, &err), TRL_EINVAL);
}

static void test_unicode(void **state)
{
    (void)state;
    assert_int_equal(trl_char_lower('A'), 'a');
    assert_int_equal(trl_char_lower(0x0410), 0x0430);
    assert_int_equal(trl_char_lower(0x0100), 0x0101); /* pairs */
    assert_int_equal(trl_char_lower(0x0101), 0x0101);
    assert_int_equal(trl_char_lower(0x0130), 0x0130); /* two characters: left */
    assert_int_equal(trl_char_lower(0x10400), 0x10428);
    assert_int_equal(trl_char_lower(0x10ffff), 0x10ffff);
    assert_int_equal(trl_char_class_of(0x01c5), TRL_CHAR_UPPER); /* title case */
    assert_int_equal(trl_char_class_of(0x0139), TRL_CHAR_UPPER);
    assert_int_equal(trl_char_class_of(0x013a), TRL_CHAR_LOWER);
    assert_int_equal(trl_char_class_of(0x5317), TRL_CHAR_IDEOGRAPH);
    assert_int_equal(trl_char_class_of(0x30ab), TRL_CHAR_LETTER);
    assert_int_equal(trl_char_class_of(0x0301), TRL_CHAR_MARK);
    assert_int_equal(trl_char_class_of(0xa0), TRL_CHAR_BLANK);
    assert_int_equal(trl_char_class_of(0x20ac), TRL_CHAR_SYMBOL);
    assert_int_equal(trl_char_class_of(0x10ffff), TRL_CHAR_OTHER);
}

/* ---- documents ------------------------------------------------------------------------------- */

/* "cell cell|cell cell/..." */
static trl_status read_text(const char *bytes, const trl_text_options *o, trl_buf *out)
{
    trl_text_reader *r = NULL;
    trl_status st = trl_text_reader_memory("in", bytes, strlen(bytes), o, &r, &err);
    for (bool more = true; st == TRL_OK && more;) {
        trl_text_rows seq;
        st = trl_text_reader_next(r, &seq, &more, &err);
        for (size_t i = 0; st == TRL_OK && i < seq.rows.n_tokens * seq.rows.n_columns; i++) {
            const trl_str s = seq.rows.cell[i];
            trl_buf_str(out, i % seq.rows.n_columns ? " " : i ? "|" : out->len ? "/" : "");
            trl_buf_add(out, s.p, s.n);
        }
    }
    trl_text_reader_free(r);
    trl_buf_ch(out, '\0');
    return st;
}

static void expect_rows(const char *text, const trl_text_options *o, const char *want)
{
    trl_buf out = {0};
    assert_ok(read_text(text, o, &out));
    assert_string_equal(out.data, want);
    trl_buf_fini(&out);
}

static void expect_fault(const char *text, const trl_text_options *o, uint64_t row, uint64_t col,
                         const char *what)
{
    trl_buf out = {0};
    assert_int_equal(read_text(text, o, &out), row ? TRL_EPARSE : TRL_EINVAL);
    assert_int_equal(err.row, row);
    assert_int_equal(err.col, col);
    assert_non_null(strstr(err.msg, what));
    trl_buf_fini(&out);
}

static void test_marks(void **state)
{
    (void)state;
    const trl_text_options marks = {.marks = true};
    expect_rows("<speaker>Anna Berg</speaker> at <stime>5</stime>.\n", &marks,
                "Anna B-speaker|Berg I-speaker|at O|5 B-stime|. O");
    expect_rows("<sentence>in <loc>DH 2</sentence></loc>. <paragraph>x", &marks, /* they cross */
                "in O|DH B-loc|2 I-loc|. O|x O");
    expect_rows("<stime>5:00 p.m</stime>. <x@y> a<b 1<2 <> </ <1>", &marks,
                "5:00 B-stime|p.m. I-stime|< O|x@y O|> O|a O|< O|b O|1 O|< O|2 O|< O|> O|< O|/ "
                "O|< O|1 O|> O");
    expect_rows("a<n>\n</n>b <n></n>", &marks, "a O|b O");
    expect_rows("I met <per>J. Doe. Jr</per>. Hi", &marks,
                "I O|met O|J. B-per|Doe I-per|. I-per|Jr. I-per|Hi O");
    const trl_text_options some = {.marks = true, .labels = "b", .ignored = ""};
    expect_rows("<a><b>x</b>", &some, "< O|a O|> O|x B-b");
    const trl_text_options layers = {.marks = true, .labels = "a,b", .layers = true};
    expect_rows("<a>x <b>y</a> z</b> w", &layers, "x B-a O|y I-a B-b|z O I-b|w O O");
    expect_fault("ok\n <a>x", &marks, 2, 2, "<a> is not closed");
    expect_fault("<a>x <a>y</a>", &marks, 1, 1, "not closed before the next");
    expect_fault("x</a>", &marks, 1, 2, "</a> closes what was not opened");
    expect_fault("<a>x <b>y</a> z</b>", &marks, 1, 6, "overlaps");
    expect_fault("a\nb\xff", &marks, 2, 2, "not UTF-8");
    expect_fault("a", &(trl_text_options){.columns = "word,sort"}, 0, 0, "no column 'sort'");
    expect_fault("a", &(trl_text_options){.columns = "word,"}, 0, 0, "empty name");
    expect_fault("a", &(trl_text_options){.layers = true}, 0, 0, "layers");
}

static void test_columns_of_text(void **state)
{
    (void)state;
    expect_rows("ÉTÉ McX a1-B é北", &(trl_text_options){.columns = "lower,shape,case"},
                "été X upper|mcx XxX mixed|a1-b xd-X mixed|é x lower|北 c uncased");
    expect_rows("Time: 3:30 - 5 pm\nnoon 7:61 12:00:00 x",
                &(trl_text_options){.columns = "word,line,field,time"},
                "Time first time -|: inner time -|3:30 inner time start|- inner time -|5 inner "
                "time end|pm last time end|noon first - time|7:61 inner - -|12:00:00 inner - -|x "
                "last - -");
    const trl_text_options fine = {.tokens = {.grain = TRL_GRAIN_FINE}, .columns = "word,time"};
    expect_rows("3:30 p.m. x", &fine, "3 time|: time|30 time|p time|. time|m time|. time|x -");
    expect_rows("Fri. 13-Apr-94 May 10/12 may 1-2", &(trl_text_options){.columns = "word,date"},
                "Fri. day|13-Apr-94 date|May month|10/12 date|may -|1-2 -");
    expect_rows("by Dr. Anna B. Berg, Big City", &(trl_text_options){.columns = "word,name,kind"},
                "by - word|Dr. title abbreviation|Anna name word|B. name abbreviation|Berg name "
                "word|, - punctuation|Big - word|City - word");
}

static void test_column_of_word(void **state)
{
    (void)state;
    static const char *const names[] = {"word", "lower", "shape", "case"};
    trl_buf out = {0};
    for (size_t k = 0; k < 4; k++) {
        assert_ok(trl_text_column_of(names[k], (trl_str){"McX-2", 5}, &out, &err));
        assert_ok(trl_text_column_of(names[k], (trl_str){"", 0}, &out, &err));
        trl_buf_ch(&out, ' ');
    }
    trl_buf_ch(&out, '\0');
    assert_string_equal(out.data, "McX-2 mcx-2 XxX-d mixednone ");
    assert_int_equal(trl_text_column_of("line", (trl_str){"a", 1}, &out, &err), TRL_EINVAL);
    assert_int_equal(trl_text_column_of("x", (trl_str){"a", 1}, &out, &err), TRL_EINVAL);
    trl_buf_fini(&out);
}

/* A text in blocks has the offsets of the whole. */
static void test_blocks(void **state)
{
    (void)state;
    static const char text[] = "One. Two\r\n\r\nthree\n\n\n four five.";
    trl_text_reader *r = NULL;
    trl_text_rows seq;
    bool more;
    assert_ok(trl_text_reader_memory("in", text, sizeof text - 1, NULL, &r, &err));
    for (size_t k = 0; k < 4; k++) {
        assert_ok(trl_text_reader_next(r, &seq, &more, &err));
        assert_true(more);
        for (size_t t = 0; t < seq.rows.n_tokens; t++)
            assert_memory_equal(text + seq.token[t].begin, seq.rows.cell[t].p, seq.rows.cell[t].n);
    }
    assert_int_equal(seq.token[0].line, 5);
    assert_ok(trl_text_reader_next(r, &seq, &more, &err));
    assert_false(more);
    trl_text_reader_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_english), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_links),   cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_scripts), cmocka_unit_test(test_pictographs),
        cmocka_unit_test(test_no_text), cmocka_unit_test(test_unicode),
        cmocka_unit_test(test_marks),   cmocka_unit_test(test_columns_of_text),
        cmocka_unit_test(test_blocks),  cmocka_unit_test(test_column_of_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
