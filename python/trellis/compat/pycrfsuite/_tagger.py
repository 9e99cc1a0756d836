"""ItemSequence and Tagger of python-crfsuite."""
import contextlib
import math
import os
import sys

from ... import _core, _files
from . import _dump


_CRFSUITE = b"lCRF"  # what CRFsuite's model files begin with


def _imported(name, data):
    return _core.Model(_core.import_model(name if isinstance(name, str) else os.fsdecode(name), data))


class SequenceError(TypeError, ValueError):
    """What was given is not a sequence of items: a ValueError to CRFsuite's users."""


def taken(take, xseq, *more):
    """take(xseq, *more), a function of the core; ItemSequence is a list already."""
    try:
        return take(xseq._items if isinstance(xseq, ItemSequence) else xseq, *more)
    except TypeError as e:
        raise SequenceError(str(e)) from None


class ItemSequence:
    """The attributes of a sequence, taken out of Python once.

    >>> ItemSequence([["foo"], {"bar": {"baz": 1}}]).items()
    [{'foo': 1.0}, {'bar:baz': 1.0}]
    """

    def __init__(self, pyseq):
        self._items = pyseq._items if isinstance(pyseq, ItemSequence) else taken(_core.normalize, pyseq)

    def items(self):
        """A list of dictionaries {name: value}."""
        return [dict(item) for item in self._items]

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __repr__(self):
        return f"<ItemSequence of size {len(self)}>"


class Tagger:
    """Labels sequences with a model.  Belongs to one thread at a time."""

    _model = _core_tagger = _current = None

    @classmethod
    def _of_model(cls, model):
        tagger = cls()
        tagger._use(model)
        return tagger

    def _use(self, model):
        how = "model" if model.info()["is_probability"] else "scores"
        self._core_tagger = _core.Tagger(model, how)
        self._model = model
        self._current = None

    def open(self, name):
        """Opens a model file, ours or CRFsuite's; closes it at the end of a with statement."""
        with open(name, "rb") as f:
            theirs = f.read(4) == _CRFSUITE
            data = _CRFSUITE + f.read() if theirs else None
        self._use(_imported(os.fspath(name), data) if theirs else _core.Model(os.fspath(name)))
        return contextlib.closing(self)

    def open_inmemory(self, value):
        """Opens a model that is the bytes of a model file."""
        if not isinstance(value, bytes):
            raise TypeError("a model in memory is bytes")
        self._use(_imported("<memory>", value) if value[:4] == _CRFSUITE else _core.Model(value))
        return contextlib.closing(self)

    def close(self):
        """Forgets the model."""
        self._model = self._core_tagger = self._current = None

    def _opened(self, error=ValueError):
        if self._model is None:
            raise error("no model is opened")
        return self._core_tagger

    def labels(self):
        """The labels of the model."""
        self._opened()
        return list(self._model.labels)

    def set(self, xseq):
        """The sequence that the next questions are about."""
        taken(self._opened().set, xseq)
        self._current = None

    def tag(self, xseq=None):
        """The most probable labels, of the current sequence if none is given."""
        if xseq is not None:
            self.set(xseq)
        return self._opened().viterbi()[0]

    def probability(self, yseq):
        """The probability of a labelling of the current sequence."""
        tagger = self._opened()
        score = tagger.score(list(yseq))
        if score is None:
            raise ValueError("a label that the model does not have")
        return math.exp(score - tagger.log_z())

    def marginal(self, y, pos):
        """The probability of a label at a position of the current sequence."""
        tagger = self._opened()
        if self._current is None:
            self._current = memoryview(tagger.marginals()).cast("d")
        if not 0 <= pos < tagger.n_tokens:
            raise ValueError(f"there is no token {pos}")
        if y not in self._model.labels:
            raise ValueError(f"the model does not have the label {y!r}")
        return self._current[pos * len(self._model.labels) + self._model.labels.index(y)]

    def dump(self, filename=None):
        """Writes the model as text, to standard output if there is no file name."""
        self._opened(RuntimeError)
        lines = _dump.text(_dump.parsed(self._model))
        if filename is None:
            sys.stdout.writelines(lines)
        else:
            _files.write(filename, "".join(lines).encode("utf-8", "surrogateescape"))

    def info(self):
        """What the model consists of, a ParsedDump."""
        self._opened(RuntimeError)
        return _dump.parsed(self._model)
