# skip-edges.awk -- what edges between equal capitalised words can tell about a role, given a chain's labels.
#
#     awk -v role=speaker -f skip-edges.awk TAGGED        (word, role, predicted role; messages begin with -DOCSTART-)
#
# A token is *joined* if its word occurs capitalised elsewhere in the message, and *told* if one of those tokens has the same
# true role and the chain has that right: only then can an edge that makes its two ends agree correct it.  Prints, on one line: tokens of
# the role; those that the chain misses, of them joined, of them told; wrong ones, joined, told; of pairs with the role at an end the
# percentage that has it at both; F1 of the chain, F1 if every told token were right, F1 if equal words all took the label that the chain gives to most of them.
function f1(right, missed, wrong) { return right ? 200 * right / (2 * right + missed + wrong) : 0 }
function look(w,    n_at, p, i, j, k, votes, most, best) {
    n_at = split(at[w], p, " ")
    if (n_at < 2) return
    for (i = 1; i <= n_at; i++)
        if (++votes[out[p[i]]] > most) { most = votes[out[p[i]]]; best = out[p[i]] }
    for (i = 1; i <= n_at; i++) {
        k = p[i]
        joined[k] = 1
        forced[k] = votes[out[k]] == most ? out[k] : best
        for (j = 1; j <= n_at; j++) {
            if (j != i && gold[p[j]] == gold[k] && out[p[j]] == gold[p[j]]) told[k] = 1
            if (j > i && (gold[k] == role || gold[p[j]] == role)) { pairs++; agree += gold[k] == gold[p[j]] }
        }
    }
}
function close_message(    k, w, g, c) {
    for (w in at) look(w)
    for (k = 1; k <= n; k++) {
        g = gold[k] == role
        right += g && out[k] == role; missed += g && out[k] != role; wrong += !g && out[k] == role
        if (g && out[k] != role) { missed_joined += joined[k]; missed_told += told[k] }
        if (!g && out[k] == role) { wrong_joined += joined[k]; wrong_told += told[k] }
        c = told[k] ? gold[k] : out[k]
        right2 += g && c == role; missed2 += g && c != role; wrong2 += !g && c == role
        c = joined[k] ? forced[k] : out[k]
        right3 += g && c == role; missed3 += g && c != role; wrong3 += !g && c == role
    }
    n = 0
    split("", at); split("", joined); split("", told); split("", forced)
}
$1 == "-DOCSTART-" { close_message(); next }
NF {
    gold[++n] = $2
    out[n] = $3
    if ($1 ~ /^[A-Z]/) at[$1] = at[$1] " " n
}
END {
    close_message()
    printf "%d %d %d %d %d %d %d %.1f %.2f %.2f %.2f\n", right + missed, missed, missed_joined, missed_told, wrong, wrong_joined, wrong_told,
        pairs ? 100 * agree / pairs : 0, f1(right, missed, wrong), f1(right2, missed2, wrong2), f1(right3, missed3, wrong3)
}
