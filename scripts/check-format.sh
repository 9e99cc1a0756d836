#!/bin/sh
# Every C file is laid out as .clang-format says: scripts/check-format.sh
#
# Names each file that is not, and how to mend it.  Skipped, with a word, without clang-format; its
# versions differ in details, and 14 (Debian 12) decides.
set -u
if ! version=$(clang-format --version 2>/dev/null); then
    echo "skipped: format: clang-format is not installed"
    exit 0
fi
case $version in
*' version 14.'*) ;;
*)
    echo "skipped: format: this is not clang-format 14 but ${version#*version }"
    exit 0
    ;;
esac
files=$(git ls-files '*.[ch]' 2>/dev/null) ||
    files=$(find src include cli tests bench examples -name '*.[ch]')
# shellcheck disable=SC2086
bad=$(ls -d $files 2>/dev/null | xargs clang-format --dry-run -Werror 2>&1 |
    sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: .*/\1/p' | sort -u)
for file in $bad; do
    echo "$file: not in the layout of .clang-format; run: clang-format -i $file"
done
[ -z "$bad" ]
