/* signals.c -- a handler that ends the program, and one that takes a note. */
/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "output.h"

static atomic_int noted; /* lock-free: a handler may write it, any thread read it */
static const char *_Atomic last_word;
static atomic_bool on_terminal;

static void put(const char *word)
{
    if (write(STDERR_FILENO, word, strlen(word)) < 0) /* there is nowhere to say that */
        return;
}

static void end(int sig)
{
    if (on_terminal)
        put("\r\033[K"); /* over a status line */
    put("trellis: ");
    put(last_word);
    put("\n");
    output_remove_unfinished();
    _exit(128 + sig);
}

/* The second signal of either kind finds its default action. */
static void note(int sig)
{
    noted = sig;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

/* Also where a shell ignores SIGINT for what it runs in the background: whoever sends it to a
 * training means it. */
static void install(void (*handler)(int))
{
    struct sigaction act = {0};
    act.sa_handler = handler;
    act.sa_flags = SA_RESTART;
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

void signals_end(const char *word)
{
    last_word = word;
    on_terminal = isatty(STDERR_FILENO) == 1;
    install(end);
}

void signals_note(void)
{
    install(note);
}

bool signals_noted(void)
{
    return atomic_load_explicit(&noted, memory_order_relaxed) != 0;
}

bool signals_asked(void *ctx)
{
    (void)ctx;
    return signals_noted();
}

int signals_exit_code(bool stopped)
{
    return stopped && noted ? 128 + noted : CLI_DONE;
}
