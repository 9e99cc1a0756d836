#!/bin/sh
# Builds zlib, zstd, xxHash and cmocka for another target: scripts/portability-libs.sh CC FOLDER
#
# Debian has these libraries for its own architecture only, so their Debian sources are downloaded
# once (to build-port/src, through a private apt configuration: nothing of the system changes) and
# compiled with CC to FOLDER/include and FOLDER/lib.  Exit status 1 with a sentence when there is
# no apt-get or no network.
set -eu
cc=$1 out=$2
case $out in /*) ;; *) out=$PWD/$out ;; esac
src=$PWD/build-port/src

[ ! -f "$out/done" ] || exit 0

download() {
    command -v apt-get >/dev/null 2>&1 || { echo "no apt-get to download sources with"; exit 1; }
    # shellcheck source=/dev/null
    . /etc/os-release
    mkdir -p "$src/apt/lists/partial" "$src/apt/cache/archives/partial"
    : >"$src/apt/status"
    key=/usr/share/keyrings/debian-archive-keyring.gpg
    # shellcheck disable=SC2016
    site=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $VERSION_CODENAME" \
        'Component: main' 2>/dev/null | grep '/debian/*$' | head -n 1)
    [ -n "$site" ] || { echo "apt-get knows no place of Debian's packages: apt-get update"; exit 1; }
    echo "deb-src [signed-by=$key] $site $VERSION_CODENAME main" >"$src/apt/sources.list"
    private="-o Dir::Etc::SourceList=$src/apt/sources.list -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State=$src/apt -o Dir::State::status=$src/apt/status \
        -o Dir::Cache=$src/apt/cache -o APT::Sandbox::User=$(id -un)"
    cd "$src"
    # shellcheck disable=SC2086
    if ! { apt-get $private -q update && apt-get $private -q source --download-only \
        zlib libzstd xxhash cmocka; } >log 2>&1; then
        echo "the sources of zlib, zstd, xxHash and cmocka cannot be downloaded"
        exit 1
    fi
    for package in zlib libzstd xxhash cmocka; do
        mkdir -p "$package"
        for tar in "$package"_*.orig.tar.*z*; do
            case $tar in *.asc) ;; *) tar xf "$tar" -C "$package" --strip-components 1 ;; esac
        done
    done
    touch done
}

compile() { # NAME FLAGS FILE...: lib/libNAME.a
    name=$1 flags=$2
    shift 2
    mkdir -p "$out/obj/$name"
    # shellcheck disable=SC2086
    (cd "$out/obj/$name" && "$cc" -O2 -w $flags -c "$@")
    ar rcs "$out/lib/lib$name.a" "$out/obj/$name"/*.o
}

[ -f "$src/done" ] || (download)
mkdir -p "$out/include" "$out/lib"
cp "$src"/zlib/zlib.h "$src"/zlib/zconf.h "$src"/libzstd/lib/*.h "$src"/xxhash/*.h \
    "$src"/cmocka/include/cmocka.h "$out/include"
compile z "-DHAVE_UNISTD_H -D_LARGEFILE64_SOURCE" "$src"/zlib/*.c
compile zstd -DZSTD_DISABLE_ASM "$src"/libzstd/lib/common/*.c "$src"/libzstd/lib/compress/*.c \
    "$src"/libzstd/lib/decompress/*.c
compile cmocka "-I$src/cmocka/include -DHAVE_STDLIB_H -DHAVE_STRING_H -DHAVE_STDIO_H \
    -DHAVE_SIGNAL_H -DHAVE_STRSIGNAL -DHAVE_SETJMP_H -DHAVE_TIME_H -DHAVE_STRUCT_TIMESPEC \
    -DHAVE_CLOCK_GETTIME -DHAVE_INTTYPES_H -DHAVE_GCC_THREAD_LOCAL_STORAGE" "$src"/cmocka/src/cmocka.c
touch "$out/done"
