/* fuzz_label_text.c -- any bytes as what is known of a label: sound parts or a place in the text.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feature/label_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

static void check_text(const trl_label_text *x, size_t size)
{
    double sum = 0.0;
    CHECK(isfinite(x->weight) && x->weight >= 0.0);
    CHECK(x->kind == TRL_LABEL_ANY ? x->n == 0 : x->kind == TRL_LABEL_ONE ? x->n == 1 : x->n > 1);
    for (size_t k = 0; k < x->n; k++) {
        const trl_str name = trl_label_part_name(x, k);
        CHECK(name.n > 0 && name.n <= size && x->part[k].col < size);
        CHECK(x->part[k].p > 0.0 && x->part[k].p <= 1.0);
        sum += x->part[k].p;
    }
    CHECK(x->kind != TRL_LABEL_SOFT || fabs(sum - 1.0) < 1e-9);
}

/* Lines are notes, one after the other: the second time each is the same number. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_label_notes *notes = NULL;
    trl_strtab labels = {0};
    trl_label_text text = {0};
    trl_error err;
    size_t n = 0;
    CHECK(trl_label_notes_new(&notes, &err) == TRL_OK);
    for (const char *p = (const char *)data, *end = p + size; p < end;) {
        const char *lf = memchr(p, '\n', (size_t)(end - p)), *to = lf ? lf : end;
        const trl_str line = {p, (size_t)(to - p)};
        size_t col, again_col;
        uint32_t number, again;
        p = to + 1;
        if (line.n == 0)
            continue;
        trl_status st = trl_label_text_parse(&text, line, &col, &err);
        CHECK(st == TRL_OK || (st == TRL_EPARSE && col <= line.n && err.msg[0]));
        if (st == TRL_OK)
            check_text(&text, line.n);
        st = trl_label_notes_add(notes, &labels, line, &number, &col, &err);
        CHECK(st == TRL_OK || (st == TRL_EPARSE && col <= line.n));
        if (st != TRL_OK)
            break; /* only good for free */
        CHECK(trl_label_notes_set(notes, n++, number));
        CHECK(trl_label_notes_add(notes, &labels, line, &again, &again_col, &err) == TRL_OK);
        CHECK(again == number && trl_label_notes_stand_in(notes, number) < labels.n + !labels.n);
    }
    CHECK(trl_label_notes_close(notes, labels.n, &err) == TRL_OK);
    for (size_t t = 0; t < n; t++) {
        const trl_label_note note = trl_label_note_of(notes, notes->of[t]);
        for (size_t k = 0; k < note.n; k++)
            CHECK(note.label[k] < labels.n);
    }
    trl_label_text_fini(&text);
    trl_label_notes_free(notes);
    trl_strtab_fini(&labels);
    return 0;
}
