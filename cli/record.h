/* record.h -- a training run as one JSON file, for tables and plots later.
 *
 *     {"program": "trellis 0.1.0", "command": "train", "options": {"c2": 1, ...},
 *      "train": ["train.txt"],
 *      "data": {"sequences": n, "tokens": n, "labels": n, "attributes": n, "features": n},
 *      "curve": [{"iteration": 1, "seconds": x, "objective": x, "gradient": x, "dev": x},
 * ...], "result": {"iterations": n, "features": n, "active": n, "objective": x, "dev": x,
 *                 "seconds": x, "model_bytes": n, "stopped": false, "ending": "..."}}
 *
 * What is not known is null.  'tune' writes one for each run, whose result also has c, c2, f1,
 * precision, recall, accuracy and processor, the seconds of all threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "options.h"
#include "trellis/train.h"

typedef struct record {
    text curve;
    text more;         /* of the result: "name":value,...; empty: nothing */
    trl_progress last; /* its strings are not looked at */
} record;

void record_add(record *r, const trl_progress *now);
void record_fini(record *r);

/* What was run, on what, and what came out. */
typedef struct record_run {
    const verb *v;
    const void *settings;
    const operands *train;
    const trl_train_result *result;
    uint64_t model_bytes;
} record_run;

/* Writes the file atomically; model_bytes 0: not known.  False: said. */
bool record_save(const record *r, const char *path, const record_run *run);

#endif
