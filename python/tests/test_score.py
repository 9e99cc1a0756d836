"""Scores are conlleval's, EVALB's and the program's."""
import subprocess

import pytest

import trellis
from trellis import score


@pytest.fixture(scope="module")
def tagged(chunk_files, tmp_path_factory):
    """Gold tags and those of two systems on the dev data, and a file for the program."""
    from conftest import read_columns
    train, dev = (read_columns(p) for p in chunk_files)
    X, y = [[c[:-1] for c in r] for r in train], [[c[-1] for c in r] for r in train]
    X_dev, gold = [[c[:-1] for c in r] for r in dev], [[c[-1] for c in r] for r in dev]
    a = trellis.CRF(template="U00:%x[0,0]\nB\n", max_iterations=10).fit(X, y).predict(X_dev)
    b = trellis.CRF(template=True, max_iterations=20).fit(X, y).predict(X_dev)
    folder = tmp_path_factory.mktemp("scores")
    for name, tags in (("gold", gold), ("a", a), ("b", b)):
        with open(folder / name, "w") as f:
            for rows, g, t in zip(dev, gold, tags):
                f.writelines(f"{r[0]} {x} {z}\n" if name != "gold" else f"{r[0]} {x}\n"
                             for r, x, z in zip(rows, g, t))
                f.write("\n")
    return gold, a, b, folder


def test_chunks_and_tokens_are_the_programs(program, tagged):
    gold, a, _, folder = tagged
    report = subprocess.run([program, "score", "chunks", str(folder / "a")], check=True, capture_output=True,
                            text=True).stdout
    c = score.chunks(gold, a)
    assert str(c) == report
    assert f"{c.f1:.2f}" in report and c.types["NP"].gold > 0
    t = score.tokens(gold, a)
    assert t.accuracy == pytest.approx(100 * trellis.metrics.flat_accuracy_score(gold, a))
    assert t.sequence_accuracy == pytest.approx(
        100 * trellis.metrics.sequence_accuracy_score(gold, a))
    assert sum(n for _, _, n in t.confusions) == t.tokens - t.correct


def test_comparisons(tagged):
    gold, a, b, _ = tagged
    c = trellis.compare(gold, a, b, resamples=1000)
    f1 = c.measures["f1"]
    assert f1.a == pytest.approx(score.chunks(gold, a).f1)
    assert f1.b == pytest.approx(score.chunks(gold, b).f1)
    assert f1.low <= f1.difference <= f1.high and f1.difference == pytest.approx(f1.b - f1.a)
    assert c == trellis.compare(gold, a, b, resamples=1000)
    same = trellis.compare(gold, a, a, resamples=100)
    assert same.mcnemar.p == 1.0 and same.measures["accuracy"].difference == 0.0


def test_trees():
    gold = ["(S (NP (N a)) (VP (V b) (NP (N c))))", "(S (NP (N a)) (VP (V b)))"]
    test = ["(S (NP (N a)) (VP (V b) (XP (N c))))", "(S (NP (N a)) (VP (V b)))"]
    s = score.trees(gold, test)
    assert (s.matched, s.gold, s.predicted) == (6, 7, 7)
    assert s.f1 == pytest.approx(100 * 6 / 7) and s.exact == 50.0
    assert score.trees(gold, test, unlabelled=True).f1 == 100.0
    assert "Bracketing FMeasure" in str(s)
    c = trellis.compare_trees(gold * 20, test * 20, gold * 20, resamples=200)
    assert c.measures["f1"].b == 100.0 and c.only_b == 20
    assert score.trees(["(S (N a))"], ["(S (N b))"]).errors == 1


def test_misuse():
    for bad in (None, 1, "x", [None], [[None]], [[1]], [["a\0b"]], [["A"], ["B"]], [["A", "B"]]):
        for call in (lambda: score.chunks([["A"]], bad), lambda: score.chunks(bad, [["A"]]),
                     lambda: trellis.compare([["A"]], bad, [["A"]]),
                     lambda: score.trees(["(S (N a))"], bad)):
            try:
                call()
            except (ValueError, TypeError) as e:
                assert str(e)
    with pytest.raises(ValueError):
        trellis.compare([], [], [])
    with pytest.raises(ValueError):
        trellis.compare([["A"]], [["A"]], [["A"]], confidence=2.0)
    with pytest.raises(trellis.Error):
        score.trees(["(S (N a))"], ["(S (N a))"], params="/no/such.prm")
