/* foreign.c -- recognising other files that users pass by mistake. */
/* SPDX-License-Identifier: MIT */
#include "model/foreign.h"

#include <stdbool.h>
#include <string.h>

#include "base/fail.h"

/* By its first bytes. */
static const struct foreign {
    const char *head;
    size_t n;
    const char *hint;
} foreigners[] = {
    {"\x1f\x8b", 2, "it is gzip-compressed: unpack it first (gunzip)"},
    {"\x28\xb5\x2f\xfd", 4, "it is zstd-compressed: unpack it first (unzstd)"},
    {"\xfd"
     "7zXZ",
     5, "it is xz-compressed: unpack it first (unxz)"},
    {"BZh", 3, "it is bzip2-compressed: unpack it first (bunzip2)"},
    {"lCRF", 4, "it is a CRFsuite model: 'trellis import' makes a Trellis model of it"},
    {"#mdl#", 5, "it is a Wapiti model: 'trellis import' makes a Trellis model of it"},
    {"version: ", 9,
     "it is a CRF++ model in text form: 'trellis import' makes a Trellis model of it"},
    {"\x64\0\0\0\0\0\0\0", 8, "it is a CRF++ model: 'trellis import' makes a Trellis model of it"},
};

static bool looks_like_text(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n && i < 1024; i++)
        if ((p[i] < ' ' && p[i] != '\t' && p[i] != '\n' && p[i] != '\r') || p[i] == 127)
            return false;
    return true;
}

trl_status trl_not_a_model(const unsigned char *p, size_t n, trl_error *err)
{
    if (n == 0)
        return trl_fail(err, TRL_EMODEL, "the file is empty, not a model");
    if (n < 8 && memcmp(p, TRL_MAGIC, n) == 0)
        return trl_fail(err, TRL_EMODEL, "the model is cut off after %zu bytes", n);
    trl_fail(err, TRL_EMODEL, "this is not a Trellis model");
    for (size_t i = 0; i < sizeof foreigners / sizeof *foreigners; i++)
        if (n >= foreigners[i].n && memcmp(p, foreigners[i].head, foreigners[i].n) == 0)
            return trl_fail_hint(err, TRL_EMODEL, "%s", foreigners[i].hint);
    if (looks_like_text(p, n))
        trl_fail_hint(err, TRL_EMODEL, "it is text: perhaps data, where a model was expected");
    return TRL_EMODEL;
}
