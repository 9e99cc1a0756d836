/* corpus_lists.h -- the closed lists of docs/corpus.md that test_corpus.c holds the corpus to:
 * labels, tags, which word may have which tag, what a phrase must contain. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_CORPUS_LISTS_H
#define TRL_TEST_CORPUS_LISTS_H

#define CLAUSES "S SQ SBARQ SINV FRAG"
#define PHRASES "NP VP PP ADJP ADVP PRT INTJ CONJP QP UCP PRN WHNP WHPP WHADVP WHADJP SBAR"
#define NOUNS "NN NNS NNP NNPS"
#define VERBS "VB VBD VBG VBN VBP VBZ MD TO"
#define ADVERBS "RB RBR RBS"
#define ADJECTIVES "JJ JJR JJS"
#define OPEN_TAGS NOUNS " VB VBD VBG VBN VBP VBZ CD UH " ADVERBS " " ADJECTIVES
#define CLOSED_TAGS "CC DT EX IN MD PDT POS PRP PRP$ RP TO WDT WP WP$ WRB"
#define SIGNS "$ . , : `` '' -LRB- -RRB-"

/* What a tag stands on, and what a word may be tagged; letters are compared small. */
static const struct {
    const char *tag, *words;
} words_of_tag[] = {
    {"TO", "to"},
    {"EX", "there"},
    {".", ". ? !"},
    {",", ","},
    {":", ": ; --"},
    {"$", "$"},
    {"``", "``"},
    {"''", "''"},
    {"-LRB-", "-lrb-"},
    {"-RRB-", "-rrb-"},
    {"POS", "'s '"},
    {"MD", "can could may must shall should will would 'd 'll"},
    {"CC", "and or but nor yet so either neither plus &"},
    {"DT", "a an the this that these those all any both each every neither no some another"},
    {"PDT", "all such"},
    {"PRP", "i me you he him she her it we us they them mine himself herself itself"},
    {"PRP$", "my your his her its our their"},
    {"RP", "up down in out on off over"},
    {"WDT", "that which"},
    {"WP", "who what"},
    {"WP$", "whose"},
    {"WRB", "when where why how whenever"},
};

static const struct {
    const char *words, *tags;
} tags_of_word[] = {
    {"the a an every each these those this", "DT"},
    {"of from with for by at into than if because since until while without between during "
     "near under above although though whether per beneath beside behind across along around "
     "after outside within against onto",
     "IN"},
    {"about as before below once through", "IN RB"},
    {"in on", "IN RP"},
    {"over up", "IN RB RP"},
    {"down", "RB RP"},
    {"out off", "RP"},
    {"back away again", "RB"},
    {"to", "TO"},
    {"and or but nor", "CC"},
    {"so", "CC RB IN"},
    {"that", "IN WDT DT"},
    {"no", "DT RB UH"},
    {"not n't", "RB"},
    {"all", "DT PDT"},
    {"such", "JJ PDT"},
    {"some both another", "DT"},
    {"any", "DT RB"},
    {"either", "CC"},
    {"neither", "CC DT"},
    {"i me you he him she it we us they them", "PRP"},
    {"my your his its our their", "PRP$"},
    {"her", "PRP PRP$"},
    {"who what", "WP"},
    {"which", "WDT"},
    {"is has does 's", "VBZ POS"},
    {"was were did had", "VBD"},
    {"are am", "VBP"},
    {"be", "VB"},
    {"been", "VBN"},
    {"being", "VBG"},
    {"do have", "VB VBP"},
    {"can could must should will would", "MD"},
    {"may", "MD NNP"},
    {"there", "EX RB"},
    {"one", "CD NN"},
    {"two three four five six seven eight nine ten", "CD"},
    {"more", "JJR RBR"},
    {"most", "JJS RBS"},
    {"a.m. p.m. noon midnight today tomorrow yesterday percent %", "NN"},
    {"worth several many few other own", "JJ"},
    {"only", "RB JJ"},
    {"nobody somebody anybody everyone anyone everything anything nothing", "NN"},
    {"please yes", "UH"},
};

/* Each phrase has at least one child of the second list. */
static const char *const heads[][2] = {
    {"VP", VERBS " VP"},
    {"PP", "IN TO VBG PP"},
    {"SBAR", "IN WHNP WHPP WHADVP S SINV"},
    {"SBARQ", "WHNP WHADVP WHADJP"},
    {"SQ", "VP MD VBD VBP VBZ SQ"},
    {"ADJP", ADJECTIVES " ADJP"},
    {"ADVP", ADVERBS " IN"}, /* IN: at first, at once */
    {"QP", "CD NN"},         /* NN: more than half */
    {"PRT", "RP"},
    {"INTJ", "UH"},
    {"CONJP", "RB"},
    {"WHNP", "WDT WP WP$ WHADJP WHPP"},
    {"WHPP", "IN"},
    {"WHADVP", "WRB"},
    {"WHADJP", "WRB"},
    {"NP", NOUNS " NP PRP DT CD EX POS QP JJ JJR JJS"},
    {"PRN", "S SINV NP ADVP"},
    {"UCP", "CONJP"},
};

/* Capitalised words that are names of nothing we mark: titles, events, products, peoples. */
#define UNMARKED                                                                                   \
    "Aunt Captain Councillor Dr. Judge Mayor Mr. Professor Uncle "                                 \
    "County Cup Lakeside Open Middle Ages Quillpad Italian Spanish"

#endif
