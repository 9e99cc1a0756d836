/* shipped_templates.c -- the templates of templates/, by name. */
/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "trellis/template.h"

static const trl_shipped_template shipped[] = {
#include "feature/shipped_templates.inc"
    {NULL, NULL},
};

const trl_shipped_template *trl_shipped_templates(void)
{
    return shipped;
}

const char *trl_shipped_template_find(const char *name)
{
    size_t k = 0;
    while (name && shipped[k].name && strcmp(shipped[k].name, name) != 0)
        k++;
    return name ? shipped[k].text : NULL;
}
