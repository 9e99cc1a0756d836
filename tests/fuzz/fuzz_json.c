/* fuzz_json.c -- any bytes as a record for 'trellis plot': never a crash; what is read can be
 * walked, and every value lies inside its parent.
 */
/* SPDX-License-Identifier: MIT */
#include <stdarg.h>

#include "../../cli/json.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The reader's messages: they must name a place. */
void message_say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *path = va_arg(ap, const char *);
    va_end(ap);
    if (!path || strcmp(path, "fuzz") != 0)
        abort();
}

int message_memory(void)
{
    return 1;
}

static size_t walk(const json *j, const json_value *v, size_t end)
{
    size_t seen = 1;
    const size_t at = (size_t)(v - j->value);
    if (at >= end || v->next <= at || v->next > end)
        abort();
    if (v->type == JSON_NUMBER && !isfinite(json_number(v)))
        abort();
    if (v->type == JSON_STRING && !v->string)
        abort();
    if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
        return seen;
    const json_value *inner = v->n ? json_first(j, v) : NULL;
    for (size_t k = 0; k < v->n; k++) {
        if ((v->type == JSON_OBJECT) != (inner->key != NULL))
            abort();
        if (v->type == JSON_OBJECT && !json_get(j, v, inner->key))
            abort();
        seen += walk(j, inner, v->next);
        if (k + 1 < v->n)
            inner = json_next(j, inner);
    }
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json j = {0};
    char *bytes = malloc(size + 1);
    if (!bytes)
        return 0;
    if (size)
        memcpy(bytes, data, size);
    bytes[size] = '\0';
    if (json_parse(&j, "fuzz", bytes, size) && walk(&j, j.value, j.n) != j.n)
        abort();
    json_fini(&j);
    free(bytes);
    return 0;
}
