#!/bin/sh
# Does the shared library still offer what programs were compiled against?
#
#     scripts/check-abi.sh BUILD             compares the library in BUILD with tests/abi.txt
#     scripts/check-abi.sh --record BUILD    writes tests/abi.txt anew, after something was added
#     scripts/check-abi.sh --self-test BUILD checks that every kind of change is found
#
# A line of the list is a symbol that the library exports, a function with the types of its parameters, a
# constant of the headers with its value, a struct with the place of each member, the same with their types, or
# a type of callbacks.  What is recorded must stay as it is; a struct that begins with its size may get longer.
# Anything else is a new SOVERSION.  New lines are no failure: record them.  Types of parameters are gcc's
# (-aux-info): with another compiler they are not compared.
set -u
mode=check
case ${1-} in
--record | --self-test) mode=${1#--} && shift ;;
esac
build=$1
list=${ABI_LIST:-tests/abi.txt}
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT

# Headers without comments and preprocessor lines, as one line for each declaration.
declarations() {
    cat include/trellis/*.h | awk '
        { text = text $0 "\n" }
        END {
            while ((a = index(text, "/*")) > 0) {
                b = index(substr(text, a + 2), "*/")
                text = substr(text, 1, a - 1) " " substr(text, a + 2 + b + 1)
            }
            n = split(text, line, "\n")
            for (i = 1; i <= n; i++) {
                if (line[i] ~ /^[ \t]*#/ || skip) { skip = line[i] ~ /\\$/; continue }
                printf "%s ", line[i]
            }
        }' | sed 's/typedef \(struct\|enum\)/\n&/g'
}

# A program that prints the lines of the list for constants and structs.
program() {
    for h in include/trellis/*.h; do echo "#include \"trellis/${h##*/}\""; done
    echo '#include <stdio.h>'
    echo 'int main(void) {'
    declarations | awk '
        /^typedef enum [a-z_0-9]* *\{/ {
            body = $0; sub(/^[^{]*\{/, "", body); sub(/\}.*/, "", body)
            n = split(body, item, ",")
            for (i = 1; i <= n; i++) {
                sub(/=.*/, "", item[i]); gsub(/[ \t]/, "", item[i])
                if (item[i] != "") printf "printf(\"value %s %%d\\n\", (int)%s);\n", item[i], item[i]
            }
        }
        /^typedef struct [a-z_0-9]* *\{/ {
            name = $3; body = $0; sub(/^[^{]*\{/, "", body); sub(/\}.*/, "", body)
            printf "printf(\"struct %s %%zu\", sizeof(%s));\n", name, name
            n = split(body, item, ";")
            for (i = 1; i <= n; i++) {
                if (match(item[i], /\(\*[a-z_0-9]+\)/)) # a function: its name alone
                    item[i] = " " substr(item[i], RSTART + 2, RLENGTH - 3)
                m = split(item[i], part, ",")
                for (j = 1; j <= m; j++) {
                    sub(/\[.*/, "", part[j]); sub(/[ \t]+$/, "", part[j]); sub(/.*[ \t*]/, "", part[j])
                    if (part[j] != "")
                        printf "printf(\" %s@%%zu\", offsetof(%s, %s));\n", part[j], name, part[j]
                }
            }
            printf "printf(\"\\n\");\n"
        }'
    echo 'return 0; }'
}

# Types of parameters, of members and of callbacks.
types() {
    for h in include/trellis/*.h; do echo "#include \"trellis/${h##*/}\""; done >"$temp/all.c"
    if ${CC:-cc} -std=c11 -Iinclude -fsyntax-only -aux-info "$temp/aux" "$temp/all.c" 2>/dev/null; then
        sed -n 's|^/\* include/trellis/[^ ]* \*/ extern \(.*\);$|\1|p' "$temp/aux" |
            awk '{ name = $0; sub(/ \(.*/, "", name); sub(/.*[ *]/, "", name); print "function", name, $0 }'
    fi
    declarations | awk '
        /^typedef struct [a-z_0-9]* *\{/ {
            name = $3; body = $0; sub(/^[^{]*\{/, "", body); sub(/\} *[a-z_0-9]* *;.*/, "", body)
            gsub(/[ \t]+/, " ", body); print "types", name body
        }'
    declarations | tr '\n' ' ' | tr ';' '\n' | sed -n 's/.*\(typedef [^{}]*(\*\(trl_[a-z_0-9]*\))\)/callback \2 \1/p' |
        sed 's/[ \t][ \t]*/ /g'
}

now() {
    nm -D --defined-only "$build/libtrellis.so" | awk 'NF == 3 { print "symbol", $3 }'
    program >"$temp/abi.c"
    ${CC:-cc} -std=c11 -Iinclude -o "$temp/abi" "$temp/abi.c" && "$temp/abi" && types
}

# Every line of the first list against the second.
compare() { # WANTED FOUND
    awk '
        FNR == NR { line[$1 " " $2] = $0; next }
        {   have = line[$1 " " $2]
            if (have == $0) next
            if (have == "") { print $1 " " $2 ": it is gone"; bad = 1; next }
            n = split($0, old, " "); split(have, new, " ")
            grown = $1 == "struct" && old[4] == "size@0" && new[3] + 0 >= old[3] + 0
            for (i = 4; grown && i <= n; i++) grown = old[i] == new[i]
            if ($1 == "types" && $3 == "size_t" && $4 == "size;") # one that may get longer
                grown = substr(have, 1, length($0)) == $0
            if (!grown) { print $1 " " $2 ": it was \"" $0 "\" and is \"" have "\""; bad = 1 }
        }
        END { exit bad }' "$2" "$1"
}

now >"$temp/all" && LC_ALL=C sort -u "$temp/all" >"$temp/now" || exit 1
case $mode in
record)
    cp "$temp/now" "$list"
    ;;
check)
    grep -q '^value TRL_OK 0$' "$temp/now" && grep -q '^struct trl_error ' "$temp/now" || exit 1
    if [ "$(getconf LONG_BIT)" != 64 ]; then # the list is that of 64 bits
        grep -v '^struct \|^function ' "$list" >"$temp/list" && list=$temp/list
    elif ! grep -q '^function ' "$temp/now"; then
        grep -v '^function ' "$list" >"$temp/list" && list=$temp/list
    fi
    compare "$list" "$temp/now" || {
        echo "programs that were compiled before will not run with this library: see SOVERSION in the Makefile,"
        echo "or scripts/check-abi.sh --record $build as long as nothing has been released"
        exit 1
    }
    new=$(LC_ALL=C comm -13 "$list" "$temp/now" | wc -l)
    [ "$new" = 0 ] || echo "$new lines of the interface are new; scripts/check-abi.sh --record $build keeps them"
    ;;
self-test)
    status=0
    try() { # good|bad SED
        sed "$2" "$temp/now" >"$temp/changed"
        if compare "$temp/now" "$temp/changed" >"$temp/out"; then got=good; else got=bad; fi
        if [ $got != "$1" ] || { [ "$2" != p ] && cmp -s "$temp/now" "$temp/changed"; }; then
            echo "not $1: $2" && status=1
        fi
    }
    try good p
    try good '$a symbol trl_something_new'
    try bad '/^symbol trl_train$/d'
    try bad 's/^value TRL_EINVAL 2/value TRL_EINVAL 3/'
    try bad 's/^\(struct trl_str\) 16/\1 24/'
    try bad '/^struct trl_progress /d'
    try bad '/^struct trl_rows /s/cell@16/cell@24/'
    try good '/^struct trl_train_options /s/options [0-9]*/options 4096/'
    try bad '/^struct trl_train_options /s/options [0-9]*/options 64/'
    try bad '/^struct trl_train_options /s/ kind@8/ kind@16/'
    try bad '/^types trl_str /s/size_t n/uint64_t n/'
    try bad '/^types trl_train_options /s/double c1/float c1/'
    try good '/^types trl_train_options /s/$/ int more;/'
    try bad '/^types trl_str /s/$/ int more;/'
    try bad '/^callback trl_cancel_fn /s/bool/int/'
    if grep -q '^function ' "$temp/now"; then
        try bad '/^function trl_error_text /s/char/void/'
        try bad '/^function trl_train /d'
    fi
    exit $status
    ;;
esac
