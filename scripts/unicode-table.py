#!/usr/bin/env python3
"""Writes src/text/unicode_table.inc: classes and lower case of characters.

    scripts/unicode-table.py >src/text/unicode_table.inc

From Python's own unicodedata, whose version becomes the table's.  To be run again when a newer
Unicode is wanted: features of models depend on it, so the version is the library's, not the machine's.
"""
import unicodedata

# As in src/text/unicode.h; PAIRS is the table's own.
CLASSES = ['OTHER', 'BLANK', 'UPPER', 'LOWER', 'LETTER', 'IDEOGRAPH', 'MARK', 'DIGIT', 'NUMBER', 'PUNCTUATION',
           'SYMBOL', 'PAIRS']
KINDS = {'Lu': 'UPPER', 'Lt': 'UPPER', 'Ll': 'LOWER', 'Lo': 'LETTER', 'Lm': 'LETTER', 'Nd': 'DIGIT',
         'Nl': 'NUMBER', 'No': 'NUMBER', 'Zs': 'BLANK', 'Zl': 'BLANK', 'Zp': 'BLANK', 'Cf': 'MARK'}
BLOCKS = {'M': 'MARK', 'P': 'PUNCTUATION', 'S': 'SYMBOL'}


def ideographic(x):  # what is written without blanks and broken at every character (UAX 29)
    return (0x3041 <= x <= 0x3096 or 0x3005 <= x <= 0x3007 or 0x3400 <= x <= 0x4dbf or 0x4e00 <= x <= 0x9fff or
            0xf900 <= x <= 0xfaff or 0x1b001 <= x <= 0x1b11f or 0x20000 <= x <= 0x3fffd)


def class_of(x):
    if x in (9, 10, 11, 12, 13, 0x85, 0x200b, 0xfeff):  # the last two have no width, and divide
        return 'BLANK'
    kind = unicodedata.category(chr(x))
    if ideographic(x) and kind[0] in 'LN':
        return 'IDEOGRAPH'
    return KINDS.get(kind) or BLOCKS.get(kind[0], 'OTHER')


def pair(x, classes):  # a capital and its small letter side by side
    return classes[x] == 'UPPER' and x + 1 < len(classes) and classes[x + 1] == 'LOWER' and lower(x) == x + 1


def lower(x):
    s = chr(x).lower()
    return ord(s) if len(s) == 1 else x


def class_ranges(classes):
    """(first, class); PAIRS: capitals and small letters in turn, a capital first."""
    out, x = [], 0
    while x < len(classes):
        start = x
        if pair(x, classes):
            while x < len(classes) and pair(x, classes):
                x += 2
            out.append((start, 'PAIRS'))
            continue
        while x < len(classes) and classes[x] == classes[start] and not pair(x, classes):
            x += 1
        out.append((start, classes[start]))
    return out


def lower_ranges(classes):
    """(first, last, what to add) of capitals that are not in PAIRS."""
    out = []
    for x in range(len(classes)):
        by = lower(x) - x
        if by == 0 or pair(x, classes):
            continue
        if out and out[-1][1] == x - 1 and out[-1][2] == by:
            out[-1][1] = x
        else:
            out.append([x, x, by])
    return out


def write(cells, width=98):
    line = ''
    for cell in cells:
        if len(line) + len(cell) + 1 > width:
            print(line.rstrip())
            line = ''
        line += cell + ' '
    print(line.rstrip())


classes = [class_of(x) for x in range(0x110000)]
print(f'/* Made by scripts/unicode-table.py from Unicode {unicodedata.unidata_version}; not edited by hand. */')
print('/* clang-format off */')
print('static const uint32_t class_start[] = { /* first character << 4 | class */')
ranges = class_ranges(classes)
write(f'0x{first << 4 | CLASSES.index(kind):x},' for first, kind in ranges)
print('};\nstatic const lower_range lower_case[] = {')
write(f'{{0x{a:x}, 0x{b:x}, {by}}},' for a, b, by in lower_ranges(classes))
print('};')
