"""More questions to a fitted CRF: spans, entropies, what a label is made of; what is known before."""
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from . import _core
from ._base import doubles


class TagSpan(NamedTuple):
    """Tokens begin .. end-1 are a chunk of the type; boundaries: of any type."""

    begin: int
    end: int
    type: str
    probability: float
    boundaries: float


class Entropy(NamedTuple):
    """In nats, 0 where all is sure: of the labelling as a whole, and of the label of every token."""

    sequence: float
    tokens: Any


class Contribution(NamedTuple):
    """An attribute that is on at a token: its weights times its value are added to the scores.

    The keys of weights are labels or, of attributes that score neighbours, tuples of labels.
    """

    attribute: str
    value: float
    weights: Dict[Any, float]


def _cell(what) -> str:
    """Labels as the library reads them: "A|B"."""
    if what is None:
        return "_"
    return what if isinstance(what, str) else "|".join(sorted(what))


class Answers:
    """What CRF can be asked about sequences one by one.

    ``rules`` are those of docs/constraints.md, as strings: ``["scheme iob2", "max-spans PER=1"]``.
    ``known`` has for every sequence None, a dictionary from positions to a label or a set of labels,
    or a list of spans ``(begin, end, type)``; all answers are then given that.
    """

    if TYPE_CHECKING:
        def _fitted(self) -> Any: ...

    def _taggers(self, X, known, rules) -> Iterator[Optional[_core.Tagger]]:
        """A tagger with each sequence loaded; None for one without tokens."""
        model = self._fitted()
        scores = "model" if model.info()["is_probability"] else "scores"
        tagger = _core.Tagger(model, scores)
        if rules is not None:
            tagger.rules([rules] if isinstance(rules, str) else list(rules))
        X = list(X)
        known = [None] * len(X) if known is None else list(known)
        if len(known) != len(X):
            raise ValueError(f"X has {len(X)} sequences, and {len(known)} are known")
        for xseq, facts in zip(X, known):
            xseq = xseq if hasattr(xseq, "__len__") else list(xseq)
            if len(xseq) == 0:
                yield None
                continue
            tagger.set(xseq)
            if isinstance(facts, dict):
                for position, labels in facts.items():
                    tagger.allow(position, _cell(labels))
            elif facts is not None:
                for begin, end, kind in facts:
                    tagger.fix_span(begin, end, kind)
            yield tagger

    def predict_given(self, X, known=None, rules=None) -> List[List[str]]:
        """The most probable labels of every sequence among those that obey what is known."""
        return [t.viterbi()[0] if t else [] for t in self._taggers(X, known, rules)]

    def predict_spans(self, X, least: Optional[float] = None, known=None, rules=None) -> List[List[TagSpan]]:
        """The chunks of the most probable labels and how probable each one is; with ``least`` all
        chunks, of whatever labelling, that are at least so probable."""
        return [[TagSpan(*s) for s in (t.spans(t.viterbi()[0], 1.0) if least is None else t.spans(None, least))]
                if t else [] for t in self._taggers(X, known, rules)]

    def predict_entropy(self, X, known=None, rules=None) -> List[Entropy]:
        """How unsure the model is of every sequence and token: what to annotate next."""
        out = []
        for t in self._taggers(X, known, rules):
            whole, tokens = t.entropy() if t else (0.0, bytearray())
            out.append(Entropy(whole, doubles(tokens, len(tokens) // 8)))
        return out

    def explain(self, xseq: Iterable[Any], position: int) -> List[Contribution]:
        """The attributes at a token that the model knows, with their weights."""
        model = self._fitted()
        labels = model.labels
        n = len(labels)
        out = []
        for scope, name, value, weights in _core.Tagger(model).explain(xseq, position):
            found: Dict[Any, float] = {}
            for k, w in enumerate(memoryview(weights).cast("d").tolist()):
                if w != 0.0:
                    key: Tuple[str, ...] = ()
                    for _ in range(scope + 1):
                        key, k = (labels[k % n], *key), k // n
                    found[key if scope else key[0]] = w
            out.append(Contribution(name, value, found))
        return out
