"""Everything once, and everything wrong once: run with the address sanitizer, it must lose nothing.

pytest keeps too much alive for that, so this is a program of its own.
"""
import gc
import pickle

import trellis
from trellis import _core
from trellis.compat import pycrfsuite

X = [[{"w": "the", "n": {"a": ["b", "c"]}}, {"w": "dog", "len": 3.0}], [{"w": b"a"}, {"t": True}]] * 4
y = [["D", "N"], ["D", "N"]] * 4


def attempt(call, *args, **kwargs):
    """Calls with what may be wrong."""
    try:
        return call(*args, **kwargs)
    except Exception as e:  # whatever it is, it is freed below
        return str(e)


def second(p):
    """A callback that stops."""
    return p.iteration == 2


def chains():
    crf = trellis.CRF(max_iterations=3, callbacks=second)
    crf.fit(X, y, X, y, sample_weight=[1.0] * 8)
    for ask in (crf.predict, crf.predict_proba, crf.predict_marginals, crf.predict_nbest,
                crf.predict_pair_proba):
        ask(X + [[]])
    for ask in (crf.predict_given, crf.predict_spans, crf.predict_entropy):
        ask(X + [[]], known=[{0: "D"}, None] * 4 + [None], rules="forbid N D")
        attempt(ask, X, known=[{0: "Q"}] * 8)
        attempt(ask, X, known=[{9: "D"}] * 8)
        attempt(ask, X, rules=["forbid"])
        attempt(ask, X, known=[{0: "N", 1: "D"}] * 8, rules="forbid N D")
    crf.predict_spans(X, least=0.1), crf.explain(X[0], 1), attempt(crf.explain, X[0], 7)
    pickle.loads(pickle.dumps(crf)).predict(X)
    crf.state_features_, crf.transition_features_, crf.attributes_, crf.training_log_
    crf.model_.dump(), crf.model_.dump(3), crf.model_.info(), crf.model_.weights("w:dog")
    rows = trellis.CRF(template=True, max_iterations=2).fit([["a", "b"]] * 3, [["A", "B"]] * 3)
    rows.predict([["a"], [("b",)]])


def compat():
    trainer = pycrfsuite.Trainer("ap", {"max_iterations": 2}, verbose=False)
    for k, (xseq, yseq) in enumerate(zip(X, y)):
        trainer.append(pycrfsuite.ItemSequence(xseq), yseq, k % 2)
    trainer.train("", holdout=1)
    tagger = pycrfsuite.Tagger._of_model(trellis.CRF().fit(X, y).model_)
    tagger.tag(X[0]), tagger.probability(y[0]), tagger.marginal("D", 0), tagger.info()


def misuse():
    wrong = [None, 1, "x", b"x", [None], [[None]], [[{"a": object()}]], [[{1: 1}]],
             [[{"a": float("nan")}]], [[{"a": "\ud800"}]], [[{"a": {"b": None}}]], [[("a",), ("b", "c")]]]
    crf = trellis.CRF(max_iterations=1).fit(X, y)

    def fail(p):
        raise LookupError

    attempt(trellis.CRF(callbacks=fail).fit, X, y)
    for bad in wrong:
        for call in (crf.predict, crf.predict_proba, crf.weights, crf.tagger_.tag, _core.Model,
                     _core.normalize, _core.train, _core.Tagger, trellis.CRF.load,
                     crf.tagger_.probability):
            attempt(call, bad)
        attempt(trellis.CRF().fit, bad, y)
        attempt(trellis.CRF().fit, X, bad)
        attempt(trellis.CRF().fit, X, y, sample_weight=bad)
        attempt(trellis.CRF(objective=bad).fit, X, y)
        attempt(trellis.CRF(max_iterations=bad).fit, X, y)
        attempt(_core.Store().add, bad, bad)
    attempt(trellis.CRF.load, crf.to_bytes()[:-5])
    attempt(trellis.CRF.load, "/no/such")


TREES = ["(S (NP (D the) (N dog)) (VP (V barks)))", "(S (NP (D a) (N cat)) (VP (V runs)))"]


def trees():
    parser = trellis.Parser(grade="generative").fit(TREES * 3)
    parser.parse("the cat runs", nbest=3, spans=True, known=[("tag", 0, "D")])
    parser.parse_all(["a dog", [], ["runs"]], n_jobs=2)
    pickle.loads(pickle.dumps(parser)).predict(["a cat"])
    bank = trellis.Treebank(TREES, clean=True)
    bank.search("NP < N"), bank.counts(), bank[0].draw(), bank[0].to_svg(), bank[0].pretty()
    for bad in (None, 1, "(", "(S", [1], object()):
        for call in (trellis.Treebank, trellis.Tree.parse, parser.parse, bank.search,
                     trellis.Parser().fit, _core.ParseModel, trellis.Parser.load):
            attempt(call, bad)
        attempt(parser.parse, "a", known=[bad])
        attempt(parser.parse, "a", nbest=bad)
        attempt(_core.read_trees, bad, bad, bad)
        attempt(_core.print_trees, bad, bad)


def scores():
    trellis.score.chunks([["B-X", "O"]], [["B-X", "O"]]), trellis.score.tokens([["A"]], [["B"]])
    trellis.score.trees(TREES, TREES)
    trellis.compare([["A"]] * 3, [["B"]] * 3, [["A"]] * 3, resamples=10)
    trellis.compare_trees(TREES, TREES, TREES, resamples=10)
    for bad in (None, [None], [[1]], [["a\0"]], [["A", "B"]], "x"):
        attempt(trellis.score.chunks, bad, [["A"]])
        attempt(trellis.score.trees, bad, TREES)
        attempt(trellis.compare, [["A"]], bad, [["A"]])


PARTS = [chains, compat, misuse, trees, scores]

if __name__ == "__main__":
    for part in PARTS:
        part()
    gc.collect()
    print("exercised", flush=True)
