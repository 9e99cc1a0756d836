#!/bin/sh
# Does an installed Trellis work, and does uninstall leave nothing?  scripts/check-install.sh BUILD
set -eu
BUILD=$1
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL
make -s BUILD="$BUILD" PREFIX=/opt/trellis DESTDIR="$temp/root" install >/dev/null
base=$temp/root/opt/trellis
[ "$("$base/bin/trellis" --version)" = "$("$BUILD/trellis" --version)" ]
[ -L "$base/lib/libtrellis.so" ] && [ -L "$base/lib/libtrellis.so.0" ] && [ -e "$base/lib/libtrellis.so" ]
grep -q '^libdir=/opt/trellis/lib$' "$base/lib/pkgconfig/trellis.pc"
if grep '@' "$base/lib/pkgconfig/trellis.pc"; then exit 1; fi
cmp man/trellis.1 "$base/share/man/man1/trellis.1"

# The example with the installed headers: against the shared library, then the static one.
${CC:-cc} -std=c11 -I"$base/include" examples/tag.c -o "$temp/tag" -L"$base/lib" -ltrellis -lm
status=0
LD_LIBRARY_PATH=$base/lib "$temp/tag" /dev/null x 2>"$temp/err" || status=$?
[ $status = 1 ] && grep -q '^tag: /dev/null' "$temp/err"
${CC:-cc} -std=c11 -I"$base/include" examples/tag.c -o "$temp/tag" "$base/lib/libtrellis.a" \
    -lz -lzstd -lm -pthread
status=0
"$temp/tag" /dev/null x 2>"$temp/err" || status=$?
[ $status = 1 ] && grep -q '^tag: /dev/null' "$temp/err"

# Every installed header by itself, as C and, where there is a compiler for it, as C++.
for header in "$base"/include/trellis/*.h; do
    echo "#include <trellis/$(basename "$header")>" >"$temp/header.c"
    ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$base/include" "$temp/header.c"
    if command -v "${CXX:-c++}" >/dev/null; then
        "${CXX:-c++}" -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$base/include" "$temp/header.c"
    fi
done
command -v "${CXX:-c++}" >/dev/null || echo "skipped: headers as C++: there is no ${CXX:-c++}"

make -s BUILD="$BUILD" PREFIX=/opt/trellis DESTDIR="$temp/root" uninstall
left=$(find "$temp/root" ! -type d)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
