#!/bin/sh
# Installs what is missing to build (and, with --tests, to test) Trellis: scripts/deps.sh [--tests]
# scripts/deps.sh --portability: what `make portability` needs besides
#
# Looks for the tools and headers themselves, so that a system that has them from elsewhere is left
# alone.  Needs apt-get, as root or through sudo, only when something is missing.
set -u
missing=

need_tool() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need_header() { # a tool that is missing counts for its headers too
    printf '#include <stddef.h>\n#include <stdarg.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <%s>\n' "$1" |
        ${CC:-cc} -E -x c - >/dev/null 2>&1 || missing="$missing $2"
}

python=/usr/bin/python3
[ -x $python ] || python=python3
need_python() { # HEADER PACKAGE
    local include
    include=$($python -c 'import sysconfig; print(sysconfig.get_paths()["include"])' 2>/dev/null)
    [ -e "$include/$1" ] || missing="$missing $2"
}
need_module() { # MODULE NAME
    local package="python3-$2"
    [ "$2" != scikit-learn ] || package=python3-sklearn
    $python -c "import $1" >/dev/null 2>&1 || missing="$missing $package"
}

need_tool "${CC:-cc}" gcc
need_tool make make
need_header stdlib.h libc6-dev
need_header zlib.h zlib1g-dev
need_header zstd.h libzstd-dev
need_header xxhash.h libxxhash-dev
if [ "${1-}" = --tests ]; then
    need_header cmocka.h libcmocka-dev
    need_tool clang-format clang-format
    need_tool clang clang
    need_python Python.h python3-dev
    for module in numpy sklearn:scikit-learn pytest nltk tqdm pandas ensurepip:venv; do
        need_module "${module%:*}" "${module#*:}"
    done
fi
if [ "${1-}" = --portability ]; then
    need_tool clang clang
    need_tool i686-linux-gnu-gcc "gcc-i686-linux-gnu libc6-dev-i386-cross"
    need_tool aarch64-linux-gnu-gcc "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
    need_tool musl-gcc musl-tools
    need_tool qemu-aarch64 qemu-user
fi
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "missing, and there is no apt-get to install it with:$missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "missing:$missing" >&2
        echo "install it as root: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
$as_root apt-get install -y --no-install-recommends $missing >/dev/null 2>&1 && exit 0
$as_root apt-get update -q && $as_root apt-get install -y -q --no-install-recommends $missing
