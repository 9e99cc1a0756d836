# items.awk -- CRFsuite items from columns "word part-of-speech chunk" (CoNLL-2000).
#
#     awk -f items.awk -v set=chunk train.txt >train.crfsuite
#
# chunk    attributes of CRFsuite's example/chunking.py, label = chunk
# np       the same attributes, labels B-NP, I-NP and O only
# padded   the same attributes, as a template has them: those that reach over an end see _B-1, _B+1
#          and so on there, and there is no __BOS__ and __EOS__
# pos      words, two word pairs, affixes up to 4 letters, shape; label = part of speech
#
# Elsewhere an attribute that reaches over an end of the sentence is left out; the first and the last
# item have __BOS__ and __EOS__.  ':' and '\' are escaped by '\'.

function escape(s) {
    gsub(/[\\:]/, "\\\\&", s)
    return s
}

# The attribute made of the columns `names` at the offsets `offsets`; both are lists.
function attribute(t, names, offsets,    k, m, name, value, c, o, at, outside) {
    m = split(names, c, " ")
    split(offsets, o, " ")
    for (k = 1; k <= m; k++) {
        at = t + o[k]
        outside = at < 1 ? at - 1 : at > n ? at - n : 0
        if (outside && set != "padded")
            return ""
        name = name (k > 1 ? "|" : "") c[k] "[" o[k] "]"
        value = value (k > 1 ? "|" : "") (outside ? sprintf("_B%+d", outside) : \
            c[k] == "w" ? word[at] : tag[at])
    }
    return "\t" escape(name "=" value)
}

function shape(t,    w, s, k, length_) {
    w = word[t]
    length_ = length(w)
    s = "\tnum[0]=" (w ~ /[0-9]/ ? "Y" : "N") "\tcap[0]=" (w ~ /^[A-Z]/ ? "Y" : "N")
    s = s "\tsym[0]=" (w ~ /[^A-Za-z0-9]/ ? "Y" : "N")
    for (k = 1; k <= 4; k++)
        s = s "\t" escape("p" k "[0]=" substr(w, 1, k))
    for (k = 1; k <= 4; k++)
        s = s "\t" escape("s" k "[0]=" (length_ > k ? substr(w, length_ - k + 1) : w))
    return s
}

function flush_sentence(    t, k, s) {
    for (t = 1; t <= n; t++) {
        s = escape(label[t])
        for (k = 1; k <= n_attributes; k++)
            s = s attribute(t, names[k], offsets[k])
        if (set == "pos")
            s = s shape(t)
        if (set != "padded")
            s = s (t == 1 ? "\t__BOS__" : "") (t == n ? "\t__EOS__" : "")
        print s
    }
    if (n)
        print ""
    n = 0
}

function add(n_, o_) {
    n_attributes++
    names[n_attributes] = n_
    offsets[n_attributes] = o_
}

BEGIN {
    for (o = -2; o <= 2; o++)
        add("w", o)
    add("w w", "-1 0")
    add("w w", "0 1")
    if (set != "pos") {
        for (o = -2; o <= 2; o++)
            add("pos", o)
        for (o = -2; o <= 1; o++)
            add("pos pos", o " " o + 1)
        for (o = -2; o <= 0; o++)
            add("pos pos pos", o " " o + 1 " " o + 2)
    }
}

NF == 0 { flush_sentence(); next }

{
    n++
    word[n] = $1
    tag[n] = $2
    label[n] = set == "pos" ? $2 : set == "np" && $3 !~ /^[BI]-NP$/ ? "O" : $3
}

END { flush_sentence() }
