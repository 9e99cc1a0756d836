"""How good taggings and trees are, and whether two systems differ: as conlleval and EVALB count.

Numbers are percent.
"""
import dataclasses
import os
import tempfile
from typing import Dict, List, Tuple

from . import _core
from .trees import lines_of


@dataclasses.dataclass(frozen=True)
class Row:
    """One chunk type or one label."""

    name: str
    correct: int
    gold: int
    predicted: int
    precision: float
    recall: float
    f1: float


@dataclasses.dataclass(frozen=True)
class ChunkScore:
    """Chunks, as conlleval counts them; str() is its report."""

    precision: float
    recall: float
    f1: float
    accuracy: float
    gold: int
    predicted: int
    correct: int
    tokens: int
    types: Dict[str, Row]
    report: str = dataclasses.field(repr=False)

    def __str__(self):
        return self.report


@dataclasses.dataclass(frozen=True)
class TokenScore:
    """Single tokens; str() is a report with the most frequent confusions."""

    accuracy: float
    sequence_accuracy: float
    tokens: int
    correct: int
    sequences: int
    labels: Dict[str, Row]
    confusions: List[Tuple[str, str, int]]
    report: str = dataclasses.field(repr=False)

    def __str__(self):
        return self.report


@dataclasses.dataclass(frozen=True)
class TreeScore:
    """Labelled brackets, as EVALB counts them; str() is its report."""

    precision: float
    recall: float
    f1: float
    exact: float
    tagging: float
    crossing: float
    sentences: int
    errors: int
    skipped: int
    gold: int
    predicted: int
    matched: int
    report: str = dataclasses.field(repr=False)

    def __str__(self):
        return self.report


@dataclasses.dataclass(frozen=True)
class Test:
    """A test of significance: two-sided p."""

    statistic: float
    p: float
    n: int
    exact: bool


@dataclasses.dataclass(frozen=True)
class Difference:
    """One measure of two systems: B - A, the middle of its resamples, and p."""

    a: float
    b: float
    difference: float
    low: float
    high: float
    p: float


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two systems on the same sentences; differences are B - A, in percent."""

    sentences: int
    tokens: int
    measures: Dict[str, Difference]
    only_a: int
    only_b: int
    mcnemar: Test
    paired_t: Test
    wilcoxon: Test


def _lists(y):
    return [list(seq) for seq in y]


def chunks(y_true, y_pred, raw: bool = False) -> ChunkScore:
    """Scores chunks of tags B-X, I-X, O (or IOBES); raw: every token is a chunk.

    >>> s = chunks([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "B-NP"]])
    >>> s.recall, s.precision, s.types["NP"].correct
    (100.0, 50.0, 1)
    """
    t, rows, _, _, report, _ = _core.score_tags(_lists(y_true), _lists(y_pred), raw)
    return ChunkScore(t["precision"], t["recall"], t["f1"], t["accuracy"], t["gold"], t["predicted"],
                      t["correct"], t["tokens"], {r[0]: Row(*r) for r in rows}, report)


def tokens(y_true, y_pred) -> TokenScore:
    """Scores single labels.

    >>> s = tokens([["A", "B"], ["A"]], [["A", "A"], ["A"]])
    >>> round(s.accuracy, 2), s.sequence_accuracy, s.confusions
    (66.67, 50.0, [('B', 'A', 1)])
    """
    return token_score(_core.score_tags(_lists(y_true), _lists(y_pred), True))


def token_score(counted) -> TokenScore:
    """What the core has counted, about single tokens."""
    t, _, rows, confusions, _, report = counted
    labels = {r[0]: Row(*r) for r in rows}
    return TokenScore(t["accuracy"], t["sequence_accuracy"], t["tokens"], t["correct_tokens"],
                      t["sequences"], labels, confusions, report)


def trees(gold, predicted, params: str = "collins", unlabelled: bool = False) -> TreeScore:
    """Scores trees (Tree, nltk.Tree or text) by labelled brackets.

    params: "collins", "new", "none" or the path of a .prm file.

    >>> s = trees(["(S (NP (N a)) (VP (V b)))"], ["(S (NP (N a)) (VP (V b)))"])
    >>> s.f1, s.exact
    (100.0, 100.0)
    """
    gold, predicted = lines_of(gold).splitlines(), lines_of(predicted).splitlines()
    t, _, _, report = _core.score_trees(gold, predicted, params, unlabelled)
    return TreeScore(t["precision"], t["recall"], t["f1"], t["exact"], t["tagging"], t["crossing"],
                     t["sentences"], t["errors"], t["skipped"], t["gold"], t["predicted"],
                     t["matched"], report)


MEASURES = ("accuracy", "sentences", "precision", "recall", "f1")


def _comparison(values, trees=False):
    n, n_tokens, _, has_chunks, rows, only_a, only_b, *tests = values
    names = MEASURES[1:] if trees else MEASURES if has_chunks else MEASURES[:2]
    measures = {k: Difference(*rows[MEASURES.index(k)]) for k in names}
    return Comparison(n, n_tokens, measures, only_a, only_b, *(Test(*t) for t in tests))


def compare(y_true, y_a, y_b, resamples: int = 10000, random_state: int = 1,
            confidence: float = 0.95) -> Comparison:
    """Two taggings of the same sentences: is the difference more than chance?

    >>> gold = [["A", "B", "A"]] * 20
    >>> c = compare(gold, [["A", "A", "A"]] * 20, gold)
    >>> round(c.measures["accuracy"].difference, 2), c.only_b, c.mcnemar.p < 0.01
    (33.33, 20, True)
    """
    return _comparison(_core.compare_tags(_lists(y_true), _lists(y_a), _lists(y_b), resamples,
                                          random_state, confidence))


def compare_trees(gold, a, b, params: str = "collins", resamples: int = 10000,
                  random_state: int = 1, confidence: float = 0.95) -> Comparison:
    """The same of two systems' trees."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, bank in (("gold", gold), ("a", a), ("b", b)):
            paths.append(os.path.join(folder, name))
            with open(paths[-1], "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write(lines_of(bank))
        return _comparison(_core.compare_trees(paths[0], paths[1], paths[2], resamples, random_state, confidence, params),
                           trees=True)
