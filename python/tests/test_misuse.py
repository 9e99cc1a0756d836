"""Wrong arguments of every kind: an exception with a sentence, never a crash."""
import os
import signal
import threading
import time

import pytest

import trellis
from trellis import _core
from trellis.compat import pycrfsuite

WRONG = [None, 0, 1.5, "text", b"bytes", [], [[]], [[[]]], {}, {"a": 1}, [None], [[None]], [["a"]],
         [[{"a": None}]], [[{1: 2}]], [[{"a": object()}]], [[{"a": float("nan")}]], [[[None]]],
         [[{"\0": 1}]], [[{"a": "\ud800"}]], object(), iter([]), [[{"a": {"b": {"c": []}}}]],
         [range(3)], [[1, 2]], [["x", 1]], [[("a", "b"), ("c",)]], [[{"a": 10**400}]]]


def sentence(call):
    """Runs it: whatever it raises is an ordinary exception with a text."""
    try:
        return call()
    except (ValueError, TypeError, OSError, RuntimeError, OverflowError, ArithmeticError) as e:
        assert str(e)


@pytest.mark.parametrize("k", range(len(WRONG)))
def test_wrong_data(k, tiny):
    X, y = tiny
    wrong = WRONG[k]
    crf = trellis.CRF(max_iterations=2).fit(X, y)
    rows = trellis.CRF(max_iterations=2, template=True).fit([["a", "b"]], [["A", "B"]])
    for fitted in (crf, rows):
        for ask in (fitted.predict, fitted.predict_proba, fitted.predict_nbest, fitted.predict_single):
            sentence(lambda: ask(wrong))
    for template in (None, True):
        new = trellis.CRF(template=template, max_iterations=2)
        sentence(lambda: new.fit(wrong, y))
        sentence(lambda: new.fit(X, wrong))
        sentence(lambda: new.fit(X, y, X_dev=wrong, y_dev=wrong))
        sentence(lambda: new.fit(X, y, sample_weight=wrong))
    for call in (_core.normalize, pycrfsuite.ItemSequence, crf.tagger_.tag, crf.tagger_.probability,
                 crf.weights, trellis.CRF.load, _core.Model, _core.Tagger, _core.train):
        sentence(lambda: call(wrong))
    sentence(lambda: pycrfsuite.Trainer(verbose=False).append(wrong, wrong))


@pytest.mark.parametrize("name", sorted(trellis.CRF().get_params()))
def test_wrong_options(name, tiny, tmp_path, monkeypatch):
    X, y = tiny
    monkeypatch.chdir(tmp_path)  # some of it is the name of a file
    for wrong in ("", "no such", -1, 1e400, float("nan"), 10**30, [], object(), "a\0b"):
        if name == "max_iterations" and wrong == 10**30:
            continue
        crf = trellis.CRF(**{"max_iterations": 1, name: wrong})
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if name in ("model_filename", "checkpoint") and isinstance(wrong, str) and wrong == "no such":
                continue  # a good name
            sentence(lambda: crf.fit(X, y))


def test_messages_say_where(tiny):
    X, y = tiny
    for bad, text in (([X[0], [{"w": "a"}, {"w": object()}]], "sequence 2, token 2: the value of 'w'"),
                      ([X[0], [{"w": "a"}, {3: "b"}]], "sequence 2, token 2: the name"),
                      ([X[0], [{"w": "a"}, {"w": float("inf")}]], "sequence 2, token 2"),
                      ([X[0], [{"w": "a"}]], "sequence 2: X has 1 tokens and y has 2")):
        with pytest.raises((ValueError, TypeError), match=text):
            trellis.CRF().fit(bad, y[:2])
    with pytest.raises(trellis.ArgumentError, match="likelihood"):
        trellis.CRF(objective="nothing").fit(X, y)
    with pytest.raises(trellis.FileError) as e:
        trellis.CRF.load("/no/such/model")
    assert e.value.path == "/no/such/model" and isinstance(e.value, OSError)
    with pytest.raises(trellis.ModelError):
        trellis.CRF.load(b"nothing")


def test_values_that_change_the_data_while_it_is_read(tiny):
    """A value may run any code when it is made a number."""
    X, y = tiny

    class Nasty:
        def __init__(self, act):
            self.act = act

        def __float__(self):
            self.act()
            return 1.0

    token = {"a": None, "b": "x", "c": "y"}
    seq = [token, {"d": "z"}]
    data = [seq, [{"e": "f"}]]

    def act():
        token.clear()
        seq.clear()
        data.clear()

    token["a"] = Nasty(act)
    sentence(lambda: _core.Dataset().add(data, [["A", "B"], ["C"]]))
    model = trellis.CRF().fit(X, y).model_
    for again in (lambda: model.predict(X), lambda: None):
        token = {"a": Nasty(again), "b": "x"}
        assert len(model.predict([[token]])) == 1
    tagger = _core.Tagger(model)
    with pytest.raises(RuntimeError, match="another thread"):
        tagger.set([{"a": Nasty(lambda: tagger.set(X[0]))}])


def test_two_threads_on_one_model(chunks):
    X, y, _ = chunks
    crf = trellis.CRF(max_iterations=3).fit(X, y)
    want, got = crf.predict(X), []
    workers = [threading.Thread(target=lambda: got.append(crf.predict(X))) for _ in range(8)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert got == [want] * 8


def test_trainings_in_threads_run_at_the_same_time(chunks):
    X, y, _ = chunks
    want = trellis.CRF(max_iterations=3).fit(X, y).to_bytes()
    got = []
    workers = [threading.Thread(target=lambda: got.append(
        trellis.CRF(max_iterations=3, n_jobs=1).fit(X, y).to_bytes())) for _ in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert got == [want] * 4


def test_other_threads_run_during_training(chunks):
    """The GIL is released: a thread counts while the main thread trains."""
    X, y, _ = chunks
    data = _core.Dataset()
    data.add(X * 4, y * 4)
    counts, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1
            time.sleep(0.0005)

    worker = threading.Thread(target=count)
    worker.start()
    before = counts[0]
    _core.train({"max_iter": 30, "threads": 1, "period": 0, "delta": 0.0}, data)
    during = counts[0] - before
    stop.set()
    worker.join()
    assert during > 5


def test_a_data_set_in_use_is_not_changed(chunks):
    X, y, _ = chunks
    data = _core.Dataset()
    data.add(X, y)
    refused = []

    def watch(p):
        try:
            data.add(X, y)
        except RuntimeError as e:
            refused.append(str(e))

    _core.train({"max_iter": 2}, data, None, watch)
    assert refused and "another thread" in refused[0]


def test_data_that_was_used_up(chunks):
    X, y, _ = chunks
    data = _core.Dataset()
    data.add(X, y)
    model, _ = _core.train({"max_iter": 2}, data, data, None, False)
    again, _ = _core.train({"max_iter": 2}, data, None, None, True)
    assert again.labels == model.labels
    for use in (lambda: data.add(X, y), lambda: _core.train({}, data)):
        with pytest.raises(ValueError, match="used up"):
            use()
    assert data.info()["sequences"] == 0


def test_ctrl_c_between_and_within_iterations(chunks):
    X, y, _ = chunks
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background

    def press(p):
        if p.stage == "iteration" and p.iteration == 2:
            signal.raise_signal(signal.SIGINT)

    crf = trellis.CRF(callbacks=press)
    with pytest.raises(KeyboardInterrupt):
        crf.fit(X, y)
    assert crf.result_.stopped and len(crf.predict(X[:2])) == 2
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    crf = trellis.CRF(delta=0.0, period=0, epsilon=1e-300, max_iterations=10**6, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        crf.fit(X * 20, y * 20)
        timer.join()
    timer.join()
    signal.signal(signal.SIGINT, before)


def test_file_descriptors_are_no_paths(tiny, tmp_path):
    """open(1) would close standard output at the end."""
    crf = trellis.CRF().fit(*tiny)
    for use in (lambda: trellis.Parser.load(1), lambda: trellis.CRF.load(1), lambda: crf.save(1),
                lambda: trellis.Treebank("(S (N a))").save(1), lambda: trellis.render(crf).save(1),
                lambda: trellis.CRF(template=1).fit([["a"]], [["A"]]),
                lambda: crf.tagger_.dump(1), lambda: pycrfsuite.Trainer(verbose=False).train(1)):
        sentence(use)
    os.fstat(1)


def test_objects_without_their_makers():
    for kind in (_core.Model, _core.Tagger):
        with pytest.raises(TypeError):
            kind()
        with pytest.raises(TypeError):
            kind.__new__(kind)
    store = _core.Store()
    with pytest.raises(ValueError):
        store.dataset(b"1")
    assert store.dataset(b"").info()["sequences"] == 0
    with pytest.raises(ValueError):
        trellis.CRF().fit([], [])
