"""The blocks of docs/python.md run, and so do the examples in the doc strings."""
import doctest
import importlib
import pkgutil
import re

import pytest

import trellis
from conftest import REPOSITORY


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
