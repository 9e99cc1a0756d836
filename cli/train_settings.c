/* train_settings.c -- reading the template, where a model is rescued to. */
/* SPDX-License-Identifier: MIT */
#include "train_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "trellis/template.h"

const char *const seen_or_all[] = {"seen", "all", NULL};

/* What there is instead of a file that cannot be read. */
static void name_templates(void)
{
    char names[200] = "";
    size_t n = 0;
    for (const trl_shipped_template *x = trl_shipped_templates(); x->name && n < sizeof names; x++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", x->name);
    message_hint("a file is expected or, for sequences, a template that is built in: %s", names);
}

bool train_read_template(train_settings *s, text *t)
{
    if (!s->template_path)
        return true;
    FILE *f = fopen(s->template_path, "rb");
    const char *shipped = f ? NULL : trl_shipped_template_find(s->template_path);
    if (shipped) {
        s->train.template_name = s->template_path;
        s->train.template_text = shipped;
        s->train.template_size = strlen(shipped);
        return true;
    }
    char block[4096];
    size_t n;
    while (f && (n = fread(block, 1, sizeof block, f)) > 0)
        text_add(t, block, n);
    const bool ok = f && !ferror(f) && !t->failed;
    if (!ok)
        message_say("%s: cannot read: %s", s->template_path,
                    t->failed ? "out of memory" : strerror(errno));
    if (!f)
        name_templates();
    if (f)
        fclose(f);
    s->train.template_name = s->template_path;
    s->train.template_text = t->n ? t->p : "";
    s->train.template_size = t->n;
    return ok;
}

bool train_set_variance(train_settings *s)
{
    if (s->c > 0.0 && s->train.c2 != TRL_USUAL) {
        message_say("--c and --c2 say the same: give one of them");
        return false;
    }
    if (s->c > 0.0)
        s->train.c2 = 0.5 / s->c;
    return true;
}

void train_set_rescue(train_settings *s)
{
    const char *folder = getenv("TMPDIR"), *slash = strrchr(s->train.model, '/');
    const int n = snprintf(s->rescue, sizeof s->rescue, "%s/%s.rescued-%ld",
                           folder && *folder ? folder : "/tmp", slash ? slash + 1 : s->train.model,
                           (long)getpid());
    if (n > 0 && (size_t)n < sizeof s->rescue)
        s->train.rescue = s->rescue;
}

bool train_learns(const trl_progress *now)
{
    static const char *const before[] = {"resume",  "read", "warning", "clusters",
                                         "skipped", "init", NULL};
    size_t k = 0;
    while (before[k] && strcmp(now->stage, before[k]) != 0)
        k++;
    return !before[k];
}
