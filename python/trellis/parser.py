"""Parsers: trees of sentences."""
import dataclasses
import math
import os
from typing import List, NamedTuple, Optional

from . import _core, _files, training
from ._base import BaseEstimator, NotFittedError, threads
from .trees import Tree, lines_of, parse_lines


class Span(NamedTuple):
    """The probability that a tree has such a constituent over words from .. to-1."""

    label: str
    start: int
    end: int
    probability: float


class Parsed(NamedTuple):
    """One of the n best trees."""

    tree: Tree
    probability: Optional[float]


@dataclasses.dataclass(frozen=True)
class Parse:
    """What was found for a sentence; `warning` says why where the tree is a simpler one."""

    trees: List[Parsed]
    spans: List[Span]
    sure: bool
    warning: Optional[str]

    @property
    def tree(self) -> Optional[Tree]:
        """The best tree; None for an empty sentence."""
        return self.trees[0].tree if self.trees else None

    @property
    def probability(self) -> Optional[float]:
        """That of the best tree, when it was asked for."""
        return self.trees[0].probability if self.trees else None

    def _repr_html_(self):
        from .pictures import parse_html
        return parse_html(self)


NAMES = {"penalty": "lambda", "max_seconds": "max-time"}  # of options in the library
KNOWN = {"tag": 0, "constituent": 1, "no constituent": 2}


def _words(sentence):
    if isinstance(sentence, str):
        return tuple(sentence.split())
    if isinstance(sentence, Tree):
        return tuple(sentence.words())
    return tuple(sentence)


def _known(rows):
    """Tuples as the core reads them, of ("tag", word, TAG) and ("constituent", from, to, LABEL)."""
    out = []
    for row in rows or ():
        kind, *rest = row
        if kind not in KNOWN:
            raise ValueError(f"what is known is one of {', '.join(KNOWN)}, not {kind!r}")
        if kind == "tag" and len(rest) == 2:
            out.append((0, rest[0], rest[0] + 1, rest[1]))
        elif kind != "tag" and len(rest) in (2, 3):
            out.append((KNOWN[kind], rest[0], rest[1], rest[2] if len(rest) == 3 else ""))
        else:
            raise ValueError(f"{row!r} is not ('tag', word, tag) or ({kind!r}, from, to, label)")
    return tuple(out)


class Parser(BaseEstimator):
    """A parser, learned from trees.

    Parameters are the program's: ``grade`` ("generative", "discriminative", "features"),
    ``objective``, ``optimizer``, ``annotate``, ``markov``, ``c1``, ``c2``, ``max_iterations``,
    ``patience``, ``prune``, ``clusters`` and the others of ``trellis train --kind tree``;
    ``raw_text``, a file of sentences a line, and ``self_train`` learn from text without trees.

    >>> trees = ["(S (NP (DT the) (NN dog)) (VP (VBZ barks)))", "(S (NP (DT a) (NN cat)) (VP (VBZ runs)))"]
    >>> parser = Parser(grade="generative").fit(trees * 3)
    >>> print(parser.parse("a dog runs").tree)
    (S (NP (DT a) (NN dog)) (VP (VBZ runs)))
    """

    def __init__(self, grade=None, objective=None, optimizer=None, annotate=None, markov=None,
                 relaxed=None, strict=None, max_length=None, clusters=None, head_rules=None,
                 prune=None, pruner=None, chart_memory=None, nota=None, decode=None, c1=None, c2=None,
                 min_count=None, max_iterations=None, epsilon=None, period=None, delta=None,
                 eta=None, batch=None, patience=None, random_state=None, n_jobs=None, verbose=False,
                 callbacks=None, progress=False, raw_text=None, self_train=None, functions=None,
                 no_tagger=None, rerank=None, grammars=None, latent=None):
        self.grade = grade
        self.objective = objective
        self.optimizer = optimizer
        self.annotate = annotate
        self.markov = markov
        self.relaxed = relaxed
        self.strict = strict
        self.max_length = max_length
        self.clusters = clusters
        self.head_rules = head_rules
        self.prune = prune
        self.pruner = pruner
        self.chart_memory = chart_memory
        self.nota = nota
        self.decode = decode
        self.c1 = c1
        self.c2 = c2
        self.min_count = min_count
        self.max_iterations = max_iterations
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.eta = eta
        self.batch = batch
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks
        self.progress = progress
        self.raw_text = raw_text
        self.self_train = self_train
        self.functions = functions
        self.no_tagger = no_tagger
        self.rerank = rerank
        self.grammars = grammars
        self.latent = latent

    def fit(self, trees, dev=None):
        """Learns from trees (Tree, nltk.Tree, text or a Treebank); dev chooses the iteration."""
        names = {"max_iterations": "max_iter", "random_state": "seed"}
        options = {names.get(k, k): v for k, v in self.get_params(deep=False).items()
                   if v is not None and k not in ("n_jobs", "verbose", "callbacks", "progress")}
        options.update(kind="tree", threads=threads(self.n_jobs))
        watchers = self.callbacks or []
        watchers = [watchers] if callable(watchers) else list(watchers)
        if self.verbose:
            watchers.append(training.print_line)
        model, self.result_, self.history_, exception = training.run(
            options, _trees(trees), None if dev is None else _trees(dev), watchers, self.progress)
        self._keep(model)
        if exception is not None:
            raise exception
        return self

    def _keep(self, data):
        self._bytes = data
        self._model = _core.ParseModel(data)

    @classmethod
    def load(cls, path):
        """The parser of a model file."""
        parser = cls()
        with open(os.fspath(path), "rb") as f:
            parser._keep(f.read())
        return parser

    def save(self, path):
        """Writes the model file, as ``trellis train --kind tree -m`` does."""
        self._fitted()
        _files.write(path, self._bytes)

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_model", None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        if "_bytes" in state:
            self._model = _core.ParseModel(state["_bytes"])

    def __sklearn_is_fitted__(self):
        return "_model" in self.__dict__

    def _fitted(self):
        if "_model" not in self.__dict__:
            raise NotFittedError("This Parser instance is not fitted yet: call fit, or load")
        return self._model

    @property
    def info_(self):
        """Grade, sizes of grammar and lexicon, how it was trained."""
        return self._fitted().info()

    def parse(self, sentence, known=None, **options) -> Parse:
        """The tree of a sentence: a string, or a list of words.

        known: what is certain, ``("tag", word, "NN")``, ``("constituent", from, to, "NP")`` (without
        a label: any), ``("no constituent", from, to)``; words count from 0.  options: decode
        ("brackets", "tree", "viterbi"), nbest, probability, spans, prune, max_work, max_seconds,
        penalty and mix of the brackets.
        """
        return self.parse_all([sentence], [known], **options)[0]

    def parse_all(self, sentences, known=None, n_jobs=None, **options) -> List[Parse]:
        """The trees of many sentences, over threads; known has an entry for each.

        Ctrl-C is heard between two sentences.
        """
        sentences = tuple(_words(s) for s in sentences)
        known = tuple(_known(k) for k in known) if known else ()
        options = {NAMES.get(k, k): v for k, v in options.items()}
        found = self._fitted().parse(sentences, known, options,
                                     threads(n_jobs if n_jobs is not None else self.n_jobs))
        return [_parse(*f) for f in found]

    def predict(self, sentences) -> List[Tree]:
        """The best tree of every sentence."""
        return [p.tree for p in self.parse_all(sentences)]  # type: ignore[misc]

    def score(self, sentences, trees) -> float:
        """The F1 of labelled brackets, between 0 and 1."""
        from .score import trees as score_trees
        return score_trees(trees, self.predict(sentences)).f1 / 100


def _parse(text, log_p, spans, sure, warning):
    trees = [Parsed(t, None if math.isnan(p) else math.exp(p))
             for t, p in zip(parse_lines(text), log_p)]
    return Parse(trees, [Span(*s) for s in spans], sure, warning)


def _trees(trees):
    data = _core.Dataset()
    data.add_brackets(lines_of(trees).encode("utf-8", "surrogateescape"))
    return data
