"""From the source distribution to an installed package, without the network."""
import ast
import importlib.util
import os
import subprocess
import tarfile
import venv
import zipfile

import pytest

from conftest import REPOSITORY

BACKEND = REPOSITORY / "python" / "build_backend.py"
if not BACKEND.exists():
    pytest.skip("not in the repository", allow_module_level=True)
_spec = importlib.util.spec_from_file_location("build_backend", BACKEND)
build_backend = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build_backend)

TRY = """
import trellis
crf = trellis.CRF().fit([[{"w": "a"}, {"w": "b"}]], [["A", "B"]])
print(trellis.__version__, crf.predict([[{"w": "a"}]]), trellis.__file__)
"""


def clean():
    """The environment without the package that is tested elsewhere, and quick to compile."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "TRELLIS_LIBRARY")}
    return dict(env, CFLAGS="-O0", PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1",
                PIP_NO_CACHE_DIR="1")


def test_the_sources_are_those_of_the_oldest_python():
    """The syntax of Python 3.9, of modules and stubs."""
    files = [p for e in ("py", "pyi") for p in (REPOSITORY / "python" / "trellis").rglob("*." + e)]
    assert len(files) > 10
    for path in files:
        ast.parse(path.read_text(), str(path), feature_version=(3, 9))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    return folder / build_backend.build_sdist(str(folder))


def test_the_source_distribution_has_the_c_sources(sdist):
    names = tarfile.open(sdist).getnames()
    base = sdist.name[:-len(".tar.gz")]
    for name in ("PKG-INFO", "pyproject.toml", "build_backend.py", "src/core.c", "csrc/LICENSE",
                 "trellis/crf.py", "csrc/include/trellis/model.h", "csrc/src/chain/viterbi.c"):
        assert f"{base}/{name}" in names
    assert not [n for n in names if n.endswith((".o", ".so", ".pyc"))]


def test_pip_installs_the_source_distribution_into_a_fresh_environment(sdist, tmp_path):
    pytest.importorskip("ensurepip")
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    done = subprocess.run([python, "-m", "pip", "install", str(sdist)], env=clean(),
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    told = subprocess.run([python, "-c", TRY], env=clean(), cwd=tmp_path, capture_output=True,
                          text=True)
    assert told.returncode == 0, told.stderr
    assert f"{build_backend.version()} [['A']]" in told.stdout and "venv" in told.stdout
    shown = subprocess.run([python, "-m", "pip", "show", "-f", "trellis-crf"], env=clean(),
                           capture_output=True, text=True).stdout
    assert "trellis/crf.py" in shown and "Requires: \n" in shown
    subprocess.run([python, "-m", "pip", "uninstall", "-y", "trellis-crf"], env=clean(), check=True,
                   capture_output=True)
    assert subprocess.run([python, "-c", "import trellis"], env=clean(), cwd=tmp_path,
                          capture_output=True).returncode != 0


def test_the_wheel_is_well_formed(tmp_path, monkeypatch):
    library = REPOSITORY / os.environ.get("BUILD", "build") / "libtrellis.a"
    if not library.exists():
        pytest.skip("the library is not built")
    monkeypatch.setenv("TRELLIS_LIBRARY", str(library))
    wheel = tmp_path / build_backend.build_wheel(str(tmp_path))
    archive = zipfile.ZipFile(wheel)
    assert archive.testzip() is None
    info = f"trellis_crf-{build_backend.version()}.dist-info"
    record = archive.read(f"{info}/RECORD").decode().splitlines()
    assert {line.split(",")[0] for line in record} == set(archive.namelist())
    assert build_backend.tag() in archive.read(f"{info}/WHEEL").decode()
    assert [n for n in archive.namelist() if n.startswith("trellis/_core.") and n.endswith(".so")]


def test_the_module_exports_its_initialisation_alone():
    import trellis._core
    told = subprocess.run(["nm", "-D", "--defined-only", trellis._core.__file__], capture_output=True,
                          text=True)
    if told.returncode:
        pytest.skip("there is no nm")
    assert [line.split()[-1] for line in told.stdout.splitlines()] == ["PyInit__core"]


def test_missing_headers_are_named(monkeypatch):
    monkeypatch.setattr(build_backend, "run", lambda *unused: 1)
    with pytest.raises(SystemExit, match="zlib1g-dev.*python3-dev"):
        build_backend.check_headers(["cc"])
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="no C compiler"):
        build_backend.compiler()
