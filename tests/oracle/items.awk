# Columns (word, part of speech, chunk) as CRFsuite items, the first N sentences:
#     awk -v n=N -f tests/oracle/items.awk COLUMNS
function put(name, value) {
    gsub(/\\/, "\\\\", value)
    gsub(/:/, "\\:", value)
    printf "\t%s=%s", name, value
}
function sentence(    i) {
    for (i = 1; i <= k; i++) {
        printf "%s", label[i]
        put("w[0]", word[i])
        put("t[0]", tag[i])
        put("s[0]", substr(word[i], length(word[i]) - 1))
        if (i > 1) {
            put("t[-1]", tag[i - 1])
            put("t[-1]|t[0]", tag[i - 1] "|" tag[i])
        } else {
            printf "\tfirst:0.5"
        }
        if (i < k)
            put("t[1]", tag[i + 1])
        print ""
    }
    print ""
    k = 0
}
NF == 0 {
    if (k) {
        sentence()
        if (++done == n)
            exit
    }
    next
}
{ k++; word[k] = $1; tag[k] = $2; label[k] = $3 }
END { if (k && done < n) sentence() }
