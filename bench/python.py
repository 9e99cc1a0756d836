#!/usr/bin/env python3
"""The Python package against sklearn-crfsuite and python-crfsuite, and against the program itself.

    bench/python.py DATA [--peer FOLDER]... [--program build/trellis] [--package build/python]

DATA has train.txt and test.txt of CoNLL-2000 (word, part of speech, chunk).  --peer: folders for
sys.path with pycrfsuite and sklearn_crfsuite, built elsewhere.  Features are those of sklearn-crfsuite's
tutorial, options too (algorithm = lbfgs, c1 = c2 = 0.1, all transitions, 100 iterations).  The peer runs first;
Trellis, called with the same words (and another optimizer, where --optimizer names one), stops at the peer's
objective; with one thread, then with its default, one for every processor that the process may use.  Every measurement is a process of its own: wall and processor time of
the call alone, dictionaries and all, and the peak of memory.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import time


def read(path):
    sequences, rows = [], []
    for line in open(path, encoding="utf-8"):
        if line.strip():
            rows.append(line.split())
        elif rows:
            sequences.append(rows)
            rows = []
    return sequences + ([rows] if rows else [])


def neighbour(f, sign, word, tag):
    f.update({sign + ":word.lower()": word.lower(), sign + ":word.istitle()": word.istitle(),
              sign + ":word.isupper()": word.isupper(), sign + ":postag": tag,
              sign + ":postag[:2]": tag[:2]})


def features(rows, t):
    word, tag = rows[t][:2]
    f = {"bias": 1.0, "word.lower()": word.lower(), "word[-3:]": word[-3:], "word[-2:]": word[-2:],
         "word.isupper()": word.isupper(), "word.istitle()": word.istitle(),
         "word.isdigit()": word.isdigit(), "postag": tag, "postag[:2]": tag[:2]}
    if t > 0:
        neighbour(f, "-1", *rows[t - 1][:2])
    else:
        f["BOS"] = True
    if t < len(rows) - 1:
        neighbour(f, "+1", *rows[t + 1][:2])
    else:
        f["EOS"] = True
    return f


def strings(rows, t):
    """The same as attributes that are on."""
    return [k if v is True else f"{k}={v}" for k, v in features(rows, t).items() if v is not False]


class Clock:
    def __enter__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *unused):
        self.wall = time.perf_counter() - self.wall
        self.cpu = time.process_time() - self.cpu


OPTIONS = {"c1": 0.1, "c2": 0.1, "max_iterations": 100, "all_possible_transitions": True}
MOST = 300  # iterations of Trellis, which stops at the objective of the peer


def task(args):
    """One measurement; the answer is a line of JSON."""
    sys.path[:0] = args.peer + ([args.package] if args.package else [])
    make = strings if args.form == "strings" else features
    train = read(os.path.join(args.data, "train.txt"))[:args.limit]
    test = read(os.path.join(args.data, "test.txt"))[:args.limit]
    X, y = [[make(r, t) for t in range(len(r))] for r in train], [[c[2] for c in r] for r in train]
    X_test = [[make(r, t) for t in range(len(r))] for r in test]
    y_test = [[c[2] for c in r] for r in test]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    global OPTIONS
    if args.plain:
        OPTIONS = {"c1": 0.0, "c2": 1.0, "max_iterations": 1000}
    if args.task == "peer":
        import sklearn_crfsuite
        crf = sklearn_crfsuite.CRF(algorithm="lbfgs", **OPTIONS)
    else:
        import trellis
        crf = trellis.CRF("lbfgs", callbacks=lambda p: args.target is not None and p.stage == "iteration" and
                          p.objective is not None and p.objective <= args.target,
                          n_jobs=args.threads, optimizer=args.optimizer, **dict(OPTIONS, max_iterations=MOST))
    with Clock() as fit:
        crf.fit(X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    crf.predict(X_test[:1])
    predict = []
    for _ in range(5):
        with Clock() as c:
            y_pred = crf.predict(X_test)
        predict.append((c.wall, c.cpu))
    right = sum(a == b for p, g in zip(y_pred, y_test) for a, b in zip(p, g))
    log = crf.training_log_
    print(json.dumps({
        "fit": fit.wall, "fit_cpu": fit.cpu, "predict": min(predict)[0],
        "predict_cpu": min(c for _, c in predict), "iterations": len(log.iterations),
        "objective": log.last_iteration["loss"], "data_mb": before / 1024, "peak_mb": peak / 1024,
        "accuracy": right / sum(map(len, y_test))}))


def measure(args, name, **more):
    command = [sys.executable, os.path.abspath(__file__), args.data, "--task", name]
    for folder in args.peer:
        command += ["--peer", folder]
    command += ["--package", args.package, "--limit", str(args.limit)]
    command += ["--plain"] if args.plain else []
    command += ["--optimizer", args.optimizer] if args.optimizer else []
    for key, value in more.items():
        if value is not None:
            command += ["--" + key, repr(value) if isinstance(value, float) else str(value)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def program(args, iterations, threads):
    """The program on the same attributes in a file."""
    path = os.path.join(args.scratch, "train.items")
    with open(path, "w", encoding="utf-8") as f:
        for rows in read(os.path.join(args.data, "train.txt"))[:args.limit]:
            for t in range(len(rows)):
                names = (s.replace("\\", "\\\\").replace(":", "\\:") for s in strings(rows, t))
                f.write("\t".join([rows[t][2], *names]) + "\n")
            f.write("\n")
    start, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    c = ["0", "1", "seen"] if args.plain else ["0.1", "0.1", "all"]
    subprocess.run([args.program, "train", "-q", "--format", "crfsuite", "--c1", c[0], "--c2", c[1],
                    "--transitions", c[2], "--max-iter", str(iterations), "--threads", str(threads),
                    "--optimizer", args.optimizer or "auto",
                    "-m", os.path.join(args.scratch, "model"), path], check=True)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"fit": time.perf_counter() - start,
            "fit_cpu": now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime}


def line(name, r):
    print(f"{name:34s} fit {r['fit']:8.2f} s (cpu {r['fit_cpu']:8.2f})", end="")
    if "predict" in r:
        print(f"  predict {r['predict']:6.3f} s (cpu {r['predict_cpu']:6.3f})  {r['iterations']:3d} iterations"
              f"  objective {r['objective']:.2f}  peak {r['peak_mb']:.0f} MB (data {r['data_mb']:.0f})"
              f"  accuracy {100 * r['accuracy']:.2f}", end="")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--peer", action="append", default=[])
    parser.add_argument("--package", default="build/python")
    parser.add_argument("--program", default="build/trellis")
    parser.add_argument("--scratch", default="build")
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--plain", action="store_true", help="sklearn-crfsuite's defaults: c2 = 1, L-BFGS")
    parser.add_argument("--optimizer", help="of Trellis, by name; otherwise what algorithm='lbfgs' is")
    parser.add_argument("--task")
    parser.add_argument("--form", default="dicts")
    parser.add_argument("--target", type=float)
    args = parser.parse_args()
    if args.task:
        return task(args)
    peer = measure(args, "peer") if args.peer else None
    if peer:
        line("sklearn-crfsuite, dictionaries", peer)
    target = peer["objective"] if peer else args.target
    for threads in (1, None):
        ours = measure(args, "trellis", target=target, threads=threads)
        line(f"trellis.CRF, dictionaries, {threads or 'default'} thread{'' if threads else 's'}", ours)
        if peer:
            print(f"    fit {peer['fit'] / ours['fit']:.1f} x, predict {peer['predict'] / ours['predict']:.1f} x")
    listed = measure(args, "trellis", target=target, form="strings", threads=1)
    line("trellis.CRF, strings, 1 thread", listed)
    tool = program(args, listed["iterations"], 1)
    line("trellis train, the same in a file", tool)
    print(f"    the binding costs {100 * (listed['fit_cpu'] / tool['fit_cpu'] - 1):.1f} % of the program's time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
