/* journal.c -- a file of records. */
/* SPDX-License-Identifier: MIT */
#include "train_translate/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strtab.h"

#define MARK 0x316c6e726a6c7274u /* "trljrnl1" */

typedef struct head {
    uint64_t key, size, check;
} head;

typedef struct record {
    uint64_t key;
    const unsigned char *p; /* in the file as it was read */
    size_t n;
} record;

struct trl_journal {
    int fd;
    off_t end; /* of the last whole record */
    trl_mapped file;
    record *record; /* [n] in the order of the file */
    size_t n, cap;
    pthread_mutex_t lock;
    char warning[300];
};

static uint64_t key_of(trl_record kind, size_t number)
{
    return (uint64_t)kind << 48 | (uint64_t)number;
}

static size_t padding(size_t n)
{
    return (size_t)-n & 7;
}

static trl_status fail_file(const char *path, const char *what, trl_error *err)
{
    const trl_status st = trl_fail(err, TRL_EIO, "%s: %s", what, strerror(errno));
    return trl_fail_where(err, st, path, 0, 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The whole records of the file; the rest is left. */
static trl_status list_records(trl_journal *j, trl_error *err)
{
    const unsigned char *p = j->file.data + 2 * sizeof(uint64_t);
    size_t left = j->file.size - 2 * sizeof(uint64_t);
    head h;
    while (trl_take(&p, &left, &h, sizeof h)) {
        if (h.size > left || padding((size_t)h.size) > left - h.size ||
            trl_str_hash((const char *)p, (size_t)h.size) != h.check)
            break;
        record *grown = trl_reserve(j->record, &j->cap, j->n + 1, sizeof *grown);
        if (!grown)
            return trl_fail_mem(err);
        j->record = grown;
        grown[j->n++] = (record){h.key, p, (size_t)h.size};
        p += h.size + padding((size_t)h.size);
        left -= (size_t)h.size + padding((size_t)h.size);
        j->end = (off_t)(p - j->file.data);
    }
    return TRL_OK;
}

static trl_status check_header(const trl_journal *j, const char *path, uint64_t print,
                               trl_error *err)
{
    uint64_t header[2];
    memcpy(header, j->file.data, sizeof header);
    if (header[0] == MARK && header[1] == print)
        return TRL_OK;
    const trl_status st =
        header[0] != MARK
            ? trl_fail(err, TRL_EMODEL, "this is no checkpoint of a translator's training")
            : trl_fail(err, TRL_EMODEL, "this checkpoint is of a run with other data or options");
    trl_fail_where(err, st, path, 0, 0);
    return trl_fail_hint(err, st,
                         "resume with the same files and options, or leave out 'resume' to start "
                         "anew");
}

/* A file that ended within its header has no record. */
static trl_status read_records(trl_journal *j, const char *path, uint64_t print, trl_error *err)
{
    if (access(path, F_OK) != 0)
        return TRL_OK;
    trl_status st = trl_read_file(path, &j->file, err);
    if (st != TRL_OK || j->file.size < 2 * sizeof(uint64_t))
        return st;
    st = check_header(j, path, print, err);
    j->end = 2 * sizeof(uint64_t);
    return st == TRL_OK ? list_records(j, err) : st;
}

const void *trl_journal_find(const trl_journal *j, trl_record kind, size_t number, size_t *size)
{
    const uint64_t key = key_of(kind, number);
    for (size_t k = 0; j && k < j->n; k++)
        if (j->record[k].key == key) {
            *size = j->record[k].n;
            return j->record[k].p;
        }
    return NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        const ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static trl_status open_end(trl_journal *j, const char *path, uint64_t print, trl_error *err)
{
    const uint64_t header[2] = {MARK, print};
    if ((j->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) < 0)
        return fail_file(path, "cannot write", err);
    if (ftruncate(j->fd, j->end) != 0 || lseek(j->fd, j->end, SEEK_SET) < 0 ||
        (j->end == 0 && !write_all(j->fd, header, sizeof header)))
        return fail_file(path, "cannot write", err);
    return TRL_OK;
}

void trl_journal_add(trl_journal *j, trl_record kind, size_t number, const void *bytes, size_t n)
{
    static const char zeros[8];
    if (!j)
        return;
    const head h = {key_of(kind, number), n, trl_str_hash(bytes, n)};
    pthread_mutex_lock(&j->lock);
    if (!j->warning[0] && !(write_all(j->fd, &h, sizeof h) && write_all(j->fd, bytes, n) &&
                            write_all(j->fd, zeros, padding(n))))
        snprintf(j->warning, sizeof j->warning,
                 "cannot write the checkpoint: %s: training goes on without it", strerror(errno));
    pthread_mutex_unlock(&j->lock);
}

const char *trl_journal_warning(const trl_journal *j)
{
    return j && j->warning[0] ? j->warning : NULL;
}

/* ---- both ------------------------------------------------------------------------------------ */

trl_status trl_journal_open(const char *path, uint64_t print, bool resume, trl_journal **out,
                            trl_error *err)
{
    trl_journal *j = trl_zalloc(1, sizeof *j);
    if (!j || pthread_mutex_init(&j->lock, NULL) != 0) {
        trl_free(j);
        return trl_fail_mem(err);
    }
    j->fd = -1;
    trl_status st = resume ? read_records(j, path, print, err) : TRL_OK;
    if (st == TRL_OK)
        st = open_end(j, path, print, err);
    if (st == TRL_OK)
        *out = j;
    else
        trl_journal_free(j);
    return st;
}

void trl_journal_free(trl_journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        close(j->fd);
    pthread_mutex_destroy(&j->lock);
    trl_unmap(&j->file);
    trl_free(j->record);
    trl_free(j);
}
