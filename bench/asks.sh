# asks.sh -- section "asks" of run.sh: what tagging under constraints, with probabilities, from raw text, with models of
# other tools and from a cold start takes, and training with labels that are not all known.  Sourced.
#
# Processor seconds (user and system).  Of tagging: the test data ten times, less the test data once, so that
# starting and loading count for nothing; the least of all rounds, in which the cases take turns.

processor() { # KEY COMMAND...: notes the processor seconds of one run
    key_=$1
    shift
    pinned "$work/out" "$@"
    note "$key_" "$(cut -d' ' -f3 "$work/out")"
}
least() { [ ! -s "$work/notes/$1" ] || sort -g "$work/notes/$1" | head -n 1; }

# ask_case KEY SMALL LARGE COMMAND...: the file comes last; LARGE is ten times SMALL.
ask_case() {
    key=$1 small=$2 large=$3
    shift 3
    processor "$key.one" "$@" "$small"
    processor "$key.ten" "$@" "$large"
}
# nine KEY: what nine times the data take.
nine() {
    [ ! -s "$work/notes/$1.ten" ] || echo "$(least "$1.ten") $(least "$1.one")" | awk '{ print $1 - $2 }'
}
ask_row() { # TEXT GOAL KEY BASE: how many times the base it takes
    a=$(nine "$3") b=$(nine "$4")
    echo "| $1 | $(cell %.3f "$a") | $(cell %.3f "$b") | $(ratio "$b" "$a") | $2 |"
}
faster_row() { # TEXT GOAL KEY THEIRS: how many times theirs is ours
    a=$(nine "$3") b=$(nine "$4")
    echo "| $1 | $(cell %.3f "$a") | $(cell %.3f "$b") | $(ratio "$a" "$b") | $2 |"
}

ten_times() { for i in 1 2 3 4 5 6 7 8 9 10; do cat "$1"; echo; done; }

ask_models() {
    say "models"
    [ -s "$work/ask.model" ] || "$trellis" train -q --optimizer lbfgs --c2 1 --max-iter 100 -t "$here/chunk.template" \
        -m "$work/ask.model" "$data/train.txt"
    awk '{ print (NF ? $1 " " $3 : "") }' "$data/train.txt" >"$work/words.train"
    awk 'NF { printf "%s%s", n++ ? " " : "", $1; next } { print ""; n = 0 }' "$data/test.txt" >"$work/raw.test"
    [ -s "$work/raw.model" ] || "$trellis" train -q --optimizer lbfgs --c2 1 --max-iter 20 -t ner \
        -m "$work/raw.model" "$work/words.train"
    awk '{ if (NF) print $1, $2, $3, (NR % 3 ? "_" : "!O"); else print "" }' "$data/test.txt" >"$work/allowed.test"
    for f in raw allowed; do ten_times "$work/$f.test" >"$work/$f.test10"; done
    [ -z "$crfsuite" ] || [ -s "$work/ask.crfsuite" ] || "$crfsuite" learn -m "$work/ask.crfsuite" -a lbfgs -p c2=1 \
        -p max_iterations=20 "$work/chunk.train" >"$work/log"
    [ -z "$crf_learn" ] || [ -s "$work/ask.crfpp" ] || "$crf_learn" -c 0.5 -m 2 -f 3 "$here/chunk.template" \
        "$data/train.txt" "$work/ask.crfpp" >"$work/log"
    for m in crfsuite crfpp; do
        [ ! -s "$work/ask.$m" ] || "$trellis" import "$work/ask.$m" -m "$work/from.$m" 2>"$work/log"
    done
}

ask_round() {
    ask_case ask.plain "$data/test.txt" "$work/test10.txt" "$trellis" tag -j 1 -m "$work/ask.model" -o /dev/null
    ask_case ask.scheme "$data/test.txt" "$work/test10.txt" "$trellis" tag -j 1 -m "$work/ask.model" --scheme iob2 -o /dev/null
    ask_case ask.allowed0 "$work/allowed.test" "$work/allowed.test10" "$trellis" tag -j 1 -m "$work/ask.model" -o /dev/null
    ask_case ask.allowed "$work/allowed.test" "$work/allowed.test10" "$trellis" tag -j 1 -m "$work/ask.model" \
        --allowed-column 4 -o /dev/null
    ask_case ask.marginals "$data/test.txt" "$work/test10.txt" "$trellis" tag -j 1 -m "$work/ask.model" --marginals -o /dev/null
    ask_case ask.schememarg "$data/test.txt" "$work/test10.txt" "$trellis" tag -j 1 -m "$work/ask.model" --marginals \
        --scheme iob2 -o /dev/null
    ask_case ask.onespan "$data/test.txt" "$work/test10.txt" "$trellis" tag -j 1 -m "$work/ask.model" --one-span -o /dev/null
    ask_case ask.raw "$work/raw.test" "$work/raw.test10" "$trellis" tag -j 1 -m "$work/raw.model" --text -o /dev/null
    if [ -s "$work/ask.crfsuite" ]; then
        ask_case ask.fromsuite "$work/chunk.test" "$work/chunk.test10" "$trellis" tag -j 1 -m "$work/from.crfsuite" -o /dev/null
        ask_case ask.suite "$work/chunk.test" "$work/chunk.test10" "$crfsuite" tag -m "$work/ask.crfsuite"
    fi
    if [ -s "$work/ask.crfpp" ] && [ -n "$crf_test" ]; then
        ask_case ask.frompp "$data/test.txt" "$work/test10.txt" "$trellis" tag -j 1 -m "$work/from.crfpp" -o /dev/null
        ask_case ask.pp "$data/test.txt" "$work/test10.txt" "$crf_test" -m "$work/ask.crfpp" -o /dev/null
    fi
}

# Ten iterations of likelihood on 2,000 sentences, all labels known and every second one hidden: twelve less two.
ask_partial() {
    awk '{ print } NF == 0 && ++n == 2000 { exit }' "$data/train.txt" >"$work/known.train"
    awk 'NF { n++; if (n % 2) $NF = "?" } { print }' "$work/known.train" >"$work/half.train"
    for r in $(rounds "$repeat"); do
        for n in one:2 ten:12; do
            common="-q -j 1 --optimizer lbfgs --c2 1 --max-iter ${n#*:} --pairs all -t $here/chunk.template -m $work/ours.model"
            processor "ask.known.${n%:*}" "$trellis" train $common "$work/known.train"
            processor "ask.half.${n%:*}" "$trellis" train $common --partial "$work/half.train"
        done
    done
    ask_row "ten iterations of L-BFGS (2,000 sentences, all pairs), every second label hidden, beside all known" 2.2× ask.half ask.known
}

# Least and median milliseconds of wall and processor time.
ask_starts() {
    make -s -C "$root" build/bench/starts >&2 || { say "no starts"; return 0; }
    "$trellis" shrink -q "$work/ask.model" --keep 0.3 --bits 8 --fingerprints -o "$work/start.model"
    starts="taskset -c $core $root/build/bench/starts 200"
    echo "### To the first label, milliseconds: a model of $(wc -c <"$work/start.model") bytes, 200 starts"
    echo
    echo "| | least | median | processor, least | median |"
    echo "| --- | --- | --- | --- | --- |"
    row() { echo "| $1 | $(echo "$2" | sed 's/ / | /g') |"; }
    row "model opened (private copy, checked), tagger made, one sentence labelled" "$($starts --model "$work/start.model" "$work/tiny.txt")"
    row "whole process, \`trellis tag\`" "$($starts "$trellis" tag -j 1 -m "$work/start.model" "$work/tiny.txt")"
    row "whole process that does nothing, \`trellis --version\`" "$($starts "$trellis" --version)"
    row "another process that does nothing, \`true\`" "$($starts true)"
    echo
}

section_asks() {
    ask_models
    for r in $(rounds "$repeat"); do
        say "asks, round $r"
        ask_round
    done
    echo "### What was asked for: processor seconds, nine times the test data"
    echo
    echo "| tagging | seconds | beside | | at most |"
    echo "| --- | --- | --- | --- | --- |"
    ask_row "\`--scheme iob2\`, beside plain" 1.3× ask.scheme ask.plain
    ask_row "\`--allowed-column\`, beside plain" 1.3× ask.allowed ask.allowed0
    ask_row "\`--marginals\`, beside labels" 1.5× ask.marginals ask.plain
    ask_row "\`--marginals --scheme iob2\`, beside \`--marginals\`" 1.5× ask.schememarg ask.marginals
    ask_row "\`--one-span\`, beside plain" 5× ask.onespan ask.plain
    ask_partial
    echo
    echo "| beside other tools | Trellis | theirs | Trellis is faster by | at least |"
    echo "| --- | --- | --- | --- | --- |"
    faster_row "raw text to chunks (\`-t ner\`); CRF++ from columns" 5× ask.raw ask.pp
    faster_row "CRFsuite's model imported; its own tool" 5× ask.fromsuite ask.suite
    faster_row "CRF++'s model imported; its own tool" 5× ask.frompp ask.pp
    echo
    ask_starts
}
