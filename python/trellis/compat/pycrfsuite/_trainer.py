"""Trainer of python-crfsuite."""
import os

from ... import _core, _files, training
from ...crf import ALIASES, algorithm_options, seen_or_all
from ._logparser import LogWriter, TrainLogParser
from ._tagger import taken

# Name, default, help; the option of Trellis that it is, or None: accepted, and without effect.
_FEATURES = [
    ("feature.minfreq", 0.0, "The minimum frequency of features.", "min_freq"),
    ("feature.possible_states", False, "Generate all features of attributes and labels.",
     "pairs"),
    ("feature.possible_transitions", False, "Generate all features of two labels.",
     "transitions"),
]
_MOST = 2147483647
_ROUNDS = ("max_iterations", 100, "The maximum number of iterations.", "max_iter")
_PARAMETERS = {
    "lbfgs": [
        ("c1", 0.0, "Coefficient of the L1 penalty.", "c1"),
        ("c2", 1.0, "Coefficient of the L2 penalty.", "c2"),
        ("max_iterations", _MOST, "The maximum number of iterations.", "max_iter"),
        ("num_memories", 6, "The number of pairs that approximate the inverse Hessian.", "memory"),
        ("epsilon", 1e-5, "Stop at this norm of the gradient over that of the weights.", "epsilon"),
        ("period", 10, "The number of iterations that delta is about.", "period"),
        ("delta", 1e-5, "Stop when the loss fell by less than this share.", "delta"),
        ("linesearch", "MoreThuente", "The line search; Trellis has one of its own.", None),
        ("max_linesearch", 20, "The maximum number of trials of the line search.", None),
    ],
    "l2sgd": [
        ("c2", 1.0, "Coefficient of the L2 penalty.", "c2"),
        ("max_iterations", 1000, "The maximum number of passes.", "max_iter"),
        ("period", 10, "The number of passes that delta is about.", "period"),
        ("delta", 1e-6, "Stop when the loss fell by less than this share.", "delta"),
        ("calibration.eta", 0.1, "The first learning rate that is tried.", "eta"),
        ("calibration.rate", 2.0, "The factor between learning rates that are tried.", None),
        ("calibration.samples", 1000.0, "The number of sequences of a trial.", None),
        ("calibration.candidates", 10, "The number of candidates.", None),
        ("calibration.max_trials", 20, "The maximum number of trials.", None),
    ],
    "ap": [_ROUNDS, ("epsilon", 0.0, "Stop at this share of wrong labels.", None)],
    "pa": [
        ("type", 1, "0 without slack, 1 PA-I, 2 PA-II.", "pa_type"),
        ("c", 1.0, "Aggressiveness.", "pa_c"),
        ("error_sensitive", True, "The loss counts wrong labels.", "error_sensitive"),
        ("averaging", True, "Average the weights of all updates.", "averaging"),
        _ROUNDS, ("epsilon", 0.0, "Stop at this mean loss.", "epsilon"),
    ],
    "arow": [
        ("variance", 1.0, "The first variance of every weight.", "variance"),
        ("gamma", 1.0, "Trade-off between loss and change.", "gamma"),
        _ROUNDS, ("epsilon", 0.0, "Stop at this mean loss.", "epsilon"),
    ],
}


class BaseTrainer:
    """Collects labelled sequences and trains; messages of the run go to message()."""

    verbose = True

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)  # a subclass need not call __init__
        self._choose("lbfgs")
        self.clear()
        return self

    def __init__(self, algorithm=None, params=None, verbose=True):
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)
        self.verbose = verbose

    def _choose(self, algorithm):
        self._algorithm = algorithm
        rows = _FEATURES + _PARAMETERS[algorithm]
        self._rows = {row[0]: row for row in rows}
        self._values = {row[0]: row[1] for row in rows}
        self._changed = set()

    def message(self, message):
        """A message of the run; prints it if verbose."""
        if self.verbose:
            print(message, end="")

    def append(self, xseq, yseq, group=0):
        """Adds a sequence; its group may be held out."""
        group, yseq = int(group), list(yseq)
        taken(self._store.add, xseq, yseq)
        self._groups.append(group)
        self._labels.update(dict.fromkeys(yseq))

    def select(self, algorithm, type="crf1d"):
        """Chooses the algorithm: lbfgs, l2sgd, ap, pa or arow."""
        name = ALIASES.get(algorithm.lower(), algorithm.lower())
        if name not in _PARAMETERS or type != "crf1d":
            raise ValueError(f"Bad arguments: algorithm={algorithm!r}, type={type!r}")
        self._choose(name)

    def train(self, model, holdout=-1):
        """Trains, and writes the model to the file of this name ('': nowhere)."""
        self._before_train()
        writer = LogWriter(self.message, self._algorithm, self._values, holdout, list(self._labels))
        data = self._store.dataset(bytes(g != holdout for g in self._groups))
        if data.info()["sequences"] == 0:
            writer.fail("there are no sequences")
            writer.finish(0.0, 0, 0, 0)
            return
        dev = self._store.dataset(bytes(g == holdout for g in self._groups))
        if dev.info()["sequences"] == 0:
            dev = None
        options = algorithm_options(self._algorithm)
        options["kind"] = "chain"
        for name in self._changed:
            option, value = self._rows[name][3], self._values[name]
            if option and not (name == "max_iterations" and value == _MOST):
                options[option] = (int(value) if option in ("error_sensitive", "averaging") else
                                   seen_or_all(value) if isinstance(value, bool) else value)
        trained, result, _, exception = training.run(options, data, dev, [writer])
        if model:
            _files.write(model, trained.tobytes())
        if exception is not None:
            raise exception
        writer.finish(result.seconds, result.active, len(trained.attributes()),
                      len(trained.labels), result.optimizer)

    def params(self):
        """The names of the parameters of the algorithm."""
        return list(self._rows)

    def set_params(self, params):
        """Sets parameters, {name: value}."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self):
        """All parameters, {name: value}."""
        return dict(self._values)

    def _row(self, name):
        if name not in self._rows:
            raise ValueError(f"Parameter not found: {name}")
        return self._rows[name]

    def set(self, name, value):
        """Sets a parameter; numbers may be strings."""
        kind = type(self._row(name)[1])
        try:
            self._values[name] = bool(int(value)) if kind is bool else kind(value)
        except (TypeError, ValueError):
            raise ValueError(f"{name} is of type {kind.__name__}, not {value!r}") from None
        self._changed.add(name)

    def get(self, name):
        """The value of a parameter."""
        self._row(name)
        return self._values[name]

    def help(self, name):
        """What a parameter means."""
        return self._row(name)[2]

    def clear(self):
        """Removes all sequences."""
        self._store = _core.Store()
        self._groups = []
        self._labels = {}  # in the order in which they came

    def _before_train(self):
        pass


class Trainer(BaseTrainer):
    """A trainer that reads its own log; subclasses override the on_ methods."""

    logparser = None

    def _before_train(self):
        self.logparser = TrainLogParser()

    def message(self, message):
        event = self.logparser.feed(message)
        if not self.verbose or event is None:
            return
        log = self.logparser.last_log
        if event == "featgen_progress":
            self.on_featgen_progress(log, self.logparser.featgen_percent)
        elif event == "iteration":
            self.on_iteration(log, self.logparser.last_iteration)
        else:
            getattr(self, "on_" + event)(log)

    def on_start(self, log):
        print(log, end="")

    def on_featgen_progress(self, log, percent):
        print(log, end="")

    def on_featgen_end(self, log):
        print(log, end="")

    def on_prepared(self, log):
        print(log, end="")

    def on_prepare_error(self, log):
        print(log, end="")

    def on_iteration(self, log, info):
        print(log, end="")

    def on_optimization_end(self, log):
        print(log, end="")

    def on_end(self, log):
        print(log, end="")
