/* json.c -- recursive descent over the text, values into one array. */
/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

#define DEEPEST 100

typedef struct parser {
    json *out;
    const char *path;
    char *begin, *at, *end; /* *end is NUL */
    int depth;
} parser;

static bool refuse(const parser *p, const char *where, const char *what)
{
    size_t row = 1, col = 1;
    for (const char *s = p->begin; s < where; s++) {
        row += *s == '\n';
        col = *s == '\n' ? 1 : col + 1;
    }
    message_say("%s:%zu:%zu: %s", p->path, row, col, what);
    return false;
}

/* Decoding overwrites text already read, LFs never: strings have none.  So rows stay right. */
static bool refuse_here(const parser *p, const char *what)
{
    return refuse(p, p->at, p->at == p->end ? "the text ends too early" : what);
}

static void skip_blanks(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
        p->at++;
}

static bool take(parser *p, char c)
{
    if (*p->at != c || p->at == p->end)
        return false;
    p->at++;
    return true;
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool hex4(parser *p, uint32_t *out)
{
    uint32_t x = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        const char c = *p->at;
        const bool digit = c >= '0' && c <= '9', low = c >= 'a' && c <= 'f';
        if (!digit && !low && !(c >= 'A' && c <= 'F'))
            return refuse_here(p, "four hexadecimal digits are expected");
        x = 16 * x + (uint32_t)(digit ? c - '0' : low ? c - 'a' + 10 : c - 'A' + 10);
    }
    *out = x;
    return true;
}

static char *put_utf8(char *to, uint32_t x)
{
    if (x < 0x80) {
        *to++ = (char)x;
        return to;
    }
    const int more = x < 0x800 ? 1 : x < 0x10000 ? 2 : 3;
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[more] | x >> 6 * more);
    for (int k = more - 1; k >= 0; k--)
        *to++ = (char)(0x80 | (x >> 6 * k & 0x3f));
    return to;
}

/* After "\u".  At most as many bytes are written as have been read. */
static bool take_unicode(parser *p, char **to)
{
    const char *start = p->at;
    uint32_t x, low;
    if (!hex4(p, &x))
        return false;
    if (x >= 0xd800 && x < 0xdc00 && p->at[0] == '\\' && p->at[1] == 'u') {
        p->at += 2;
        if (!hex4(p, &low))
            return false;
        if (low < 0xdc00 || low > 0xdfff)
            return refuse(p, start, "half a surrogate pair");
        x = 0x10000 + ((x - 0xd800) << 10) + (low - 0xdc00);
    }
    if (x >= 0xd800 && x < 0xe000)
        return refuse(p, start, "half a surrogate pair");
    if (x == 0)
        return refuse(p, start, "U+0000 in a string");
    *to = put_utf8(*to, x);
    return true;
}

static bool take_escape(parser *p, char **to)
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    if (take(p, 'u'))
        return take_unicode(p, to);
    const char *known = p->at < p->end && *p->at ? strchr(letters, *p->at) : NULL;
    if (!known)
        return refuse_here(p, "unknown escape");
    *(*to)++ = means[known - letters];
    p->at++;
    return true;
}

static bool take_string(parser *p, const char **out)
{
    if (!take(p, '"'))
        return refuse_here(p, "a string is expected");
    char *to = p->at;
    *out = to;
    while (!take(p, '"')) {
        if (p->at == p->end || (unsigned char)*p->at < 0x20)
            return refuse_here(p, "a control character in a string");
        if (take(p, '\\')) {
            if (!take_escape(p, &to))
                return false;
        } else
            *to++ = *p->at++;
    }
    *to = '\0';
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

static bool take_number(parser *p, double *out)
{
    const char *start = p->at, *s = start + (*start == '-');
    size_t n = digits(s);
    bool ok = n == 1 || (n > 1 && *s != '0');
    s += n;
    if (ok && *s == '.') {
        n = digits(++s);
        ok = n > 0;
        s += n;
    }
    if (ok && (*s == 'e' || *s == 'E')) {
        s += 1 + (s[1] == '+' || s[1] == '-');
        n = digits(s);
        ok = n > 0;
        s += n;
    }
    if (!ok)
        return refuse_here(p, "a value is expected");
    *out = strtod(start, NULL);
    if (!isfinite(*out))
        return refuse_here(p, "the number is too large");
    p->at += s - start;
    return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool take_value(parser *p, const char *key);

static bool take_word(parser *p, json_value *v)
{
    static const struct {
        const char *word;
        json_type type;
    } words[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const size_t n = strlen(words[k].word);
        if (strncmp(p->at, words[k].word, n) == 0) {
            v->type = words[k].type;
            p->at += n;
            return true;
        }
    }
    v->type = JSON_NUMBER;
    return take_number(p, &v->number);
}

/* After the opening bracket. */
static bool take_members(parser *p, bool object, size_t *count)
{
    const char close = object ? '}' : ']';
    skip_blanks(p);
    if (take(p, close))
        return true;
    do {
        const char *key = NULL;
        skip_blanks(p);
        if (object) {
            if (!take_string(p, &key))
                return false;
            skip_blanks(p);
            if (!take(p, ':'))
                return refuse_here(p, "':' is expected");
        }
        if (!take_value(p, key))
            return false;
        ++*count;
        skip_blanks(p);
    } while (take(p, ','));
    return take(p, close) ||
           refuse_here(p, object ? "',' or '}' is expected" : "',' or ']' is expected");
}

static bool new_value(json *j, size_t *at)
{
    if (j->n == j->cap) {
        const size_t cap = j->cap ? 2 * j->cap : 64;
        json_value *grown =
            cap > SIZE_MAX / sizeof *grown ? NULL : realloc(j->value, cap * sizeof *grown);
        if (!grown) {
            message_memory();
            return false;
        }
        j->value = grown;
        j->cap = cap;
    }
    *at = j->n++;
    return true;
}

static bool take_value(parser *p, const char *key)
{
    json_value v = {.key = key};
    size_t at;
    skip_blanks(p);
    if (p->depth == DEEPEST)
        return refuse_here(p, "too many values inside each other");
    if (!new_value(p->out, &at))
        return false;
    bool ok;
    if (*p->at == '"') {
        v.type = JSON_STRING;
        ok = take_string(p, &v.string);
    } else if (*p->at == '[' || *p->at == '{') {
        v.type = *p->at++ == '[' ? JSON_ARRAY : JSON_OBJECT;
        p->depth++;
        ok = take_members(p, v.type == JSON_OBJECT, &v.n);
        p->depth--;
    } else
        ok = take_word(p, &v);
    v.next = p->out->n;
    p->out->value[at] = v;
    return ok;
}

bool json_parse(json *j, const char *path, char *bytes, size_t n)
{
    parser p = {.out = j, .path = path, .begin = bytes, .at = bytes, .end = bytes + n};
    j->n = 0;
    if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        p.at += 3;
    if (!take_value(&p, NULL))
        return false;
    skip_blanks(&p);
    return p.at == p.end || refuse(&p, p.at, "something follows the value");
}

void json_fini(json *j)
{
    free(j->value);
    *j = (json){0};
}

/* ---- looking --------------------------------------------------------------------------------- */

const json_value *json_first(const json *j, const json_value *v)
{
    (void)j;
    return v + 1;
}

const json_value *json_next(const json *j, const json_value *v)
{
    return j->value + v->next;
}

const json_value *json_get(const json *j, const json_value *v, const char *key)
{
    if (!v || v->type != JSON_OBJECT)
        return NULL;
    const json_value *m = json_first(j, v);
    for (size_t i = 0; i < v->n; i++, m = json_next(j, m))
        if (strcmp(m->key, key) == 0)
            return m;
    return NULL;
}

double json_number(const json_value *v)
{
    return v && v->type == JSON_NUMBER ? v->number : (double)NAN;
}
