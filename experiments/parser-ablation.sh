#!/bin/bash
# parser-ablation.sh -- what each part of the parser is worth: groups of features, the tagger, the rules never seen, the
# span pruner, annotation; and other values of its options.  Cross-validated on training trees; the development sections
# are not looked at.
usual_lengths=25
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/trees.sh"

most=${TREES:-1200}
folds=${FOLDS:-3}
[ -z "$sample" ] || { most=40 folds=2; }
n=${lengths## }
n=${n%% *}

# part CORPUS: $work/CORPUS.part, every so-many-th tree so that there are about $most, and its groups: neighbours, and
# with them most documents, stay in one fold.
part() {
    bank "$1" "$n"
    awk -v all="$(trees_in "$train")" -v most="$most" 'all <= most || int(NR * most / all) > int((NR - 1) * most / all)' "$train" >"$work/$1.part"
    awk -v all="$(trees_in "$work/$1.part")" -v k="$folds" '{ print int((NR - 1) * k / all) }' "$work/$1.part" >"$work/$1.groups"
}

# of CORPUS NAME OPTION...: F1 of every fold, a line each, in $work/CORPUS.NAME
of() {
    local c=$1 to=$work/$1.$2
    [ ! -s "$to" ] || return 0
    say "$1, $2"
    shift 2
    # shellcheck disable=SC2086
    "$trellis" cv -q -k "$folds" -j 1 --kind tree --latent 0 --groups "$work/$c.groups" $limit "$@" "$work/$c.part" >"$work/cv"
    awk 'NR == 1 { sub(/held out/, "held-out"); for (i = 1; i <= NF; i++) if ($i == "f1") f = i } $1 ~ /^[0-9]+$/ { print $f }' "$work/cv" >"$to.new"
    mv "$to.new" "$to"
}

# The built-in families, as a model names them.
first=${corpora%% *}
part "$first"
head -n 40 "$work/$first.part" >"$work/few"
"$trellis" train -q --kind tree --max-iter 1 --pruner pcfg --clusters none -m "$work/few.model" "$work/few"
"$trellis" dump "$work/few.model" | awk -F '\t' '$1 == "text" { on = $2 == "template"; next } on && $1 == "line" { print $2; next } { on = 0 }' >"$work/all.families"

# without NAME REGEX: the families that do not match.
without() { grep -v -E -e "$2" "$work/all.families" >"$work/$1.families"; }
without tag-words '^(tag|base-tag|tag-parent) here\.(word|lower|class|suffix)'
without tag-neighbours '^(tag|base-tag) here([-+]|\.form here\+)'
without clusters 'cluster'
without span-words '^(base-)?parent .*form'
without span-tags '^(base-)?parent .*\.tag'
without span-lengths '(length|shape)'
without split '^base-rule (left|split)'
without rule-ends '^base-rule (first|last|before|after)'
without unary '^base-unary'

groups='tag-words tag-neighbours clusters span-words span-tags span-lengths split rule-ends unary'
describe() {
    case $1 in
    tag-words) echo 'the word below a tag: word, class, ending' ;;
    tag-neighbours) echo 'the words beside a tag' ;;
    clusters) echo 'clusters of words, anywhere' ;;
    span-words) echo 'words at and around the ends of spans, with the label' ;;
    span-tags) echo 'usual tags at and around the ends of spans, with the label' ;;
    span-lengths) echo 'lengths and shapes of spans' ;;
    split) echo 'words at the split of a rule' ;;
    rule-ends) echo 'words at the ends of the span of a rule' ;;
    unary) echo 'words at the ends of unary rules' ;;
    rules) echo 'all features but rules and words, and the tagger (`--grade discriminative`, same rules and pruner)' ;;
    tagger) echo 'the tagger of words (`--no-tagger`)' ;;
    relaxed) echo 'rules never seen (`--relaxed`)' ;;
    strict) echo 'these, and known rules under other parents (`--strict`)' ;;
    pruner) echo 'the span pruner (`--pruner pcfg --relaxed`)' ;;
    plain) echo 'annotation of tags and heads (`--annotate parents`)' ;;
    latent=* | c2=* | max-iter=* | prune=* | markov=* | annotate=*) echo "\`--${1/=/ }\`" ;;
    esac
}
others='rules tagger relaxed strict pruner plain'
values=${VALUES:-latent=1 latent=3 c2=1 c2=4 max-iter=3 max-iter=8}
for c in $corpora; do
    part "$c"
    # shellcheck disable=SC2046
    {
        of "$c" all $(with_clusters)
        for g in $groups; do of "$c" "$g" $(with_clusters) -t "$work/$g.families"; done
        of "$c" rules $(with_clusters) --grade discriminative --pruner spans
        of "$c" tagger $(with_clusters) --no-tagger
        of "$c" relaxed $(with_clusters) --relaxed
        of "$c" strict $(with_clusters) --strict
        of "$c" pruner $(with_clusters) --pruner pcfg --relaxed
        of "$c" plain $(with_clusters) --annotate parents
        for g in $values; do of "$c" "$g" $(with_clusters) "--${g%%=*}" "${g#*=}"; done
    }
done

mean() { awk '{ s += $1 } END { printf "%.2f", s / NR }' "$work/$1.$2"; }
row() { # NAME: F1 by corpus, then the difference to all, over all folds
    local c
    echo -n "| $(describe "$1") |"
    for c in $corpora; do echo -n " $(mean "$c" "$1") |"; done
    for c in $corpora; do paste "$work/$c.$1" "$work/$c.all"; done | awk '{ n++; d = $1 - $2; s += d; ss += d * d; below += d < 0 }
        END { m = s / n; v = n > 1 ? (ss - s * m) / (n - 1) : 0
              printf " %+.2f | %.2f | %d of %d |\n", m, sqrt(v > 0 ? v : 0), below, n }'
}
{
    cat <<END
# What the parts of the parser are worth

F1 (EVALB's rules, gold tags on the leaves, own tags in parsing) by $folds-fold cross-validation on training trees of at most $n words, about $most of each treebank, folds
of neighbouring trees; everything at its default, but without grammars with substates (\`--latent 0\`), then with one thing left out. Clusters: $(cluster_source). The difference is to the first row, fold by fold, over all treebanks: mean,
standard deviation, and in how many folds it is a loss. No development section is looked at.

| without | $(for c in $corpora; do echo -n "$(title "$c") | "; done)difference | deviation | losses |
|---|$(for c in $corpora; do echo -n "---|"; done)---|---|---|
| nothing | $(for c in $corpora; do echo -n "$(mean "$c" all) | "; done)– | – | – |
END
    for g in $groups $others; do row "$g"; done
    cat <<END

Other values of options, in place of no grammars with substates, c2 2 and five passes (\`--latent 3\` is the default):

| with | $(for c in $corpora; do echo -n "$(title "$c") | "; done)difference | deviation | losses |
|---|$(for c in $corpora; do echo -n "---|"; done)---|---|---|
END
    for g in $values; do row "$g"; done
    echo
    made_by
    notes
} >"$work/page.md"
publish
