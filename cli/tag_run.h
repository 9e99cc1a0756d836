/* tag_run.h -- the work of 'trellis tag': all sequences of the input, labelled and written. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TAG_RUN_H
#define CLI_TAG_RUN_H

#include "output.h"
#include "tag_input.h"
#include "tag_print.h"
#include "tag_text.h"

/* The input, the output (open) and the number of threads are the caller's to set. */
typedef struct tag_job {
    tag_input in;
    output out;
    text pending;         /* without threads: tagged, not yet handed to out */
    text held;            /* of an SVG picture: all of it, as its height comes first */
    tag_printer *printer; /* [threads] */
    size_t threads;
} tag_job;

/* A printer for each thread; to be followed by fini in any case.  TRL_ENOMEM, and what
 * tag_printer_init returns. */
trl_status tag_job_init(tag_job *j, const trl_model *m, const tag_style *style, trl_error *err);
void tag_job_fini(tag_job *j);

/* False: stopped by an error, which has been said; the output is then the caller's to discard. */
bool tag_job_run(tag_job *j);

/* The same with what a page or picture has before and after its sequences. */
bool tag_job_picture(tag_job *j, const char *title);

tag_text_counts tag_job_count(const tag_job *j); /* after the run */

#endif
