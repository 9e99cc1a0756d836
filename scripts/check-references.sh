#!/bin/sh
# Every key such as [LN89] or [FKM08, 4] in sources, headers and documents has a row in docs/references.md,
# and every row there is cited.
set -eu
cd "${1:-.}"
keys=$(mktemp)
known=$(mktemp)
trap 'rm -f "$keys" "$known"' EXIT
find src include cli docs README.md -name '*.[ch]' -o -name '*.inc' -o -name '*.md' ! -name references.md |
    xargs grep -hoE '\[[A-Z][A-Za-z+]*[0-9][0-9][a-z]?([,;] [^]]*)?\]' | tr -d '[]' | tr ';,' '\n\n' |
    sed 's/^ *//; s/ .*//' | grep -xE '[A-Z][A-Za-z+]*[0-9][0-9][a-z]?' | sort -u >"$keys"
sed -n 's/^| \([A-Z][A-Za-z+]*[0-9][0-9][a-z]\{0,1\}\) |.*/\1/p' docs/references.md | sort -u >"$known"
missing=$(comm -23 "$keys" "$known") idle=$(comm -13 "$keys" "$known")
for k in $missing; do echo "docs/references.md has no $k: $(grep -rlE "[[ ;]$k[],;]" src include cli docs README.md | head -n 3 | tr '\n' ' ')"; done
for k in $idle; do echo "nothing cites $k of docs/references.md"; done
# nothing is cited that a clone does not have
elsewhere=$(grep -rnE 'METHODS [0-9]|METHODS\.md|STYLE-ANCHORS|style anchor|we were given' src include cli docs README.md CONTRIBUTING.md || true)
[ -z "$elsewhere" ] || printf 'cited, but not in the repository:\n%s\n' "$elsewhere"
[ -z "$missing$idle$elsewhere" ] && echo "references: $(wc -l <"$known") keys"
