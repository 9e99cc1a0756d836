/* train_settings.c -- reading the template, minding signals. */
/* SPDX-License-Identifier: MIT */
#include "train_settings.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"

const char *const seen_or_all[] = {"seen", "all", NULL};

bool train_read_template(train_settings *s, text *t)
{
    if (!s->template_path)
        return true;
    FILE *f = fopen(s->template_path, "rb");
    char block[4096];
    size_t n;
    while (f && (n = fread(block, 1, sizeof block, f)) > 0)
        text_add(t, block, n);
    const bool ok = f && !ferror(f) && !t->failed;
    if (!ok)
        message_say("%s: cannot read: %s", s->template_path,
                    t->failed ? "out of memory" : strerror(errno));
    if (f)
        fclose(f);
    s->train.template_name = s->template_path;
    s->train.template_text = t->n ? t->p : "";
    s->train.template_size = t->n;
    return ok;
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

static atomic_int interrupted; /* lock-free: a handler may write it, any thread read it */

/* The second signal of either kind finds its default action. */
static void on_interrupt(int sig)
{
    interrupted = sig;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

/* Also where a shell ignores SIGINT for what it runs in the background: whoever sends it to a
 * training means it. */
void train_catch_signals(void)
{
    struct sigaction act = {0};
    act.sa_handler = on_interrupt;
    act.sa_flags = SA_RESTART;
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

bool train_interrupted(void)
{
    return atomic_load_explicit(&interrupted, memory_order_relaxed) != 0;
}

bool train_cancelled(void *ctx)
{
    (void)ctx;
    return train_interrupted();
}

int train_exit_code(bool stopped)
{
    return stopped && interrupted ? 128 + interrupted : CLI_DONE;
}
