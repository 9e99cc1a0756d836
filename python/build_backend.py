"""Builds wheels and source distributions of the package: a PEP 517 backend.

Needs Python's standard library, a C compiler and the headers that the C library needs, and nothing
from the network.  The C sources are beside this file in a source distribution (csrc/), and in the
folder above in the repository.

    python build_backend.py FOLDER    builds the package in place, for tests

Environment: CC, CFLAGS, LDFLAGS; TRELLIS_LIBRARY, a libtrellis.a that is already there.
"""
import base64
import concurrent.futures
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "trellis-crf"
FILE_NAME = "trellis_crf"
PACKAGE = os.path.join(HERE, "trellis")


def c_root():
    """Where include/ and src/ of the C library are."""
    inside = os.path.join(HERE, "csrc")
    return inside if os.path.isdir(inside) else os.path.dirname(HERE)


def version():
    with open(os.path.join(c_root(), "include", "trellis", "version.h")) as f:
        numbers = re.findall(r"#define TRL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", f.read())
    return ".".join(numbers)


def metadata():
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    return (
        "Metadata-Version: 2.1\n"
        f"Name: {NAME}\n"
        f"Version: {version()}\n"
        "Summary: Conditional random fields, parsers and their scores, in C\n"
        "License: MIT\n"
        "Requires-Python: >=3.9\n"
        "Description-Content-Type: text/markdown\n"
        "Provides-Extra: all\n"
        "Requires-Dist: numpy; extra == 'all'\n"
        "Requires-Dist: scikit-learn; extra == 'all'\n"
        "Requires-Dist: nltk; extra == 'all'\n"
        "Requires-Dist: tqdm; extra == 'all'\n"
        f"\n{readme}"
    )


# ---- compiling --------------------------------------------------------------------------------


def compiler():
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(shlex.split(name)[0]):
            return shlex.split(name)
    raise SystemExit("trellis: there is no C compiler (install gcc, or set CC)")


def flags():
    return [
        "-std=c11", "-O2", "-fopenmp-simd", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden",
        "-pthread", "-fstack-protector-strong", "-Wno-psabi", "-Werror=implicit-function-declaration",
        "-D_POSIX_C_SOURCE=200809L",
        f'-DTRL_VERSION="{version()}"',
    ] + shlex.split(os.environ.get("CFLAGS", ""))


def library_flags(path):
    """The flags of a file of the library are the Makefile's: they decide the bits of the results."""
    folder, name = os.path.split(path)
    if os.path.basename(folder) != "num" and not name.endswith("_kernel.c"):
        return []
    with open(path, encoding="utf-8") as f:
        return ["-O3", "-ffp-contract=" + ("fast" if "TRL_CLONES" in f.read() else "off")]


def check_headers(cc):
    needed = {"zlib.h": "zlib1g-dev", "zstd.h": "libzstd-dev", "xxhash.h": "libxxhash-dev"}
    include = sysconfig.get_paths()["include"]
    missing = []
    for header, package in list(needed.items()) + [("Python.h", "python3-dev")]:
        if run(cc + ["-E", "-x", "c", "-I" + include, "-"], f"#include <{header}>\n") != 0:
            missing.append((header, package))
    if missing:
        raise SystemExit(
            "trellis: missing headers: " + ", ".join(h for h, _ in missing)
            + "\non Debian and Ubuntu: apt-get install " + " ".join(p for _, p in missing))


def run(command, text=""):
    return subprocess.run(command, input=text.encode(), stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode


def compile_one(command, source, target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    done = subprocess.run(command + ["-c", "-o", target, source], capture_output=True)
    if done.returncode:
        raise SystemExit(f"trellis: {source} does not compile:\n{done.stderr.decode()}")
    return target


def sources(folder):
    return sorted(os.path.join(d, f) for d, _, files in os.walk(folder) for f in files
                  if f.endswith(".c"))


def compile_all(objects):
    """All object files, those of the library unless it is already there."""
    cc, root, library = compiler(), c_root(), os.environ.get("TRELLIS_LIBRARY")
    check_headers(cc)
    base = cc + flags() + ["-I" + os.path.join(root, "include")]
    python = base + ["-isystem", sysconfig.get_paths()["include"]]
    jobs = [(python, s, os.path.join(objects, "binding", os.path.basename(s)[:-1] + "o"))
            for s in sources(os.path.join(HERE, "src"))]
    if not library:
        folder = os.path.join(root, "src")
        jobs += [(base + ["-I" + folder] + library_flags(s), s,
                  os.path.join(objects, os.path.relpath(s, folder)[:-1] + "o"))
                 for s in sources(folder)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        made = list(pool.map(lambda job: compile_one(*job), jobs))
    return cc, made + ([library] if library else [])


def build_extension(folder):
    """Compiles trellis/_core into folder; its path."""
    target = os.path.join(folder, "_core" + sysconfig.get_config_var("EXT_SUFFIX"))
    with tempfile.TemporaryDirectory() as objects:
        cc, made = compile_all(objects)
        exports = os.path.join(objects, "exports.map")
        with open(exports, "w") as f:
            f.write("{ global: PyInit__core; local: *; };\n")
        command = cc + ["-shared", "-o", target] + made + [
            "-Wl,--version-script=" + exports, "-Wl,-z,relro,-z,now"]
        command += shlex.split(os.environ.get("LDFLAGS", "")) + ["-lz", "-lzstd", "-lm", "-pthread"]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            raise SystemExit(f"trellis: linking failed:\n{done.stderr.decode()}")
    return target


# ---- wheels -----------------------------------------------------------------------------------


def package_files():
    for d, dirs, files in os.walk(PACKAGE):
        dirs[:] = sorted(k for k in dirs if k != "__pycache__")
        for f in sorted(files):
            if f.endswith((".py", ".pyi")) or f == "py.typed":
                path = os.path.join(d, f)
                yield path, os.path.relpath(path, HERE)


def tag():
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}{getattr(sys, 'abiflags', '')}-{platform}"


class Wheel:
    """A wheel in the making: files and their checksums."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data):
        info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        info.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def finish(self, info):
        for name, text in dist_info():
            self.add(f"{info}/{name}", text.encode())
        self.record.append(f"{info}/RECORD,,")
        self.zip.writestr(zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0)),
                          "\n".join(self.record) + "\n")
        self.zip.close()


def dist_info():
    yield "METADATA", metadata()
    yield "WHEEL", ("Wheel-Version: 1.0\nGenerator: trellis\nRoot-Is-Purelib: false\n"
                    f"Tag: {tag()}\n")
    yield "top_level.txt", "trellis\n"


def info_folder():
    return f"{FILE_NAME}-{version()}.dist-info"


def read(path):
    with open(path, "rb") as f:
        return f.read()


def make_wheel(directory, add_package):
    name = f"{FILE_NAME}-{version()}-{tag()}.whl"
    wheel = Wheel(os.path.join(directory, name))
    add_package(wheel)
    wheel.finish(info_folder())
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    def add(wheel):
        for path, name in package_files():
            wheel.add(name, read(path))
        with tempfile.TemporaryDirectory() as folder:
            core = build_extension(folder)
            wheel.add("trellis/" + os.path.basename(core), read(core))
    return make_wheel(wheel_directory, add)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    def add(wheel):
        build_extension(PACKAGE)
        wheel.add(FILE_NAME + ".pth", (HERE + "\n").encode())
    return make_wheel(wheel_directory, add)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = os.path.join(metadata_directory, info_folder())
    os.makedirs(folder, exist_ok=True)
    for name, text in dist_info():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    return info_folder()


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel
prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


# ---- source distributions -----------------------------------------------------------------------


def sdist_files():
    """(path, name in the archive) of everything that a build or a test needs."""
    for name in ("pyproject.toml", "build_backend.py", "README.md"):
        yield os.path.join(HERE, name), name
    yield from package_files()
    for folder in ("src", "tests"):
        for d, _, files in os.walk(os.path.join(HERE, folder)):
            for f in sorted(files):
                if f.endswith((".c", ".h", ".py")):
                    yield os.path.join(d, f), os.path.relpath(os.path.join(d, f), HERE)
    root = c_root()
    for folder in ("include", "src"):
        for d, _, files in os.walk(os.path.join(root, folder)):
            for f in sorted(files):
                if f.endswith((".c", ".h", ".inc")):
                    path = os.path.join(d, f)
                    yield path, os.path.join("csrc", os.path.relpath(path, root))
    yield os.path.join(root, "LICENSE"), "csrc/LICENSE"


def build_sdist(sdist_directory, config_settings=None):
    base = f"{FILE_NAME}-{version()}"
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz",
                      format=tarfile.PAX_FORMAT) as tar:
        for path, name in sdist_files():
            tar.add(path, f"{base}/{name}")
        text = metadata().encode()
        info = tarfile.TarInfo(f"{base}/PKG-INFO")
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
    return base + ".tar.gz"


def build_in_place(folder):
    """The package as it would be installed, in folder/trellis."""
    for path, name in package_files():
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
    build_extension(os.path.join(folder, "trellis"))


if __name__ == "__main__":
    build_in_place(sys.argv[1])
