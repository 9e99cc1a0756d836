/* trees.h -- treebanks: constituency trees read, changed, printed, drawn, counted, searched.
 *
 * Text is Penn brackets, (S (NP (NNP Kim)) (VP (VBZ sleeps))), a tree on one line or on many
 * (docs/formats.md).  A tree is an array of nodes in preorder, node 0 the root; spans count
 * words:
 *
 *     node      0       1       2       3       4
 *     label     S       NP      NNP     VP      VBZ
 *     parent    -       0       1       0       3
 *     child     1       2       -       4       -      first child; none: a word's node
 *     next      -       3       -       -       -      next sibling
 *     from,to   0,2     0,1     0,1     1,2     1,2    word[from .. to)
 *
 * Nothing here recurses: trees may be as deep as memory allows.  Labels and words are bytes;
 * where text must be UTF-8 (drawings, SVG, JSON) other bytes become U+FFFD.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_TREES_H
#define TRELLIS_TREES_H

#include "trellis/buf.h"
#include "trellis/sequence.h"

TRL_BEGIN_DECLS

#define TRL_NO_NODE UINT32_MAX

typedef struct trl_node {
    uint32_t label;               /* trl_tree_label; of a word's node, its part of speech */
    uint32_t parent, child, next; /* TRL_NO_NODE: none */
    uint32_t from, to;            /* from < to; to = from + 1 in a word's node */
} trl_node;

/* A borrowed tree. */
typedef struct trl_tree {
    size_t n_nodes, n_words;         /* both at least 1 */
    const trl_node *node;            /* [n_nodes], preorder */
    const trl_str *word;             /* [n_words] */
    const char *path;                /* for messages; NULL when not from a file */
    uint64_t row, col;               /* of the opening bracket */
    const struct trl_strtab *labels; /* of the nodes */
    const struct trl_tree *raw;      /* before it was changed; NULL: it was not */
    trl_str source;                  /* its text, when the reader keeps it */
} trl_tree;

/* The label of a node; borrowed from the tree's table. */
TRL_API trl_str trl_tree_label(const trl_tree *tree, uint32_t node);

/* ---- reading --------------------------------------------------------------------------------- */

/* What is changed in each tree; all off: nothing.  The original tree is in the `raw` of the changed
 * one. */
typedef struct trl_transform {
    bool drop_empty; /* words tagged -NONE-, SU or CODE (traces, speech marks), and nodes without
                        other words */
    bool drop_functions;  /* NP-SBJ-1, NP=2 -> NP: function tags, indices, gaps */
    bool drop_duplicates; /* X over nothing but X -> X */
    bool unescape; /* in words: -LRB- -> (, -RRB- -LSB- -RSB- -LCB- -RCB- likewise, \/ -> /, \* -> *
                    */
    const char *root; /* NULL: unchanged; "": a root TOP, ROOT, S1, VROOT or "" with one child is
                         removed; else: such a root is renamed, or added where there is none */
} trl_transform;

/* drop_empty and drop_functions. */
TRL_API trl_transform trl_transform_clean(void);

/* Reads the trees of a file.  Belongs to one thread at a time. */
typedef struct trl_treebank trl_treebank;

/* `how` (NULL: nothing is changed) is copied.  keep_source: trees keep their original text, line
 * ends as LF.  "-": standard input; gzip and zstd are unpacked.  TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_treebank_open(const char *path, const trl_transform *how, bool keep_source,
                                     trl_treebank **out, trl_error *err);

/* The same for text in memory, borrowed until freed. */
TRL_API trl_status trl_treebank_memory(const trl_text *text, const trl_transform *how,
                                       bool keep_source, trl_treebank **out, trl_error *err);
TRL_API void trl_treebank_free(trl_treebank *bank); /* accepts NULL */

/* For callers that continue after a broken tree: after this call a line whose first byte is '('
 * begins a tree, so that a missing ')' costs one tree, not the rest of the file.  Continuation
 * lines of a tree must then be indented. */
TRL_API void trl_treebank_resync(trl_treebank *bank);

/* The next tree, borrowed until the next call; *more is false at the end.  A tree that is left
 * without words by the changes is skipped and counted.  TRL_EPARSE, with path:row:col, for brackets
 * that do not match, nodes without label or words, words where a tree must be; the next call then
 * continues with the next line.  TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_treebank_next(trl_treebank *bank, trl_tree *tree, bool *more,
                                     trl_error *err);

/* The number of trees skipped so far. */
TRL_API uint64_t trl_treebank_passed(const trl_treebank *bank);

/* ---- printing -------------------------------------------------------------------------------- */

typedef enum trl_tree_format {
    TRL_TREE_LINE,    /* (S (NP (NNP Kim)) (VP (VBZ sleeps))) */
    TRL_TREE_PRETTY,  /* over several lines, indented */
    TRL_TREE_COLUMNS, /* Kim NNP, one word a line, an empty line after the tree */
    TRL_TREE_WORDS,   /* Kim sleeps */
    TRL_TREE_TAGGED,  /* Kim_NNP sleeps_VBZ */
    TRL_TREE_JSON,    /* {"label":"S","children":[{"label":"NP",...,"word":"Kim"}...]} */
    TRL_TREE_CONLLU,  /* the dependencies of its words, as trl_tree_dependencies has them */
    TRL_TREE_SOURCE,  /* the text it was read from, or LINE of the raw tree */
} trl_tree_format;

/* Appends the tree and a line end.  `width` is for PRETTY: lines up to that long, where possible
 * (0: 100).  Columns, words and tagged leave out words tagged -NONE-; a blank inside a word becomes
 * '_' there.  TRL_ENOMEM. */
TRL_API trl_status trl_tree_print(const trl_tree *tree, trl_tree_format format, size_t width,
                                  trl_buf *out, trl_error *err);

/* A word and what it depends on, after Universal Dependencies: content words are heads (the main
 * verb, not its auxiliaries; the noun, not its preposition; the predicate, not a form of "be").
 * For English with labels and tags of the Penn Treebank, by rules: relations are those that
 * categories, order and function tags tell; "dep" where nothing does. */
typedef struct trl_dependency {
    uint32_t head;         /* the word, from 1; 0: none, the root of the sentence */
    const char *relation;  /* "nsubj", "obj", "root" ...; static; NULL: an empty element */
    const char *universal; /* part of speech, "NOUN", "VERB" ...; static; NULL: the same */
} trl_dependency;

/* word[n_words]: the caller's.  One root, no cycle, no crossing but of questions.  TRL_ENOMEM. */
TRL_API trl_status trl_tree_dependencies(const trl_tree *tree, trl_dependency *word,
                                         trl_error *err);

/* Are all labels and words UTF-8? */
TRL_API bool trl_tree_is_utf8(const trl_tree *tree);

/* Words that are not empty elements (-NONE-); the longest way from the root to a part of
 * speech, in nodes.  O(nodes). */
TRL_API size_t trl_tree_length(const trl_tree *tree);
TRL_API size_t trl_tree_depth(const trl_tree *tree);

/* ---- drawing --------------------------------------------------------------------------------- */

typedef enum trl_draw_style {
    TRL_DRAW_AUTO,    /* upright where the tree fits, else flat */
    TRL_DRAW_UPRIGHT, /* root on top, children side by side, words below their tags */
    TRL_DRAW_FLAT,    /* a line for every child, as file managers show folders */
} trl_draw_style;

typedef struct trl_draw_options {
    trl_draw_style style;
    size_t width;       /* columns of the terminal, for AUTO; 0: no limit */
    bool ascii;         /* lines of + - | instead of Unicode's */
    bool colour;        /* ANSI escapes */
    const bool *marked; /* [n_nodes] in reverse, without colour in [ ]; NULL: none.  Borrowed */
} trl_draw_options;

TRL_API trl_draw_options trl_draw_options_default(void); /* AUTO, all else 0 */

/* Appends the tree as text, whole lines.  Control characters and bytes that are not UTF-8 are shown
 * as U+FFFD.  An upright tree of more than 16 M characters is drawn flat; levels of a flat one
 * below the fortieth are shown in brackets.  TRL_ENOMEM. */
TRL_API trl_status trl_tree_draw(const trl_tree *tree, const trl_draw_options *options,
                                 trl_buf *out, trl_error *err);

/* Trees one below the other in one SVG 1.1 file. */
typedef struct trl_tree_svg trl_tree_svg;

TRL_API trl_status trl_tree_svg_new(trl_tree_svg **out, trl_error *err); /* TRL_ENOMEM */
/* The same as a part of a page: without a background and a style sheet, which would be the page's
 * as well; words are in the page's colour, labels in colours for light and dark ones. */
TRL_API trl_status trl_tree_svg_new_part(trl_tree_svg **out, trl_error *err);
TRL_API void trl_tree_svg_free(trl_tree_svg *svg); /* accepts NULL */

/* What a drawing shows beside the tree; all zero: nothing. */
typedef struct trl_tree_marks {
    const char *caption;       /* a line above the tree, or NULL */
    const double *probability; /* [n_nodes] printed below each label, and how dark its colour is;
                                  NaN: none. Of words' nodes, too.  NULL: none */
    const bool *marked;        /* [n_nodes] in a frame; NULL: none */
} trl_tree_marks;

/* After TRL_ENOMEM the drawing is only good for _free. */
TRL_API trl_status trl_tree_svg_add(trl_tree_svg *svg, const trl_tree *tree, trl_error *err);
TRL_API trl_status trl_tree_svg_add_marked(trl_tree_svg *svg, const trl_tree *tree,
                                           const trl_tree_marks *marks, trl_error *err);
TRL_API trl_status trl_tree_svg_finish(const trl_tree_svg *svg, trl_buf *out, trl_error *err);

/* ---- counting -------------------------------------------------------------------------------- */

/* Trees, words, labels, tags, rules, lengths and depths of a treebank. */
typedef struct trl_tree_counts trl_tree_counts;

TRL_API trl_status trl_tree_counts_new(trl_tree_counts **out, trl_error *err); /* TRL_ENOMEM */
TRL_API void trl_tree_counts_free(trl_tree_counts *counts);                    /* accepts NULL */

/* After TRL_ENOMEM the counts are only good for _free. */
TRL_API trl_status trl_tree_counts_add(trl_tree_counts *counts, const trl_tree *tree,
                                       trl_error *err);

/* Appends tables for people, the `top` most frequent labels, tags and rules (0: all); or all
 * of it as one JSON object on one line.  Words tagged -NONE- count as empty elements, not as
 * words; a rule is a phrase with its children.  TRL_ENOMEM. */
TRL_API trl_status trl_tree_counts_report(const trl_tree_counts *counts, size_t top, trl_buf *out,
                                          trl_error *err);
TRL_API trl_status trl_tree_counts_json(const trl_tree_counts *counts, trl_buf *out,
                                        trl_error *err);

/* ---- searching ------------------------------------------------------------------------
 *
 * A pattern is a label or word and relations to others, after tgrep:
 *
 *     A < B     B is a child of A       A > B     A is a child of B
 *     A << B    B is below A            A >> B    A is below B
 *     A <2 B    B is the second child   A <- B    B is the last child
 *     A <: B    B is the only child     A $ B     A and B are sisters
 *     A . B     B begins where A ends   A .. B    B begins after A
 *     A , B     B ends where A begins   A ,, B    B ends before A
 *
 * All relations refer to the first name, unless in brackets: S < (NP < PRP) < VP. An `!` before a
 * relation means that there is no such B. NP|PP is either, NP* anything that begins with NP, __
 * anything; quotes remove the special meaning of signs: "$" . CD.  A word is the child of its part
 * of speech.
 */

/* Belongs to one thread at a time. */
typedef struct trl_tree_pattern trl_tree_pattern;

/* TRL_EPARSE with the column of what is not understood, TRL_ENOMEM. */
TRL_API trl_status trl_tree_pattern_parse(const char *text, trl_tree_pattern **out, trl_error *err);
TRL_API void trl_tree_pattern_free(trl_tree_pattern *pattern); /* accepts NULL */

/* How many nodes and words of the tree fit, and the first such node (of a word, its tag), or
 * TRL_NO_NODE.  O(items x relations).  TRL_ENOMEM. */
TRL_API trl_status trl_tree_pattern_match(trl_tree_pattern *pattern, const trl_tree *tree,
                                          size_t *n, uint32_t *first, trl_error *err);

/* The same, all of them: marked[n_nodes] says of every node whether it fits, or its word does. */
TRL_API trl_status trl_tree_pattern_nodes(trl_tree_pattern *pattern, const trl_tree *tree,
                                          bool *marked, size_t *n, trl_error *err);

/* ---- columns for taggers: part of speech, base chunk, named entity ----------------------
 *
 * One sentence is read from up to three files:
 *
 *     treebank    the k-th tree, in Penn brackets       (S (NP (NNP Anna) (NNP Berg)) (VP ...
 *     entities    line k, names marked in the text      [PER Anna Berg] sleeps .
 *     documents   a line `NAME FIRST LAST SPLIT` each   garden-spring 91 100 train
 *
 * and becomes one row a word:
 *
 *     Anna    NNP  B-NP  B-PER
 *     Berg    NNP  I-NP  I-PER
 *     sleeps  VBZ  B-VP  O
 *
 * Chunks are in the spirit of the CoNLL-2000 shared task; both tag columns are IOB2.  Empty
 * elements (-NONE-) are left out.  A mark is `[TYPE`, a blank, words, and `]` right after the last
 * one; marks do not nest.  Documents stand in the order of the treebank and cover it: each begins
 * at the sentence (from 1) after the last one of the document before.
 */

typedef struct trl_tree_columns_options {
    const char *treebank;  /* paths; gzip and zstd are unpacked; "-": standard input */
    const char *entities;  /* NULL: no entity column */
    const char *documents; /* NULL: all sentences; else only those of `split` */
    const char *split;
    bool chunks; /* a chunk column; default true */
} trl_tree_columns_options;

TRL_API trl_tree_columns_options trl_tree_columns_options_default(void);

/* Belongs to one thread at a time. */
typedef struct trl_tree_columns trl_tree_columns;

/* Opens the files and reads the documents.  The options are not kept.  TRL_EINVAL without a
 * treebank, for documents without split or the reverse, and for a split that no document has;
 * TRL_EPARSE with path:row:col for a bad line of documents; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_tree_columns_open(const trl_tree_columns_options *o, trl_tree_columns **out,
                                         trl_error *err);
TRL_API void trl_tree_columns_free(trl_tree_columns *r); /* accepts NULL */

/* The next sentence, never an empty one: word, part of speech, chunk and entity, as opened;
 * *more is false at the end.  Rows are borrowed until the next call; their path and first_row
 * are those of the tree.  Sentences of other splits are checked too.
 * TRL_EPARSE with path:row:col for bad brackets, other words in the entities than in the tree,
 * nested, empty, untyped or unclosed marks, and for files of different length; TRL_EIO;
 * TRL_ENOMEM.  No more calls after a failure. */
TRL_API trl_status trl_tree_columns_next(trl_tree_columns *r, trl_rows *seq, bool *more,
                                         trl_error *err);

TRL_END_DECLS

#endif
