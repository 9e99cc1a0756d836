/* infer_print.h -- answers about a graph as the UAI evaluations want them, as a table, or as JSON.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_INFER_PRINT_H
#define CLI_INFER_PRINT_H

#include "text.h"
#include "trellis/graph.h"

typedef enum infer_task { TASK_PR, TASK_MAR, TASK_MPE } infer_task;
typedef enum infer_form { FORM_UAI, FORM_TABLE, FORM_JSON } infer_form;

extern const char *const infer_tasks[], *const infer_methods[];

/* cases: how many follow, counted: whether to say so. */
typedef struct infer_printer {
    infer_task task;
    infer_form form;
    trl_infer_method method;
    size_t cases, done;
    bool counted;
} infer_printer;

void infer_print_head(const infer_printer *p, text *t);
void infer_print_case(infer_printer *p, const trl_graph_view *g, const trl_infer_result *r,
                      text *t);
void infer_print_tail(const infer_printer *p, text *t);

/* Sizes of the graph, and of a junction tree for it (NULL: `refused` says why there is none). */
void infer_print_info(const trl_graph_view *g, const trl_infer_info *jtree, const char *refused,
                      infer_form form, text *t);

/* "exact", "estimate", "upper bound", ... */
const char *infer_value_status(trl_value_status status);

#endif
