/* default_template.c -- built-in templates (Wapiti's dialect). */
/* SPDX-License-Identifier: MIT */
#include "feature/default_template.h"

#define WORDS                                                                                      \
    "u:w-2=%x[-2,0]\nu:w-1=%x[-1,0]\nu:w=%x[0,0]\nu:w+1=%x[1,0]\nu:w+2=%x[2,0]\n"                  \
    "u:w-1w=%x[-1,0]/%x[0,0]\nu:ww+1=%x[0,0]/%x[1,0]\n"
#define SHAPES                                                                                     \
    "u:low=%X[0,0]\n"                                                                              \
    "u:s1=%m[0,0,\".$\"]\nu:s2=%m[0,0,\"..$\"]\nu:s3=%m[0,0,\"...$\"]\n"                           \
    "u:s4=%m[0,0,\"....$\"]\nu:p1=%m[0,0,\"^.\"]\nu:p2=%m[0,0,\"^..\"]\n"                          \
    "u:p3=%m[0,0,\"^...\"]\nu:cap=%t[0,0,\"^\\u\"]\nu:num=%t[0,0,\"\\d\"]\n"                       \
    "u:hyp=%t[0,0,\"-\"]\nu:allcap=%t[0,0,\"^\\u*$\"]\n"
#define TAGS                                                                                       \
    "u:t-2=%x[-2,1]\nu:t-1=%x[-1,1]\nu:t=%x[0,1]\nu:t+1=%x[1,1]\nu:t+2=%x[2,1]\n"                  \
    "u:t-2t-1=%x[-2,1]/%x[-1,1]\nu:t-1t=%x[-1,1]/%x[0,1]\nu:tt+1=%x[0,1]/%x[1,1]\n"                \
    "u:t+1t+2=%x[1,1]/%x[2,1]\nu:t-2t-1t=%x[-2,1]/%x[-1,1]/%x[0,1]\n"                              \
    "u:t-1tt+1=%x[-1,1]/%x[0,1]/%x[1,1]\nu:tt+1t+2=%x[0,1]/%x[1,1]/%x[2,1]\n"

const char *trl_default_template(size_t n_columns)
{
    return n_columns >= 3 ? WORDS SHAPES TAGS "b\n" : WORDS SHAPES "b\n";
}
