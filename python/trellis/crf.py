"""Conditional random fields on chains: a scikit-learn estimator."""
import os
import tempfile
import warnings
from typing import Any, Dict, List, NamedTuple

from . import _core, _files, partial, training
from ._base import BaseEstimator, NotFittedError, doubles, processors, threads
from .answers import Answers
from .knowledge import Knowledge
from .metrics import flat_accuracy_score


class Labelling(NamedTuple):
    """One of the n best labellings of a sequence."""

    labels: List[str]
    probability: float
    score: float


# CRFsuite's algorithms.  Its lbfgs is its name for the minimum of the penalised likelihood, which is the
# same whatever gets there; L-BFGS itself is an optimizer.
ALGORITHMS = {
    None: {"optimizer": "auto"},
    "lbfgs": {"optimizer": "auto"},
    "l2sgd": {"optimizer": "sgd"},
    "ap": {"objective": "perceptron"},
    "pa": {"objective": "perceptron", "optimizer": "pa"},
    "arow": {"objective": "perceptron", "optimizer": "arow"},
}
ALIASES = {"averaged-perceptron": "ap", "passive-aggressive": "pa"}

# Parameters of sklearn_crfsuite that nothing here depends on.
WITHOUT_EFFECT = ("linesearch", "max_linesearch", "calibration_rate", "calibration_samples",
                  "calibration_candidates", "calibration_max_trials")


def algorithm_options(name, objective=None):
    """The options of one of CRFsuite's algorithms, which are about the likelihood unless there is
    another objective."""
    key = name.lower() if isinstance(name, str) else name
    key = ALIASES.get(key, key)
    if key not in ALGORITHMS:
        raise ValueError(f"algorithm is one of {', '.join(k for k in ALGORITHMS if k)}, not {name!r}")
    if objective not in (None, "likelihood") and key in (None, "lbfgs"):
        return {"optimizer": key} if key else {}
    return dict(ALGORITHMS[key])


def seen_or_all(flag):
    """The library's choice for one of CRFsuite's flags."""
    return None if flag is None else "all" if flag else "seen"


class CRF(Answers, Knowledge, BaseEstimator):
    """A conditional random field that labels sequences.

    X is a list of sequences.  The tokens of a sequence are

    * dictionaries, ``{"word": "dog", "suffix": {"2": "og"}, "length": 3.0, "title": True}``;
    * lists of strings, the attributes that are on: ``["word=dog", "bias"]``;
    * rows of cells (tuples or lists of strings), when there is a ``template``;
    * strings, rows of one cell: a template is built in.

    y is a list of lists of labels (strings).  Where a label is not known for certain it is None, a
    set of labels or a dictionary of their probabilities (docs/partial.md).

    Parameters
    ----------
    objective, optimizer : str
        What is optimised and how; ``trellis.objectives()`` and ``trellis.optimizers()`` say what
        there is.  Without an optimizer it is ``"auto"``: what takes the least processor time to
        the optimum.
    algorithm : {'lbfgs', 'l2sgd', 'ap', 'pa', 'arow'}
        The same in CRFsuite's words.  ``"lbfgs"`` is its default and ours: the optimum of the
        penalised likelihood, by ``"auto"``; L-BFGS itself is ``optimizer="lbfgs"``.
    c1, c2 : float
        The penalty ``c1 |w|_1 + c2 |w|_2^2``.
    min_freq, min_count, all_possible_states, all_possible_transitions, order : features
        Features rarer than min_freq, attributes rarer than min_count are left out; features not seen
        in the data are added; order 2 has features of three labels.
    template : str or True
        Text or path of a template for columns, or the name of one that is built in
        ("ner", "pos", "chunk", "address"); True: a simple one.
    max_iterations, epsilon, period, delta, patience : when to stop
    num_memories, eta, batch, precision, random_state : details of the optimiser
    n_jobs : int
        Threads, of training and of prediction; None: all processors.  Results do not depend on it.
    callbacks : function or list of functions
        Called with a :class:`trellis.Progress`; True stops the run.
    progress : bool
        A progress bar.
    init : CRF or path
        Where to start from.
    cost : str or dict
        What wrong labels cost, ``{("B-PER", "O"): 5}`` or ``"B-PER:O=5"``: docs/partial.md.
    scheme : str
        The tag scheme of the labels: "iob1", "iob2", "ioe1", "ioe2", "iobes" or "bilou".  The model
        keeps it, and every prediction is well-formed; labels in ``y`` that are not are refused.
    rules : path
        A file of rules about labels, which the model keeps: docs/constraints.md.
    checkpoint, checkpoint_every, resume : checkpoints of long runs

    The other parameters are sklearn_crfsuite's, so that its programs run.

    Examples
    --------
    >>> X = [[{"w": "the"}, {"w": "dog"}, {"w": "barks"}], [{"w": "a"}, {"w": "cat"}]]
    >>> y = [["D", "N", "V"], ["D", "N"]]
    >>> crf = CRF(c2=0.1).fit(X, y)
    >>> crf.predict([[{"w": "a"}, {"w": "dog"}]])
    [['D', 'N']]
    >>> crf.classes_
    ['D', 'N', 'V']
    """

    def __init__(self, algorithm=None, min_freq=None, all_possible_states=None,
                 all_possible_transitions=None, c1=None, c2=None, max_iterations=None,
                 num_memories=None, epsilon=None, period=None, delta=None, linesearch=None,
                 max_linesearch=None, calibration_eta=None, calibration_rate=None,
                 calibration_samples=None, calibration_candidates=None, calibration_max_trials=None,
                 pa_type=None, c=None, error_sensitive=None, averaging=None, variance=None,
                 gamma=None, verbose=False, model_filename=None, keep_tempfiles=False,
                 trainer_cls=None, *, objective=None, optimizer=None, order=None, template=None,
                 min_count=None, nota=None, q0=None, q0_samples=None, q0_mask=None, calibrate=None,
                 decode=None, precision=None, eta=None, batch=None, patience=None,
                 random_state=None, init=None, checkpoint=None, checkpoint_every=None, resume=None,
                 n_jobs=None, callbacks=None, progress=False, cost=None,
                 scheme=None, rules=None):
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls
        self.objective = objective
        self.optimizer = optimizer
        self.order = order
        self.template = template
        self.min_count = min_count
        self.nota = nota
        self.q0 = q0
        self.q0_samples = q0_samples
        self.q0_mask = q0_mask
        self.calibrate = calibrate
        self.decode = decode
        self.precision = precision
        self.eta = eta
        self.batch = batch
        self.patience = patience
        self.random_state = random_state
        self.init = init
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.progress = progress
        self.cost = cost
        self.scheme = scheme
        self.rules = rules

    # ---- training ------------------------------------------------------------------------------

    def fit(self, X, y, X_dev=None, y_dev=None, sample_weight=None, token_weight=None) -> "CRF":
        """Trains on sequences X with labels y; sample_weight says how often each one counts, and
        token_weight, a list of numbers for every sequence, how often its tokens do, for objectives
        that are sums over tokens.

        Labels in y may be None (not known), sets or dictionaries of probabilities; those in y_dev
        are strings.

        With X_dev and y_dev every iteration is scored on them, and the best one is kept.  Ctrl-C
        stops and keeps the model of the last iteration; KeyboardInterrupt goes on after that.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("pass both X_dev and y_dev, or neither")
        X = _listed(X)
        y = _listed(y)
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} sequences and y has {len(y)}")
        if sample_weight is not None and len(sample_weight) != len(X):
            raise ValueError(f"{len(sample_weight)} weights for {len(X)} sequences")
        if len(X) == 0:
            raise ValueError("there are no sequences to train on")
        rows = self._is_rows(X)
        options = self._options(rows)
        if token_weight is not None or partial.is_partial(y):
            options["partial"] = True
            y = partial.notes(y, token_weight)
            if y_dev is not None:
                y_dev = _listed(y_dev)
                if partial.is_partial(y_dev):
                    raise ValueError("every label of y_dev must be known")
                y_dev = partial.notes(y_dev)
        data = _core.Dataset()
        data.add(X, y, sample_weight, rows, once="partial" not in options)
        data.done()
        dev = None
        if X_dev is not None:
            dev = _core.Dataset()
            dev.add(X_dev, y_dev, None, rows)
            dev.done()
        with _Init(self.init) as options["init"]:
            model, self.result_, self.history_, exception = training.run(
                options, data, dev, self._watchers(), self.progress)
        self._keep(model)
        if self.model_filename is not None:
            self.save(self.model_filename)
        if exception is not None:
            raise exception
        return self

    def _is_rows(self, X):
        if self.template is not None and self.template is not False:
            return True
        for xseq in X:
            for token in xseq:
                return isinstance(token, str)
        return False

    def _template_text(self):
        t = self.template
        if t is None or t is True or t is False:
            return None, None
        t = os.fspath(t)
        if "\n" not in t and "%" not in t:
            shipped = None if os.path.exists(t) else _core.template(t)
            if shipped is not None:
                return shipped, t
            with open(t, encoding="utf-8") as f:
                return f.read(), t
        return t, "template"

    def _options(self, rows):
        text, name = self._template_text()
        unused = [k for k in WITHOUT_EFFECT if getattr(self, k) is not None]
        if unused:
            warnings.warn(f"without effect here: {', '.join(unused)}", UserWarning, stacklevel=3)
        options = algorithm_options(self.algorithm, self.objective)
        own = {
            "kind": "chain", "objective": self.objective, "optimizer": self.optimizer,
            "order": self.order, "template_text": text, "template_name": name,
            "min_count": self.min_count, "min_freq": self.min_freq,
            "pa_type": self.pa_type, "pa_c": self.c,
            "error_sensitive": None if self.error_sensitive is None else int(self.error_sensitive),
            "averaging": None if self.averaging is None else int(self.averaging),
            "variance": self.variance, "gamma": self.gamma,
            "pairs": seen_or_all(self.all_possible_states),
            "transitions": seen_or_all(self.all_possible_transitions),
            "c1": self.c1, "c2": self.c2, "max_iter": self.max_iterations,
            "memory": self.num_memories, "epsilon": self.epsilon, "period": self.period,
            "delta": self.delta, "eta": self.calibration_eta if self.eta is None else self.eta,
            "batch": self.batch, "patience": self.patience, "seed": self._seed(),
            "precision": self.precision, "nota": self.nota, "q0": self.q0,
            "q0_samples": self.q0_samples, "q0_mask": self.q0_mask, "calibrate": self.calibrate,
            "decode": self.decode, "checkpoint": self._path(self.checkpoint),
            "checkpoint_every": self.checkpoint_every, "resume": self.resume,
            "threads": threads(self.n_jobs), "cost": partial.cost_text(self.cost),
            "scheme": self.scheme, "rules": self._path(self.rules),
        }
        options.update((k, v) for k, v in own.items() if v is not None)
        return options

    def _seed(self):
        r = self.random_state
        if r is None or hasattr(r, "__index__"):
            return None if r is None else int(r)
        if hasattr(r, "randint"):  # numpy.random.RandomState
            return int(r.randint(0, 2**31 - 1))
        raise ValueError(f"random_state is a whole number, a RandomState or None, not {r!r}")

    @staticmethod
    def _path(path):
        return None if path is None else os.fspath(path)

    def _watchers(self):
        watchers = self.callbacks or []
        watchers = [watchers] if callable(watchers) else list(watchers)
        if self.verbose:
            watchers.append(training.print_line)
        return watchers

    def _keep(self, model):
        self._model = model
        self._info_kept = None
        self._tagger = None

    # ---- models --------------------------------------------------------------------------------

    @property
    def model_(self):
        """The trained model (of the core), or None."""
        if self.__dict__.get("_model") is None and self.model_filename is not None and \
                os.path.exists(self.model_filename):
            self._keep(_core.Model(os.fspath(self.model_filename)))
        return self.__dict__.get("_model")

    def _fitted(self):
        if self.model_ is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: call fit, or load")
        return self.model_

    def __sklearn_is_fitted__(self):
        return self.model_ is not None

    def to_bytes(self) -> bytes:
        """The model as the bytes of a model file, as the command line reads it."""
        model = self._fitted()
        data = model.tobytes()
        if data is None:
            with open(os.fspath(self.model_filename), "rb") as f:
                data = f.read()
        return data

    def save(self, path) -> None:
        """Writes the model file, as ``trellis train -m`` does."""
        _files.write(path, self.to_bytes())

    @classmethod
    def load(cls, source, map: bool = False) -> "CRF":
        """An estimator with the model of a file, or of bytes; map shares the pages of the file."""
        crf = cls(model_filename=None if isinstance(source, bytes) else source)
        crf._keep(_core.Model(source if isinstance(source, bytes) else os.fspath(source), map))
        return crf

    def __getstate__(self):
        state = self.__dict__.copy()
        state["_model"] = None if state.get("_model") is None else self.to_bytes()
        state["_tagger"] = None
        return state

    def __setstate__(self, state):
        state = dict(state)
        data = state.pop("_model", None)
        self.__dict__.update(state)
        self._model = None if data is None else _core.Model(data)

    # ---- answers -------------------------------------------------------------------------------

    def _ask(self, X, what, n=1, decode="model"):
        return self._fitted().predict(X, what, n, threads(self.n_jobs) or processors(), decode)

    def _probabilities(self, X, what="marginals"):
        scores = "model" if self._fitted().info()["is_probability"] else "scores"
        return self._ask(X, what, decode=scores)

    def predict(self, X) -> List[List[str]]:
        """The most probable labels of every sequence."""
        return self._ask(X, "labels")

    def predict_single(self, xseq) -> List[str]:
        """The most probable labels of one sequence."""
        return self._ask([xseq], "labels")[0]

    def predict_proba(self, X) -> List[Any]:
        """The probabilities of the labels: an array (tokens, classes) for every sequence.

        Of a perceptron, whose scores are no log-probabilities, shares of exp(score).
        """
        n = len(self._fitted().labels)
        return [doubles(p, len(p) // (8 * n), n) for p in self._probabilities(X)]

    def predict_pair_proba(self, X) -> List[Any]:
        """The probabilities of neighbouring labels: an array (tokens - 1, classes, classes) each."""
        n = len(self._fitted().labels)
        return [doubles(p, len(p) // (8 * n * n), n, n) for p in self._probabilities(X, "pairs")]

    def predict_marginals(self, X) -> List[List[Dict[str, float]]]:
        """The same as dictionaries: ``{label: probability}`` for every token."""
        labels = self.classes_
        out = []
        for p in self._probabilities(X):
            values: List[float] = list(memoryview(p).cast("d"))  # type: ignore[arg-type]
            n = len(labels)
            out.append([dict(zip(labels, values[k:k + n])) for k in range(0, len(values), n)])
        return out

    def predict_marginals_single(self, xseq) -> List[Dict[str, float]]:
        """The probabilities of the labels of one sequence, as dictionaries."""
        return self.predict_marginals([xseq])[0]

    def predict_nbest(self, X, n: int = 5) -> List[List[Labelling]]:
        """The n most probable labellings of every sequence, best first."""
        from math import exp, isnan
        return [[Labelling(labels, exp(log_p) if not isnan(log_p) else log_p, score)
                 for labels, score, log_p in found]
                for found in self._ask(X, "nbest", n)]

    def score(self, X, y, sample_weight=None) -> float:
        """The share of labels that are right.  All of them must be known."""
        y = _listed(y)
        if partial.is_partial(y):
            raise ValueError("labels that are not known cannot be scored: leave such sequences out")
        predicted = self.predict(X)
        if sample_weight is None:
            return flat_accuracy_score(y, predicted)
        right = total = 0.0
        for w, gold, found in zip(sample_weight, y, predicted):
            right += w * sum(a == b for a, b in zip(gold, found))
            total += w * len(gold)
        return right / total if total else 0.0

    def _more_tags(self):
        return {"X_types": ["sequences"], "requires_y": True, "no_validation": True}


class _Init:
    """The model to start from as a file: a path, or a fitted estimator."""

    def __init__(self, init):
        self.init = init
        self.folder = None

    def __enter__(self):
        if isinstance(self.init, CRF):
            self.folder = tempfile.TemporaryDirectory()
            path = os.path.join(self.folder.name, "init.model")
            self.init.save(path)
            return path
        return None if self.init is None else os.fspath(self.init)

    def __exit__(self, *unused):
        if self.folder:
            self.folder.cleanup()


def _listed(x):
    return x if hasattr(x, "__len__") and hasattr(x, "__getitem__") else list(x)
