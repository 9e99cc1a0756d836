#!/bin/bash
# Who may include whom, and what the library must not do.
#
#     scripts/check-layers.sh [ROOT [BUILD]]    checks the tree (and, with BUILD, the built library)
#     scripts/check-layers.sh --self-test       checks that every rule is able to fail
#
#   - a folder of src/ includes only itself and folders to its left in LAYERS, and include/trellis;
#     include/trellis only itself; cli/ include/trellis and its own headers; examples/ trellis only
#   - the same by symbols: an object of src/ uses only what itself and folders to its left define
#   - src/ neither ends the process nor prints, and uses no function without bounds
#   - strings of src/ have no flags of the program
#   - files of C have at most 500 lines
#   - functions have at most six parameters, except kernels (whole vectors, their sizes and strides,
#     as in BLAS)
#   - every symbol that the library defines for others starts with trl_, and every one the shared
#     library exports is declared in include/trellis
set -u
LAYERS="base num text options cluster treebank score feature model foreign graph graph_model boost align grammar chart train train_boost chain parser search mest train_chain train_graph train_tree train_search translate train_translate api"
FORBIDDEN="exit _exit _Exit abort printf fprintf vprintf perror puts putchar fputs rand srand atoi \
atol atof strcpy strcat sprintf vsprintf gets strtok"
MAX_LINES=500
MAX_PARAMETERS=6
findings=0

finding() {
    echo "$1"
    findings=$((findings + 1))
}

# path:line:header of every #include "header" in the files.
includes() {
    grep -snH '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$@" /dev/null |
        sed 's/^\([^:]*:[0-9]*\):[^"]*"\([^"]*\)".*/\1:\2/'
}

check_src_includes() {
    local layer allowed="" at header folder
    for layer in $LAYERS; do
        allowed="$allowed $layer"
        [ -d "src/$layer" ] || continue
        while IFS= read -r at; do
            header=${at#*:*:} folder=${header%%/*}
            if [ "$folder" = trellis ]; then
                [ -f "include/$header" ] || finding "$at: there is no such public header"
            elif [[ " $allowed " != *" $folder "* || $header != */* ]]; then
                finding "${at%:*}: src/$layer may not include \"$header\""
            fi
        done < <(includes "src/$layer"/*.[ch] "src/$layer"/*.inc)
    done
    for layer in src/*/; do
        layer=$(basename "$layer")
        [[ " $LAYERS " == *" $layer "* ]] || finding "src/$layer: not in the list of layers"
    done
}

check_other_includes() {
    local at header
    while IFS= read -r at; do
        header=${at#*:*:}
        case ${at%%/*} in
        cli) [[ $header == trellis/* || -f cli/$header ]] && continue ;;
        *) [[ $header == trellis/* ]] && continue ;;
        esac
        finding "${at%:*}: \"$header\" is not public"
    done < <(includes include/trellis/*.h cli/*.[ch] examples/*.[ch] 2>/dev/null)
}

# Comments and strings are taken out first, line numbers kept.
check_calls() {
    local words=${FORBIDDEN// /|} file hit
    for file in src/*/*.[ch] src/*/*.inc; do
        [ -f "$file" ] || continue
        while IFS= read -r hit; do
            finding "$file:$hit"
        done < <(awk '
            {   line = $0; out = ""
                gsub(/\\./, "", line)
                gsub(/"[^"]*"/, "\"\"", line)
                while (line != "") {
                    if (inside) {
                        end = index(line, "*/")
                        if (!end) break
                        line = substr(line, end + 2); inside = 0
                    } else {
                        start = index(line, "/*")
                        if (!start) { out = out line; break }
                        out = out substr(line, 1, start - 1)
                        line = substr(line, start + 2); inside = 1
                    }
                }
                print out
            }' "$file" | grep -nE "(^|[^A-Za-z0-9_>.])($words)[[:space:]]*\(" |
            sed 's/^\([0-9]*\):[[:space:]]*/\1: not in a library: /')
    done
}

# What differs between objectives and between optimisers is a property of their rows
# (train/objectives.c, train/optimizers.c): nobody else asks for a name.
METHOD_TABLES="src/train/objectives.c src/train/optimizers.c"
check_names() {
    local hit names
    # shellcheck disable=SC2086
    names=$(sed -nE 's/.*\.(name|short_name|tree_name|alias) = "([^"]*)".*/\2/p' $METHOD_TABLES 2>/dev/null |
        paste -sd'|')
    [ -n "$names" ] || return
    while IFS= read -r hit; do
        finding "${hit%%:    *}: asks for a method by its name"
    done < <(grep -nE "(str(n?)cmp\([^;]*|trl_(optimizer|objective)_find\()\"($names)\"" src/*/*.[ch] cli/*.[ch] /dev/null)
}

# Messages of the library name its options 'max-iter', not --max-iter: the program translates.
check_flags() {
    local at
    while IFS= read -r at; do
        finding "$at: a flag of the program in the library"
    done < <(grep -snoE '"([^"\\]|\\.)*--[a-z]+' src/*/*.[ch] include/trellis/*.h /dev/null | cut -d: -f1,2)
}

# docs/design.md has a row for every folder, and every file it names is there.
check_map() {
    local folder name
    [ -f docs/design.md ] || return
    for folder in src/*/; do
        grep -q "^| \`${folder%/}\` |" docs/design.md || finding "docs/design.md: no row for ${folder%/}"
    done
    while read -r name; do
        [ -f "$name" ] || [ -n "$(find src cli -path "*/$name" -print -quit)" ] ||
            finding "docs/design.md: there is no $name"
    done < <(grep -oE '`[a-z_/0-9]+\.(c|h|sh)`' docs/design.md | tr -d '`' | sed 's|^src/||' | sort -u)
}

check_sizes() {
    local n file
    while read -r n file; do
        [ "$file" = total ] || [ "$n" -le $MAX_LINES ] ||
            finding "$file: $n lines are more than $MAX_LINES"
    done < <(wc -l src/*/*.c src/*/*.inc cli/*.c tests/*/*.c 2>/dev/null)
}

# Definitions: what stands before a { in the first column, by .clang-format.
check_parameters() {
    local file at n name
    for file in src/*/*.[ch] cli/*.[ch]; do
        case $file in *_kernel.c) continue ;; esac
        [ -f "$file" ] || continue
        while read -r at n name; do
            finding "$file:$at: $n parameters of $name are more than $MAX_PARAMETERS: take a struct"
        done < <(awk -v most=$MAX_PARAMETERS '
            function count(s,    depth, n, k, c) {
                n = 1
                for (k = 1; k <= length(s); k++) {
                    c = substr(s, k, 1)
                    if (c == "(") depth++
                    else if (c == ")") depth--
                    else if (c == "," && depth == 0) n++
                }
                return n
            }
            /^[A-Za-z_]/ && !/;[ ]*$/ { head = $0; at = FNR; next }
            /^\{/ {
                if (head ~ /\)[ ]*$/ && match(head, /[A-Za-z_0-9]+\(/)) {
                    n = count(substr(head, RSTART + RLENGTH, length(head) - RSTART - RLENGTH))
                    if (n > most) print at, n, substr(head, RSTART, RLENGTH - 1)
                }
                head = ""
            }
            head != "" { head = head " " $0 }
            /;[ ]*$/ { head = "" }' "$file")
    done
}

check_symbols() { # BUILD
    local name
    [ -f "$1/libtrellis.a" ] || return
    while read -r name; do
        finding "symbol $name does not start with trl_"
    done < <(nm -g --defined-only "$1/libtrellis.a" | awk 'NF == 3 && $3 !~ /^trl_/ { print $3 }')
    [ -f "$1/libtrellis.so" ] || return
    while read -r name; do
        grep -qw "$name" include/trellis/*.h ||
            finding "symbol $name is exported but in no public header"
    done < <(nm -D --defined-only "$1/libtrellis.so" | awk 'NF == 3 { print $3 }')
}

# An include may be missing where a declaration was copied, and a function of a public header may be
# defined far to the right: what the linker sees decides.
check_layer_symbols() { # BUILD
    local layer objects=()
    for layer in src/*/*.c; do
        [ ! -f "$1/${layer%.c}.o" ] || objects+=("${layer%.c}.o")
    done
    [ ${#objects[@]} -gt 0 ] || return
    while IFS= read -r layer; do
        finding "$layer"
    done < <(cd "$1" && nm -A -g "${objects[@]}" | awk -v layers="$LAYERS" '
        BEGIN { n = split(layers, l, " "); for (i = 1; i <= n; i++) rank[l[i]] = i }
        {   object = $1; sub(/:.*/, "", object)
            split(object, part, "/"); kind = $(NF - 1); name = $NF
            if (kind == "U" || kind == "w") used[object SUBSEP name] = part[2]
            else home[name] = part[2]
        }
        END {
            for (k in used) {
                split(k, pair, SUBSEP); to = home[pair[2]]
                if (to != "" && rank[to] > rank[used[k]])
                    print pair[1] ": src/" used[k] " may not use " pair[2] " of src/" to
            }
        }' | sort)
}

check_tree() { # BUILD
    check_src_includes
    check_other_includes
    check_calls
    check_names
    check_flags
    check_map
    check_parameters
    check_sizes
    if [ -n "$1" ]; then
        check_symbols "$1"
        check_layer_symbols "$1"
    fi
    [ $findings = 0 ]
}

# ---- is every rule able to fail? ----------------------------------------------------------

expect() { # GOOD|BAD WORDS FILE TEXT: a tree with this one file
    local dir=$temp/tree out
    rm -rf "$dir"
    mkdir -p "$dir"/src/{base,num,text,model,chain} "$dir"/{include/trellis,cli,examples,$(dirname "$3")}
    echo 'int trl_x(void);' | tee "$dir"/src/{base,num,text,model,chain}/x.h \
        "$dir"/include/trellis/x.h "$dir"/cli/x.h >/dev/null
    printf '%b\n' "$4" >"$dir/$3"
    mkdir -p "$dir/src/train"
    echo '{.name = "sdca"},' >"$dir/src/train/optimizers.c"
    mkdir -p "$dir/build"
    if [ "$3" = src/base/sym.c ]; then
        (cd "$dir" && cc -fPIC -c -o build/sym.o src/base/sym.c && ar rcs build/libtrellis.a build/sym.o &&
            cc -shared -o build/libtrellis.so build/sym.o)
    fi
    if [ "$3" = src/num/up.c ]; then
        mkdir -p "$dir"/build/src/{num,chain}
        echo 'int trl_right(void) { return 1; }' >"$dir/src/chain/right.c"
        (cd "$dir" && for f in src/num/up src/chain/right; do cc -c -o build/$f.o $f.c; done)
    fi
    out=$("$self" "$dir" "$dir/build" 2>&1)
    local status=$?
    if [ "$1" = GOOD ] && [ $status != 0 ]; then
        finding "refused: $3: $4: $out"
    elif [ "$1" = BAD ] && { [ $status = 0 ] || [[ $out != *"$2"* ]]; }; then
        finding "not found: $3: $4: $out"
    fi
}

self_test() {
    self=$(cd "$(dirname "$0")" && pwd)/check-layers.sh
    temp=$(mktemp -d)
    trap 'rm -rf "$temp"' EXIT
    expect GOOD "" src/text/a.c '#include "base/x.h"\n#include "text/x.h"\n#include "trellis/x.h"'
    expect GOOD "" src/text/a.c '/* exit(1) printf("x") */\nint n = snprintf(b, 2, "exit(");'
    expect GOOD "" src/base/sym.c 'int trl_x(void) { return 0; }'
    expect GOOD "" cli/a.c '#include "trellis/x.h"\n#include "x.h"\n  exit(2);'
    expect BAD "src/text/a.c:1: src/text may not include" src/text/a.c '#include "model/x.h"'
    expect BAD "src/base/a.h:2: src/base may not include" src/base/a.h '\n# include "chain/x.h"'
    expect BAD "src/model may not include" src/model/a.c '#include "x.h"'
    expect BAD "src/base/a.inc:1: src/base may not include" src/base/a.inc '#include "chain/x.h"'
    expect BAD "src/num/up.o: src/num may not use trl_right of src/chain" src/num/up.c \
        'int trl_right(void); int trl_up(void); int trl_up(void) { return trl_right(); }'
    expect GOOD "" src/num/up.c 'int trl_left(void); int trl_up(void) { return trl_left(); }'
    expect BAD "src/num/a.inc:1: not in a library" src/num/a.inc 'abort();'
    expect BAD "no such public header" src/model/a.c '#include "trellis/gone.h"'
    expect BAD "not in the list of layers" src/extra/a.c ''
    expect BAD 'cli/a.c:1: "base/x.h" is not public' cli/a.c '#include "base/x.h"'
    expect BAD "is not public" include/trellis/a.h '#include "base/x.h"'
    expect BAD "is not public" examples/a.c '#include "base/x.h"'
    local word
    for word in $FORBIDDEN; do
        expect BAD "src/num/a.c:2: not in a library: $word(" src/num/a.c "/* c\\n */ $word(1);"
    done
    expect BAD "asks for a method by its name" src/model/a.c 'x = strcmp(o->name, "sdca") == 0;'
    expect BAD "src/num/a.c:2: a flag of the program" src/num/a.c '\nx = "leave --resume out";'
    expect GOOD "" src/num/a.c 'x = i--; y = "a -- b"; z--;'
    expect BAD "not in a library" src/num/a.c 'x = "a\\"b"; abort ();'
    expect BAD "501 lines are more than" src/num/a.c "$(printf '\\n%.0s' {1..500})"
    expect BAD "7 parameters of f are more than" src/num/a.c \
        'static int f(int a, int b, int c,\n             int d, int e, int g, int h)\n{\n}'
    expect BAD "symbol other does not start" src/base/sym.c 'int other(void) { return 0; }'
    expect BAD "trl_y is exported" src/base/sym.c 'int trl_y(void) { return 0; }'
    [ $findings = 0 ]
}

if [ "${1-}" = --self-test ]; then
    self_test
    exit
fi
build=${2-}
case $build in "" | /*) ;; *) build=$PWD/$build ;; esac
cd "${1:-.}" && check_tree "$build"
