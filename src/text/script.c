/* script.c -- the script of a letter, by blocks of Unicode 15. */
/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "text/word_forms.h"

typedef struct script_range {
    uint32_t first, last;
    const char *name;
} script_range;

/* By rising code point; blocks with the same script that touch are one range. */
static const script_range ranges[] = {
    {0x0041, 0x024f, "latin"},      {0x0250, 0x02af, "latin"},     {0x0370, 0x03ff, "greek"},
    {0x0400, 0x052f, "cyrillic"},   {0x0530, 0x058f, "armenian"},  {0x0590, 0x05ff, "hebrew"},
    {0x0600, 0x06ff, "arabic"},     {0x0700, 0x074f, "syriac"},    {0x0750, 0x077f, "arabic"},
    {0x0780, 0x07bf, "thaana"},     {0x07c0, 0x07ff, "nko"},       {0x0840, 0x085f, "mandaic"},
    {0x0860, 0x086f, "syriac"},     {0x0870, 0x08ff, "arabic"},    {0x0900, 0x097f, "devanagari"},
    {0x0980, 0x09ff, "bengali"},    {0x0a00, 0x0a7f, "gurmukhi"},  {0x0a80, 0x0aff, "gujarati"},
    {0x0b00, 0x0b7f, "oriya"},      {0x0b80, 0x0bff, "tamil"},     {0x0c00, 0x0c7f, "telugu"},
    {0x0c80, 0x0cff, "kannada"},    {0x0d00, 0x0d7f, "malayalam"}, {0x0d80, 0x0dff, "sinhala"},
    {0x0e00, 0x0e7f, "thai"},       {0x0e80, 0x0eff, "lao"},       {0x0f00, 0x0fff, "tibetan"},
    {0x1000, 0x109f, "myanmar"},    {0x10a0, 0x10ff, "georgian"},  {0x1100, 0x11ff, "hangul"},
    {0x1200, 0x139f, "ethiopic"},   {0x13a0, 0x13ff, "cherokee"},  {0x1400, 0x167f, "canadian"},
    {0x1780, 0x17ff, "khmer"},      {0x1800, 0x18af, "mongolian"}, {0x1c90, 0x1cbf, "georgian"},
    {0x1d00, 0x1dbf, "latin"},      {0x1e00, 0x1eff, "latin"},     {0x1f00, 0x1fff, "greek"},
    {0x2c60, 0x2c7f, "latin"},      {0x2de0, 0x2dff, "cyrillic"},  {0x2e80, 0x2fdf, "han"},
    {0x3005, 0x3007, "han"},        {0x3040, 0x309f, "hiragana"},  {0x30a0, 0x30ff, "katakana"},
    {0x3100, 0x312f, "bopomofo"},   {0x3130, 0x318f, "hangul"},    {0x31a0, 0x31bf, "bopomofo"},
    {0x31f0, 0x31ff, "katakana"},   {0x3400, 0x4dbf, "han"},       {0x4e00, 0x9fff, "han"},
    {0xa000, 0xa4cf, "yi"},         {0xa640, 0xa69f, "cyrillic"},  {0xa720, 0xa7ff, "latin"},
    {0xa8e0, 0xa8ff, "devanagari"}, {0xa960, 0xa97f, "hangul"},    {0xaa60, 0xaa7f, "myanmar"},
    {0xab30, 0xab6f, "latin"},      {0xab70, 0xabbf, "cherokee"},  {0xac00, 0xd7ff, "hangul"},
    {0xf900, 0xfaff, "han"},        {0xfb00, 0xfb06, "latin"},     {0xfb13, 0xfb17, "armenian"},
    {0xfb1d, 0xfb4f, "hebrew"},     {0xfb50, 0xfdff, "arabic"},    {0xfe70, 0xfefe, "arabic"},
    {0xff21, 0xff5a, "latin"},      {0xff66, 0xff9f, "katakana"},  {0xffa0, 0xffdc, "hangul"},
    {0x20000, 0x323af, "han"},
};

const char *trl_char_script(uint32_t code)
{
    if (code == 0xaa || code == 0xba || (code >= 'A' && code <= 'z'))
        return "latin";
    size_t low = 0, high = sizeof ranges / sizeof *ranges;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (ranges[middle].first <= code)
            low = middle;
        else
            high = middle;
    }
    return code >= ranges[low].first && code <= ranges[low].last ? ranges[low].name : "other";
}
