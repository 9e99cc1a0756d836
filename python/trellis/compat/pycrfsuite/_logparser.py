"""The log of a training in CRFsuite's words: written, and understood again."""
import re
from collections import namedtuple
from fractions import Fraction

LabelScore = namedtuple("LabelScore", "match model ref precision recall f1")

_HEAD = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}$")
_SECONDS = re.compile(r"Seconds required: (\d+\.\d+)")
_TOTAL = re.compile(r"Total seconds required for training: (\d+\.\d+)")
_COUNT = re.compile(r"Number of features: (\d+)")
_LABEL = re.compile(r" {4}(.+): \((\d+), (\d+), (\d+)\) \(([\d.]+), ([\d.]+), ([\d.]+)\)")
_AVERAGES = re.compile(r"Macro-average precision, recall, F1: \(([\d.]+), ([\d.]+), ([\d.]+)\)")
_ACCURACY = re.compile(r"(Item|Instance) accuracy: (\d+) / (\d+)")
_PROGRESS = frozenset([".", "", *map(str, range(11))])

# Numbers of an iteration: what the line begins with, its name, its type.
_NUMBERS = [
    (re.compile(head + r": (\d+(?:\.\d+)?)"), name, kind) for head, name, kind in (
        ("Loss", "loss", float), ("Feature norm", "feature_norm", float),
        ("Error norm", "error_norm", float), ("Active features", "active_features", int),
        ("Line search trials", "linesearch_trials", int),
        ("Line search step", "linesearch_step", float),
        ("Seconds required for this iteration", "time", float), ("Dev score", "dev_score", float))]


class TrainLogParser:
    """Reads a log line by line; feed says which event, if any, a line completes."""

    def __init__(self):
        self.state = None
        self.featgen_percent = -2
        self.featgen_num_features = None
        self.featgen_seconds = None
        self.training_seconds = None
        self.storing_seconds = None
        self.iterations = []
        self.last_iteration = None
        self.log = []
        self.events = []

    def feed(self, line):
        """Takes a line; the event that it completes, or None."""
        self.log.append(line)
        n = len(self.log)
        if self.state is None:
            self.state = "features" if line.startswith("Feature generation") else "before"
            self.events.append(("start", 0, n))
            return "start"
        event = self._steps[self.state](self, line)
        if event:
            # The line that shows that a part is over belongs to the next part.
            over = event in ("prepared", "optimization_end")
            self.events.append((event, self.events[-1][2], n - over))
        return event

    @property
    def last_log(self):
        """The lines of the last event."""
        _, start, end = self.events[-1]
        return "".join(self.log[start:end])

    def _before(self, line):
        if line.startswith("Feature generation"):
            self.state = "features"

    def _features(self, line):
        if line in _PROGRESS:
            self.featgen_percent += 2
            return "featgen_progress"
        count, seconds = _COUNT.match(line), _SECONDS.match(line)
        if count:
            self.featgen_num_features = int(count.group(1))
        if seconds:
            self.featgen_seconds = float(seconds.group(1))
            self.state = "prepare"
            return "featgen_end"
        return None

    def _prepare(self, line):
        if _HEAD.match(line):
            self._begin(line)
            return "prepared"
        if "terminated with error" in line:
            self.state = "between"
            return "prepare_error"
        return None

    def _begin(self, line):
        self.state = "iteration"
        self.last_iteration = {"num": int(_HEAD.match(line).group(1)), "scores": {}}
        self.iterations.append(self.last_iteration)

    def _iteration(self, line):
        if line == "\n":
            self.state = "between"
            return "iteration"
        now = self.last_iteration
        for pattern, name, kind in _NUMBERS:
            found = pattern.match(line)
            if found:
                now[name] = kind(found.group(1))
        found = _AVERAGES.match(line)
        if found:
            now["avg_precision"], now["avg_recall"], now["avg_f1"] = map(float, found.groups())
        found = _ACCURACY.match(line)
        if found and int(found.group(3)):
            name = found.group(1).lower() + "_accuracy"
            now[name] = Fraction(int(found.group(2)), int(found.group(3)))
            now[name + "_float"] = float(now[name])
        found = _LABEL.match(line)
        if found:
            now["scores"][found.group(1)] = LabelScore(*map(int, found.groups()[1:4]),
                                                       *map(float, found.groups()[4:]))
        return None

    def _between(self, line):
        if _HEAD.match(line):
            return self._begin(line)
        total = _TOTAL.match(line)
        if total:
            self.training_seconds = float(total.group(1))
        if line.startswith("Storing the model"):
            self.state = "store"
            return "optimization_end"
        return None

    def _store(self, line):
        if line == "\n":
            return "end"
        seconds = _SECONDS.match(line)
        if seconds:
            self.storing_seconds = float(seconds.group(1))
        return None

    _steps = {"before": _before, "features": _features, "prepare": _prepare,
              "iteration": _iteration, "between": _between, "store": _store}


class TrainLog:
    """The history of a run of trellis.CRF under the names of TrainLogParser."""

    def __init__(self, history, result):
        self.iterations = []
        last = 0.0
        for p in history:
            row = {"num": p.iteration, "scores": {}, "time": (p.seconds or 0.0) - last}
            last = p.seconds or last
            for name, value in (("loss", p.objective), ("feature_norm", p.norm), ("error_norm", p.gradient),
                                ("active_features", p.active), ("dev_score", p.dev_score)):
                if value is not None:
                    row[name] = value
            self.iterations.append(row)
        self.last_iteration = self.iterations[-1] if self.iterations else None
        self.featgen_num_features = result.features
        self.training_seconds = result.seconds


class LogWriter:
    """Turns the progress of a run into CRFsuite's messages."""

    TITLES = {"lbfgs": "Optimization of the penalized likelihood", "l2sgd": "Stochastic Gradient Descent (SGD)",
              "ap": "Averaged perceptron", "pa": "Passive Aggressive",
              "arow": "Adaptive Regularization of Weights (AROW)"}

    def __init__(self, send, algorithm, params, holdout, labels):
        self.send = send
        self.labels = labels
        self.title = self.TITLES[algorithm]
        self.head = "Iteration" if algorithm == "lbfgs" else "Epoch"
        self.params = params
        self.last = 0.0
        self.prepared = False
        if holdout >= 0:
            send(f"Holdout group: {holdout + 1}\n")
            send("\n")
        send("Feature generation\n")
        send("type: CRF1d\n")
        for name, value in self._values("feature."):
            send(f"{name}: {value}\n")

    def _values(self, prefix):
        for name, value in self.params.items():
            if name.startswith("feature.") == (prefix == "feature."):
                text = f"{value:f}" if isinstance(value, float) else str(
                    int(value) if isinstance(value, bool) else value)
                yield name, text

    def prepare(self, features, seconds):
        for k in range(51):
            self.send(str(k // 5) if k % 5 == 0 else ".")
        self.send("\n")
        self.send(f"Number of features: {features}\n")
        self.send(f"Seconds required: {seconds:.3f}\n")
        self.send("\n")
        self.send(self.title + "\n")
        for name, value in self._values(""):
            self.send(f"{name}: {value}\n")
        self.send("\n")
        self.last = seconds
        self.prepared = True

    def __call__(self, p):
        if p.stage == "compiled" or (p.stage == "iteration" and not self.prepared):
            self.prepare(p.features, p.seconds or 0.0)
        if p.stage == "iteration":
            self.send(f"***** {self.head} #{p.iteration} *****\n")
            for name, value in (("Loss", p.objective), ("Feature norm", p.norm), ("Error norm", p.gradient)):
                if value is not None:
                    self.send(f"{name}: {value:f}\n")
            self.send(f"Active features: {p.active}\n")
            for name, value in (("Line search step", p.step), ("Dev score", p.dev_score)):
                if value is not None:
                    self.send(f"{name}: {value:f}\n")
            now = p.seconds or 0.0
            self.send(f"Seconds required for this iteration: {max(now - self.last, 0.0):.3f}\n")
            if p.dev:
                self.performance(p.dev)
            self.send("\n")
            self.last = now

    def performance(self, dev):
        """The scores of the held-out group; averages are over all labels, those that it lacks, too."""
        self.send("Performance by label (#match, #model, #ref) (precision, recall, F1):\n")
        sums, right = [0.0, 0.0, 0.0], 0
        for label in self.labels:
            row = dev.labels.get(label)
            counts = (row.correct, row.predicted, row.gold) if row else (0, 0, 0)
            shares = ["******"] * 3
            if counts[2]:
                values = [row.precision / 100, row.recall / 100, row.f1 / 100]
                sums = [a + b for a, b in zip(sums, values)]
                shares = [f"{v:.4f}" for v in values]
                right += row.correct
            self.send(f"    {label}: ({', '.join(map(str, counts))}) ({', '.join(shares)})\n")
        averages = ", ".join(f"{s / len(self.labels):f}" for s in sums)
        self.send(f"Macro-average precision, recall, F1: ({averages})\n")
        self.send(f"Item accuracy: {right} / {dev.tokens} ({right / dev.tokens:.4f})\n")
        whole = round(dev.sequence_accuracy / 100 * dev.sequences)
        self.send(f"Instance accuracy: {whole} / {dev.sequences} ({whole / dev.sequences:.4f})\n")

    def fail(self, why):
        if not self.prepared:
            self.prepare(0, 0.0)
        self.send(f"{self.title.split()[0]} terminated with error: {why}\n")

    def finish(self, seconds, active, attributes, labels, optimizer=None):
        if optimizer:
            self.send(f"Optimizer: {optimizer}\n")
        self.send(f"Total seconds required for training: {seconds:.3f}\n")
        self.send("\n")
        self.send("Storing the model\n")
        self.send(f"Number of active features: {active}\n")
        self.send(f"Number of active attributes: {attributes}\n")
        self.send(f"Number of active labels: {labels}\n")
        self.send("Seconds required: 0.000\n")
        self.send("\n")
