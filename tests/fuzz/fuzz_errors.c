/* fuzz_errors.c -- any bytes as the true and the predicted labels, or trees, of `trellis errors`:
 * never a crash; what is read is counted right, listed and shown; what is not has a place.
 *
 * Input: one byte (bit 0: trees, bit 1: every token counts), the truth, a line "====", the
 * prediction.
 */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "../../cli/page.c"

#include "../../cli/errors.c"
#include "../../cli/errors_print.c"
#include "../../cli/errors_read.c"
#include "../../cli/errors_trees.c"
#include "../../cli/text.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

trl_status tag_no_memory(trl_error *err)
{
    (void)err;
    abort();
}

/* The bytes as a file with a name. */
static int make_file(const uint8_t *data, size_t size, char name[32])
{
    const int fd = memfd_create("fuzz", 0);
    if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
        abort();
    snprintf(name, 32, "/proc/self/fd/%d", fd);
    return fd;
}

static void check(error_list *e)
{
    uint64_t n = 0;
    for (size_t k = 0; k < ERROR_KINDS; k++)
        n += e->count[k];
    CHECK(n == e->n && e->right <= e->gold && e->right <= e->predicted);
    CHECK(e->n_sentences <= e->seen);
    errors_sort(e);
    for (size_t k = 0; k < e->n; k++) {
        const error_item *x = &e->item[k];
        CHECK(x->sentence < e->n_sentences);
        CHECK(x->gold.end <= e->sentence[x->sentence].n);
        CHECK(x->predicted.end <= e->sentence[x->sentence].n);
        CHECK(k == 0 || !(x->p > x[-1].p));
    }
    for (size_t kind = 0; kind <= ERROR_KINDS; kind++) {
        const error_choice c = {.kind = (error_kind)kind, .top = kind};
        text t = {0};
        errors_text(e, &c, &t);
        errors_html(e, &c, "fuzz", &t);
        CHECK(t.n > 0 && !t.failed);
        text_fini(&t);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char line[] = "\n====\n";
    if (size < 1)
        return 0;
    const uint8_t *gold = data + 1;
    size--;
    const uint8_t *cut = size ? memmem(gold, size, line, sizeof line - 1) : NULL;
    const size_t n = cut ? (size_t)(cut - gold) + 1 : size;
    const size_t skip = cut ? n + sizeof line - 2 : size;
    char names[2][32];
    const int fd[2] = {make_file(gold, n, names[0]), make_file(gold + skip, size - skip, names[1])};
    const error_files f = {.gold = names[0], .out = names[1], .tokens = data[0] & 2};
    error_list e = {0};
    trl_error err = {0};
    const trl_status st = (data[0] & 1 ? errors_read_trees : errors_read_tags)(&e, &f, &err);
    if (st == TRL_OK && e.seen)
        check(&e);
    else if (st != TRL_OK)
        CHECK(st == err.code && err.msg[0]);
    errors_fini(&e);
    close(fd[0]);
    close(fd[1]);
    return 0;
}
