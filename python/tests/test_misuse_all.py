"""Every callable of the package and of its core with arguments of every kind and number, by chance.

Whatever comes back, or is raised, is Python's affair; the process must live, and say what was wrong."""
import inspect
import os
import random
import subprocess
import sys

import pytest

import trellis
from trellis import _core

CALLS = 3000  # in each of the processes


def values(rng, folder):
    """Something of every type that anything here takes, and what nothing takes."""
    good = trellis.CRF(max_iterations=1).fit([[{"a": 1}, {"b": 1}]], [["A", "B"]])
    trees = ["(S (NP (NN a)) (VP (VB b)))"] * 2
    parser = trellis.Parser(grade="generative").fit(trees)
    data = _core.Dataset()
    return [None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, 10**400, 0.0, -1.5, float("nan"), float("inf"), "", "a",
            "a\0b", "\ud800", "x" * 5000, b"", b"bytes", bytearray(b"x" * 8), (), ("a",), (("a", "b"),), ((0, 0, 1, "NN"),),
            [], ["a"], [["a", "b"]], [["A"], ["B"]], [[{"a": 1}]], [{"a": 1.0}], {}, {"a": 1}, {"kind": "tree"}, {"nbest": "2"},
            {1: 2}, object(), iter([]), range(3), lambda *a: True, lambda *a: 1 / 0, int, trellis.CRF, trellis.CRF(), good, good.tagger_,
            parser, parser._model, parser._bytes, data, _core.Dataset, trees, trees[0], "(S", "((", trellis.Tree.parse(trees[0]),
            trellis.Treebank(trees), os.path.join(folder, "no", "such"), folder, "lbfgs", "iob2", memoryview(b"abc")]


def callables():
    """(name, function) of all that is public, methods included."""
    found = []
    for module in (trellis, _core, trellis.score, trellis.compat.pycrfsuite):
        for name in dir(module):
            thing = getattr(module, name)
            if name.startswith("_") or inspect.ismodule(thing) or not callable(thing):
                continue
            found.append((f"{module.__name__}.{name}", thing))
    return found


def methods(thing):
    return [getattr(thing, n) for n in dir(thing) if not n.startswith("_") and callable(getattr(thing, n, None))]


def run(seed, folder):
    """What a process does: prints each call before it is made, so that the last one is to blame."""
    os.chdir(folder)
    rng = random.Random(seed)
    pool, names = values(rng, folder), callables()
    own = [m for v in pool if type(v).__module__.startswith("trellis") for m in methods(v)]
    slow = {"fit", "train"}  # of thousands of iterations, by a number drawn
    for _ in range(CALLS):
        call = rng.choice(own) if rng.random() < 0.6 else rng.choice(names)[1]
        arguments = [rng.choice(pool) for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 4, 5)))]
        words = {rng.choice(("n", "nbest", "threads", "n_jobs", "X", "y", "known", "decode", "map", "sample_weight")): rng.choice(pool)
                 for _ in range(rng.choice((0, 0, 0, 1, 2)))}
        if getattr(call, "__name__", "") in slow and any(isinstance(a, int) and a > 3 for a in arguments + list(words.values())):
            continue
        os.write(1, f"{getattr(call, '__qualname__', call)} {[type(a).__name__ for a in arguments]} {list(words)}\n".encode("utf-8", "replace"))
        try:
            answer = call(*arguments, **words)
            if inspect.isgenerator(answer) or hasattr(answer, "__next__"):
                list(zip(range(100), answer))
            if len(pool) < 200 and type(answer).__module__.startswith("trellis"):
                pool.append(answer)
                own += methods(answer)
        except Exception as e:
            assert str(e) or not type(e).__module__.startswith("trellis"), repr(e)


@pytest.mark.parametrize("seed", range(3))
def test_by_chance(seed, tmp_path):
    with open(tmp_path / "calls", "w+b") as log:
        done = subprocess.run([sys.executable, "-X", "faulthandler", "-W", "ignore", __file__, str(seed), str(tmp_path)],
                              stdout=log, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=600, check=False)
        log.seek(0)
        last = log.read().decode("utf-8", "replace").splitlines()[-1:]
    assert done.returncode == 0, (last, done.stderr.decode("utf-8", "replace")[-3000:])


if __name__ == "__main__":
    run(int(sys.argv[1]), sys.argv[2])
