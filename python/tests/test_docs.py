"""The blocks of docs/python.md run, and so do the examples in the doc strings."""
import ast
import doctest
import importlib
import json
import pkgutil
import re

import pytest

import trellis
from conftest import BUILD, REPOSITORY


def test_the_blocks_of_the_page(tmp_path, monkeypatch):
    page = REPOSITORY / "docs" / "python.md"
    if not page.exists():
        pytest.skip("docs/python.md is not here")
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").symlink_to(REPOSITORY / "corpus")
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S)
    assert len(blocks) >= 5
    names = {"__name__": "page"}
    for k, block in enumerate(blocks):
        exec(compile(block, f"docs/python.md, block {k + 1}", "exec"), names)


MODULES = sorted(m.name for m in pkgutil.walk_packages(trellis.__path__, "trellis.")
                 if not m.name.endswith("_core"))


@pytest.mark.parametrize("name", ["trellis", *MODULES])
def test_examples_in_doc_strings(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_the_examples_are_found():
    assert sum(doctest.testmod(importlib.import_module(n)).attempted for n in MODULES) > 5


def test_the_stub_is_the_module():
    """Every name of the extension module, and of its types, is in the stub, and no other."""
    tree = ast.parse((REPOSITORY / "python" / "trellis" / "_core.pyi").read_text())
    told, core = {}, trellis._core
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            told[node.name] = {getattr(n, "name", None) or n.target.id for n in node.body
                               if isinstance(n, (ast.FunctionDef, ast.AnnAssign))}
        elif isinstance(node, ast.FunctionDef):
            told[node.name] = None
        elif isinstance(node, ast.AnnAssign):
            told[node.target.id] = None
    assert set(told) == {n for n in dir(core) if not n.startswith("__")}
    for name, members in told.items():
        if members and not issubclass(getattr(core, name), Exception):
            there = {n for n in vars(getattr(core, name)) if not n.startswith("__")}
            assert members - {"__init__"} == there, name


def test_the_notebook_runs(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    notebook = REPOSITORY / "python" / "tutorial.ipynb"
    if not notebook.exists() or not (BUILD / "corpus" / "train.ner.txt").exists():
        pytest.skip("the notebook or the sample corpus is not here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CORPUS", str(BUILD / "corpus"))
    cells = json.loads(notebook.read_text())["cells"]
    names = {"__name__": "notebook", "display": lambda *shown: [
        getattr(x, "_repr_html_", x.__repr__)() for x in shown]}
    code = [c for c in cells if c["cell_type"] == "code"]
    assert len(code) >= 6 and all(not c["outputs"] for c in code)
    for k, cell in enumerate(code):
        exec(compile("".join(cell["source"]), f"tutorial.ipynb, cell {k + 1}", "exec"), names)
    assert names["score"].f1 > 50


def test_sentences_of_a_data_frame():
    frame = {"s": [1, 1, 2], "w": ["a", "b", "c"], "p": ["X", "Y", "Z"], "l": ["A", "B", "A"]}
    assert trellis.sentences(frame, "s", ["w", "p"], "l") == \
        ([[("a", "X"), ("b", "Y")], [("c", "Z")]], [["A", "B"], ["A"]])
    assert trellis.sentences(frame, "s", "w") == ([["a", "b"], ["c"]], None)
    frame["w"][1] = float("nan")
    with pytest.raises(ValueError, match="row 2: the column 'w'"):
        trellis.sentences(frame, "s", "w")
