"""Training runs: what they report and how they end."""
import dataclasses
import sys
from typing import Callable, List, Optional

from . import _core, score


@dataclasses.dataclass(frozen=True)
class Progress:
    """What a run reports after every iteration, and at a few other moments.

    stage is "read", "compiled", "iteration", "warning" or "done"; numbers that are not known are
    None.  norm is that of the weights, active how many of them are not 0; dev has the scores of the
    dev data label by label.
    """

    stage: str
    iteration: int
    max_iterations: int
    objective: Optional[float]
    gradient: Optional[float]
    step: Optional[float]
    dev_score: Optional[float]
    dev_best: Optional[float]
    seconds: Optional[float]
    seconds_left: Optional[float]
    sequences: int
    tokens: int
    labels: int
    attributes: int
    features: int
    estimated: bool
    note: Optional[str]
    norm: float
    active: int
    dev: Optional[score.TokenScore] = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True)
class TrainResult:
    """How a run ended; objective and dev_score belong to saved_iteration."""

    iterations: int
    features: int
    active: int
    objective: Optional[float]
    dev_score: Optional[float]
    seconds: float
    stopped: bool
    ending: str
    saved_iteration: int
    dev_measure: Optional[str]
    optimizer: str


class Bar:
    """A progress bar: tqdm's if it is there, else a line on standard error."""

    def __init__(self):
        self.bar = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self.tqdm = tqdm

    def __call__(self, p):
        if p.stage != "iteration":
            return
        text = "" if p.objective is None else f"objective {p.objective:.4f}"
        if p.dev_score is not None:
            text += f", dev {p.dev_score:.2f}"
        if self.tqdm:
            if self.bar is None:
                self.bar = self.tqdm(total=p.max_iterations or None, unit="iteration")
            self.bar.set_postfix_str(text, refresh=False)
            self.bar.update(1)
        else:
            sys.stderr.write(f"\riteration {p.iteration}, {text}")
            sys.stderr.flush()
            self.bar = True

    def close(self):
        if self.bar is True:
            sys.stderr.write("\n")
        elif self.bar is not None:
            self.bar.close()


def print_line(p):
    """One line an iteration, as sklearn_crfsuite prints it."""
    if p.stage == "iteration":
        parts = [f"Iter {p.iteration:<3} time={p.seconds or 0:<5.2f} "]
        if p.objective is not None:
            parts.append(f"loss={p.objective:<8.2f} ")
        if p.dev_score is not None:
            parts.append(f"dev={p.dev_score:.2f} ")
        print("".join(parts).strip(), flush=True)
    elif p.stage == "warning" and p.note:
        print(p.note, flush=True)


def run(options, data=None, dev=None, callbacks: Optional[List[Callable]] = None, bar=False):
    """Trains: the core's model (None if written to a file), a TrainResult, the history.

    An exception of a callback, or Ctrl-C, stops the run, and what was learned is kept: the fourth
    value is that exception, or None.  The data is used up.
    """
    history = []
    watchers = list(callbacks or [])
    shown = Bar() if bar else None
    if shown:
        watchers.append(shown)

    def on_progress(values):
        dev = values.pop("dev")
        p = Progress(**values, dev=dev and score.token_score(dev))
        if p.stage == "iteration":
            history.append(p)
        return any([watch(p) for watch in watchers])

    try:
        model, result = _core.train(options, data, dev, on_progress, True)
    finally:
        if shown:
            shown.close()
    exception = result.pop("exception")
    return model, TrainResult(**result), history, exception
