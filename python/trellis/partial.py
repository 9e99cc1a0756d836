"""Labels that are not known for certain, as the library reads them (docs/partial.md)."""
import re
from itertools import chain, repeat
from typing import Any

NOTES = {type(None), set, frozenset, dict}


def is_partial(y) -> bool:
    """Is some label None, a set or a dictionary of probabilities?"""
    listed = (seq for seq in y if isinstance(seq, (list, tuple)))
    return not NOTES.isdisjoint(map(type, chain.from_iterable(listed)))


def _escape(label) -> str:
    if not isinstance(label, str):
        raise TypeError(f"a label is a string, None, a set of strings or a dictionary of their "
                        f"probabilities, not {label!r}")
    return re.sub(r"([\\|:@?])", r"\\\1", label)


def note(label: Any, weight=None) -> str:
    """The text of what is known of one label.

    >>> note(None), note({"B", "A"}), note({"A": 0.75, "B": 0.25}), note("A|B"), note("A", 2)
    ('?', 'A|B', 'A:0.75|B:0.25', 'A\\\\|B', 'A@2.0')
    """
    if label is None:
        text = "?"
    elif isinstance(label, (set, frozenset, dict)):
        if not label:
            raise ValueError("an empty set of labels: None says that nothing is known")
        if isinstance(label, dict):
            text = "|".join(f"{_escape(k)}:{float(p)!r}" for k, p in label.items())
        else:
            text = "|".join(sorted(map(_escape, label)))
    else:
        text = _escape(label)
    return text if weight is None else f"{text}@{float(weight)!r}"


def notes(y, token_weight=None):
    """The texts of all labels, and how often each token counts."""
    if token_weight is None:
        return [[note(label) for label in seq] for seq in y]
    if len(token_weight) != len(y):
        raise ValueError(f"token_weight has {len(token_weight)} sequences and y has {len(y)}")
    out = []
    for k, (seq, weights) in enumerate(zip(y, token_weight)):
        weights = repeat(None, len(seq)) if weights is None else weights
        texts = [note(label, w) for label, w in zip(seq, weights)]
        if weights is not None and len(texts) != len(seq):
            raise ValueError(f"sequence {k + 1}: not as many weights as labels")
        out.append(texts)
    return out


def cost_text(cost) -> Any:
    """Costs as the library reads them: text as it is, ``{(gold, wrong): cost, gold: cost}`` written.

    >>> cost_text({"O": 1, ("B-PER", "O"): 5})
    'O=1.0,B-PER:O=5.0'
    """
    if cost is None or isinstance(cost, str):
        return cost
    if not isinstance(cost, dict):
        raise ValueError(f"cost is text or a dictionary, not {cost!r}")
    names = lambda k: k if isinstance(k, tuple) else (k,)  # noqa: E731
    escape = lambda s: s if s == "*" else re.sub(r"([\\:=, \t*])", r"\\\1", s)  # noqa: E731
    return ",".join(f"{':'.join(map(escape, names(k)))}={float(v)!r}" for k, v in cost.items())
