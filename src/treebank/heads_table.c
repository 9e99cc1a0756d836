/* heads_table.c -- the built-in head rules. */
/* SPDX-License-Identifier: MIT */
#include "treebank/heads.h"

static const char table[] =
    "# Head rules of Collins 1999, appendix A.\n"
    "ADJP   left NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB\n"
    "ADVP   right RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN\n"
    "CONJP  right CC RB IN\n"
    "FRAG   right\n"
    "INTJ   left\n"
    "LST    right LS :\n"
    "NAC    left NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW\n"
    "NP     last NN NNP NNPS NNS NX POS JJR ; first NP ; last $ ADJP PRN ; last CD ; last JJ "
    "JJS RB QP\n"
    "PP     right IN TO VBG VBN RP FW\n"
    "PRN    left\n"
    "PRT    right RP\n"
    "QP     left $ IN NNS NN JJ RB DT CD NCD QP JJR JJS\n"
    "RRC    right VP NP ADVP ADJP PP\n"
    "S      left TO IN VP S SBAR ADJP UCP NP\n"
    "SBAR   left WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG\n"
    "SBARQ  left SQ S SINV SBARQ FRAG\n"
    "SINV   left VBZ VBD VBP VB MD VP S SINV ADJP NP\n"
    "SQ     left VBZ VBD VBP VB MD VP SQ\n"
    "UCP    right\n"
    "VP     left TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP\n"
    "WHADJP left CC WRB JJ ADJP\n"
    "WHADVP right CC WRB\n"
    "WHNP   left WDT WP WP$ WHADJP WHPP WHNP\n"
    "WHPP   right IN TO FW\n"
    "\n"
    "# Labels that are not in the appendix: noun groups as noun phrases, roots, leftovers.\n"
    "NX     last NN NNP NNPS NNS NX POS JJR ; first NP NML ; last $ ADJP PRN ; last CD ; last "
    "JJ JJS RB QP\n"
    "NML    last NN NNP NNPS NNS NX NML POS JJR ; first NP ; last $ ADJP PRN ; last CD ; last "
    "JJ JJS RB QP\n"
    "X      right\n"
    "TOP    left S SINV SQ SBARQ VP NP\n"
    "ROOT   left S SINV SQ SBARQ VP NP\n"
    "S1     left S SINV SQ SBARQ VP NP\n"
    "\n"
    "@coordination CC\n"
    "@punctuation `` '' , . : -LRB- -RRB- HYPH NFP\n"
    "@default left\n";

const char *trl_head_rules_builtin(void)
{
    return table;
}
