"""Data and the program for the tests: BUILD is the folder that make built in."""
import os
import pathlib

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / os.environ.get("BUILD", "build")


def read_columns(path, limit=None):
    """Sequences of rows (lists of cells)."""
    sequences, rows = [], []
    for line in open(path, encoding="utf-8"):
        if line.strip():
            rows.append(line.split())
        elif rows:
            sequences.append(rows)
            rows = []
    return (sequences + ([rows] if rows else []))[:limit]


def features(rows, t):
    """What a tutorial would take: the word, its ending, its neighbours."""
    word = rows[t][0]
    f = {"bias": 1.0, "word": word.lower(), "end": word[-3:], "title": word.istitle(),
         "tag": rows[t][1]}
    f["before" if t else "first"] = rows[t - 1][0].lower() if t else True
    return f


@pytest.fixture(scope="session")
def program():
    path = BUILD / "trellis"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return str(path)


@pytest.fixture(scope="session")
def chunk_files():
    paths = [BUILD / "corpus" / f"{k}.chunk.txt" for k in ("train", "dev")]
    if not all(p.exists() for p in paths):
        pytest.skip("the sample corpus is not built (make corpus)")
    return [str(p) for p in paths]


@pytest.fixture(scope="session")
def chunks(chunk_files):
    """X (dictionaries), y of the sample corpus, and the rows they are from."""
    rows = read_columns(chunk_files[0], 150)
    X = [[features(r, t) for t in range(len(r))] for r in rows]
    return X, [[cells[-1] for cells in r] for r in rows], rows


@pytest.fixture
def tiny():
    X = [[{"w": "the"}, {"w": "dog", "len": 3}, {"w": "barks"}],
         [{"w": "a"}, {"w": "cat", "len": 3.0}],
         [{"w": "dogs"}, {"w": "bark", "title": False}]]
    return X, [["D", "N", "V"], ["D", "N"], ["N", "V"]]
