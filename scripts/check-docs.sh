#!/bin/sh
# Runs every ```sh block of README.md and docs/*.md, in order, each document beside the tree's corpus and models and
# with the built program first in PATH.  A block fails when one of its commands does.  The program's version has a
# section in CHANGELOG.md.
set -eu
build=${BUILD:-build}
top=$(pwd)
passed=0
failed=0
for doc in README.md docs/*.md; do
    grep -q '^```sh$' "$doc" || continue
    dir=$(mktemp -d)
    mkdir -p "$dir/build"
    ln -s "$top/corpus" "$dir/corpus"
    ln -s "$top/models" "$dir/models"
    ln -s "$top/$build/corpus" "$dir/build/corpus"
    # `make corpus` has been run by the caller; inside the scratch folder make stands for it
    printf '#!/bin/sh\nexec true\n' >"$dir/make"
    chmod +x "$dir/make"
    awk -v dir="$dir" '/^```sh$/ {n++; on = 1; next} /^```$/ {on = 0} on {print > sprintf("%s/block-%03d.sh", dir, n)}' "$doc"
    for block in "$dir"/block-*.sh; do
        # a pipeline hides the exit code of its first commands, not their messages
        if (cd "$dir" && PATH="$dir:$top/$build:$PATH" sh -e "$block" >"$dir/out" 2>&1) &&
            ! grep '^trellis: ' "$dir/out" | grep -qv 'a simpler one is printed'; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "failed: $doc, block $(basename "$block" .sh | sed 's/block-0*//'):"
            cat "$block" "$dir/out"
        fi
    done
    rm -rf "$dir"
done
version=$("$build/trellis" --version | sed 's/.* //')
if grep -q "^## $version (20..-..-..)$" CHANGELOG.md; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "failed: CHANGELOG.md has no section '## $version (date)'"
fi
echo "docs: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
