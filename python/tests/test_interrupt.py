"""Ctrl-C: a signal from outside, sent to a program that would go on for hours."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

START = """
import itertools, json, random, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
import trellis

chance = random.Random(1)  # nothing to learn, and much to do
X = [[{"w": str(chance.randrange(500)), "n": str(chance.randrange(50))} for k in range(30)] for _ in range(200)]
y = [[str(chance.randrange(60)) for k in range(30)] for _ in range(200)]
TREES = ["(S (NP (D the) (N dog)) (VP (V sees) (NP (D a) (N cat))))", "(S (NP (D a) (N cat)) (VP (V runs)))"] * 8


def working(p=None):
    if p is None or (p.stage == "iteration" and p.iteration == 2):
        print("working", flush=True)


def tags(model):
    return len(model.predict(X[:1])[0]) == 30


def say(**what):
    print(json.dumps(what), flush=True)
"""

FIT = """
crf = trellis.CRF(optimizer={optimizer!r}, c2=1e-6, delta=0.0, period=0, epsilon=1e-300, max_iterations=10**6,
                  n_jobs={threads}, callbacks=working)
try:
    crf.fit(X, y)
except KeyboardInterrupt:
    say(iterations=len(crf.history_), stopped=crf.result_.stopped, labels=tags(crf))
"""

PREDICT = """
crf = trellis.CRF(max_iterations=3, n_jobs={threads}).fit(X, y)
working()
try:
    crf.{call}(itertools.repeat(X[0]))
except KeyboardInterrupt:
    say(labels=tags(crf))
"""

PARSER = """
parser = trellis.Parser(grade="features", delta=0.0, period=0, epsilon=1e-300, max_iterations=10**6,
                        n_jobs={threads}, callbacks=working)
try:
    parser.fit(TREES)
except KeyboardInterrupt:
    say(stopped=parser.result_.stopped, tree=str(parser.parse("the cat runs").tree))
"""

PARSE = """
parser = trellis.Parser(grade="generative").fit(TREES)
sentence = ("the dog sees " * 15).split()
many = [sentence] * 300000
working()
try:
    parser.{call}(many{more})
except KeyboardInterrupt:
    say(tree=str(parser.parse("the cat runs").tree))
"""

ADD = """
working()
try:
    trellis._core.Dataset().add(itertools.repeat(X[0]), itertools.repeat(y[0]))
except KeyboardInterrupt:
    say(labels=tags(trellis.CRF(max_iterations=1).fit(X, y)))
"""

PYCRFSUITE = """
from trellis.compat import pycrfsuite
trainer = pycrfsuite.Trainer("lbfgs", {{"max_iterations": 10**6, "epsilon": 1e-300, "delta": 0.0, "c2": 1e-6}}, verbose=False)
trainer.message = lambda line: working() if "Iteration #2" in line else None
for xseq, yseq in zip(X, y):
    trainer.append(xseq, yseq)
try:
    trainer.train({path!r})
except KeyboardInterrupt:
    with pycrfsuite.Tagger().open({path!r}) as tagger:
        say(labels=len(tagger.tag(X[0])) == 30)
"""


def interrupted(program):
    """What the program says after Ctrl-C, which it got while it was at work."""
    child = subprocess.Popen([sys.executable, "-c", START + program], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "working\n", child.stderr.read()
        time.sleep(0.3)
        assert child.poll() is None
        os.kill(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    assert child.returncode == 0 and not err, err
    return json.loads(out.splitlines()[-1])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("optimizer", ["lbfgs", "sdca", "sgd"])
def test_fit_keeps_the_model(optimizer, threads):
    said = interrupted(FIT.format(optimizer=optimizer, threads=threads))
    assert said["iterations"] >= 2 and said["stopped"] and said["labels"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("call", ["predict", "predict_marginals", "predict_nbest"])
def test_predict(call, threads):
    assert interrupted(PREDICT.format(call=call, threads=threads)) == {"labels": True}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_parser_keeps_the_model(threads):
    said = interrupted(PARSER.format(threads=threads))
    assert said == {"stopped": True, "tree": "(S (NP (D the) (N cat)) (VP (V runs)))"}


@pytest.mark.parametrize("call, more", [("parse_all", ", n_jobs=1"), ("parse_all", ", n_jobs=2"),
                                        ("parse_all", ", n_jobs=2, nbest=5, spans=True"), ("predict", "")])
def test_parse(call, more):
    assert interrupted(PARSE.format(call=call, more=more)) == {
        "tree": "(S (NP (D the) (N cat)) (VP (V runs)))"}


def test_reading_data():
    assert interrupted(ADD) == {"labels": True}


def test_pycrfsuite_keeps_the_model(tmp_path):
    assert interrupted(PYCRFSUITE.format(path=str(tmp_path / "model"))) == {"labels": True}
    assert os.listdir(tmp_path) == ["model"]
