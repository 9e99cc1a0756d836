/* names.c -- names of attributes and cells, each once.
 *
 * A dictionary {"word": "dog"} is the attribute word:dog.  Its name is looked up by the hash of its
 * two parts, and put together only when it is new; most of the work of reading features from Python
 * is here.
 */
/* SPDX-License-Identifier: MIT */
#include "core.h"

enum { BLOCK = 1 << 18 };

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 32);
}

static uint64_t hash(uint64_t h, const char *p, size_t n)
{
    uint64_t x = 0;
    h = mix(h, n);
    for (; n >= 8; p += 8, n -= 8) {
        memcpy(&x, p, 8);
        h = mix(h, x);
    }
    x = 0;
    if (n >= 4) { /* two overlapping words instead of a copy of unknown length */
        uint32_t a, b;
        memcpy(&a, p, 4);
        memcpy(&b, p + n - 4, 4);
        x = a | (uint64_t)b << 32;
    } else if (n) {
        x = (unsigned char)p[0] | (uint64_t)(unsigned char)p[n >> 1] << 8 |
            (uint64_t)(unsigned char)p[n - 1] << 16;
    }
    return mix(h, x);
}

int pt_reserve(void *p, size_t *cap, size_t n, size_t size)
{
    void **at = p;
    if (n <= *cap)
        return 0;
    size_t want = *cap + *cap / 2;
    if (want < n)
        want = n;
    if (want < 64)
        want = 64;
    void *more = want > PY_SSIZE_T_MAX / size ? NULL : PyMem_RawRealloc(*at, want * size);
    if (!more) {
        PyErr_NoMemory();
        return -1;
    }
    *at = more;
    *cap = want;
    return 0;
}

void pt_names_fini(pt_names *t)
{
    for (size_t k = 0; k < t->n_blocks; k++)
        PyMem_RawFree(t->block[k]);
    for (size_t k = 0; k < PT_KEYS; k++)
        Py_CLEAR(t->key[k].object);
    PyMem_RawFree(t->block);
    PyMem_RawFree(t->name);
    PyMem_RawFree(t->slot);
    memset(t, 0, sizeof *t);
}

static char *text_room(pt_names *t, size_t n)
{
    if (t->n_blocks == 0 || t->block_size - t->used < n) {
        if (pt_reserve(&t->block, &t->blocks_cap, t->n_blocks + 1, sizeof *t->block) < 0)
            return NULL;
        const size_t size = n > BLOCK ? n : BLOCK;
        char *block = PyMem_RawMalloc(size);
        if (!block)
            return (char *)PyErr_NoMemory();
        t->block[t->n_blocks++] = block;
        t->block_size = size;
        t->used = 0;
    }
    char *p = t->block[t->n_blocks - 1] + t->used;
    t->used += n;
    return p;
}

static int grow(pt_names *t)
{
    const size_t n = t->n_slots ? 2 * t->n_slots : 1024;
    uint32_t *slot = PyMem_RawCalloc(n, sizeof *slot);
    if (!slot) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t k = 0; k < t->n; k++) {
        size_t at = t->name[k].hash & (n - 1);
        while (slot[at])
            at = (at + 1) & (n - 1);
        slot[at] = (uint32_t)k + 1;
    }
    PyMem_RawFree(t->slot);
    t->slot = slot;
    t->n_slots = n;
    return 0;
}

static int64_t add(pt_names *t, uint64_t h, trl_str a, const trl_str *b)
{
    const size_t n = b ? a.n + 1 + b->n : a.n;
    if (2 * (t->n + 1) > t->n_slots && grow(t) < 0)
        return -1;
    size_t at = h & (t->n_slots - 1);
    for (; t->slot[at]; at = (at + 1) & (t->n_slots - 1)) {
        const pt_name *e = &t->name[t->slot[at] - 1];
        if (e->hash == h && e->s.n == n && memcmp(e->s.p, a.p, a.n) == 0 &&
            (!b || (e->s.p[a.n] == ':' && memcmp(e->s.p + a.n + 1, b->p, b->n) == 0)))
            return t->slot[at] - 1;
    }
    if (t->n >= UINT32_MAX - 1) {
        PyErr_SetString(PyExc_OverflowError, "more than 4 thousand million different names");
        return -1;
    }
    char *p = text_room(t, n ? n : 1);
    if (!p || pt_reserve(&t->name, &t->cap, t->n + 1, sizeof *t->name) < 0)
        return -1;
    memcpy(p, a.p, a.n);
    if (b) {
        p[a.n] = ':';
        memcpy(p + a.n + 1, b->p, b->n);
    }
    t->name[t->n] = (pt_name){.hash = h, .s = {p, n}};
    t->slot[at] = (uint32_t)++t->n;
    return (int64_t)t->n - 1;
}

/* The two parts of a name are hashed one by one: word:dog as a plain name and as a pair are two
 * entries of equal text, which is as good. */
int64_t pt_names_add(pt_names *t, trl_str s)
{
    return add(t, hash(1, s.p, s.n), s, NULL);
}

int64_t pt_names_add_pair(pt_names *t, const pt_key *key, trl_str value)
{
    return add(t, hash(key->hash, value.p, value.n), key->s, &value);
}

pt_key *pt_names_key(pt_names *t, PyObject *object)
{
    const size_t at = ((uintptr_t)object >> 4) % PT_KEYS;
    pt_key *k = &t->key[at], *other = &t->key[at ^ 1];
    if (k->object == object)
        return k;
    if (other->object == object)
        return other;
    if (k->object && !other->object)
        k = other;
    trl_str s;
    if (pt_text(object, "the name of an attribute", &s) < 0)
        return NULL;
    Py_INCREF(object);
    Py_XSETREF(k->object, object);
    k->s = s;
    k->hash = hash(2, s.p, s.n);
    k->plain = 0;
    k->zeros = 0;
    return k;
}
