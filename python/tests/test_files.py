"""What is written is written whole, or not at all."""
import os
import stat
import threading

import pytest

import trellis
from trellis import _files
from trellis.compat import pycrfsuite


@pytest.fixture
def savers(tiny):
    """Everything that writes a file."""
    crf = trellis.CRF(max_iterations=2).fit(*tiny)
    trees = ["(S (NP (D the) (N dog)) (VP (V barks)))"] * 3

    def train(path):
        trainer = pycrfsuite.Trainer(verbose=False)
        trainer.append(tiny[0][0], tiny[1][0])
        trainer.train(str(path))

    return {"crf": crf.save, "parser": trellis.Parser(grade="generative").fit(trees).save,
            "bank": trellis.Treebank(trees).save, "page": trellis.render(crf).save,
            "dump": crf.tagger_.dump, "trainer": train}


def test_files_keep_their_links_and_permissions(savers, tmp_path):
    for name, save in savers.items():
        target, link = tmp_path / f"{name}.file", tmp_path / f"{name}.link"
        target.write_bytes(b"before")
        target.chmod(0o640)
        link.symlink_to(target)
        save(link)
        assert link.is_symlink() and target.read_bytes() != b"before"
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert not [f for f in os.listdir(tmp_path) if f.endswith(".partial")]


def test_a_new_file_has_the_usual_permissions(savers, tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    for name, save in savers.items():
        save(tmp_path / name)
        assert (tmp_path / name).stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_what_is_no_file_is_written_to(savers, tmp_path):
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    for save in savers.values():
        got = []

        def take():
            with open(pipe, "rb") as f:
                got.append(f.read())

        reader = threading.Thread(target=take)
        reader.start()
        save(pipe)
        reader.join()
        assert got[0] and stat.S_ISFIFO(os.stat(pipe).st_mode)


def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"before")

    def fail(*unused):
        raise OSError("no room")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no room"):
        _files.write(path, b"after")
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["model"]
    for wrong in ("", tmp_path / "no" / "folder", tmp_path):
        with pytest.raises((ValueError, OSError)):
            _files.write(wrong, b"after")
    with pytest.raises(TypeError):
        _files.write(1, b"after")
