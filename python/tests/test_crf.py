"""trellis.CRF: forms of input, answers, options."""
import itertools
import math
import os
import pickle
import subprocess
import sys
import warnings

import pytest

import trellis


def test_dictionaries_lists_and_nested_values_are_the_same_attributes():
    forms = [
        [[{"w": "a", "t": True, "g": {"x": "b", "y": ["p", "q"]}}, {"w": "b", "t": False}]],
        [[["w:a", "t", "g:x:b", "g:y:p", "g:y:q"], {"w:b": 1.0, "t": 0.0}]],
        [({"w": b"a", "t": 1, "g": {"x": b"b", "y": ("p", "q")}}, {"w": "b", "t": 0})],
    ]
    models = [trellis.CRF().fit(X, [["A", "B"]]).to_bytes() for X in forms]
    assert models[0] == models[1] == models[2]


def test_rows_with_a_template_and_words_without(chunk_files):
    from conftest import read_columns
    rows = read_columns(chunk_files[0], 60)
    y = [[c[-1] for c in r] for r in rows]
    words = trellis.CRF(max_iterations=10).fit([[c[0] for c in r] for r in rows], y)
    cells = trellis.CRF(template="U00:%x[0,0]\nU01:%x[-1,0]\nB\n", max_iterations=10)
    cells.fit([[c[:-1] for c in r] for r in rows], y)
    assert words.score([[c[0] for c in r] for r in rows], y) > 0.7
    assert cells.score([[c[:-1] for c in r] for r in rows], y) > 0.7
    assert "U01" in cells.model_.template()


def test_the_same_bits_as_the_command_line_from_columns(program, chunk_files, tmp_path):
    from conftest import read_columns
    rows = read_columns(chunk_files[0])
    template = "U00:%x[0,0]\nU01:%x[0,1]\nU02:%x[-1,1]/%x[0,1]\nB\n"
    (tmp_path / "t").write_text(template)
    for extra, keywords in ((["--optimizer", "auto", "--c1", "0.1"], {"c1": 0.1}),
                            (["--c1", "0.1"], {"c1": 0.1, "optimizer": "lbfgs"}),
                            (["--optimizer", "auto"], {}),
                            (["--objective", "perceptron"], {"objective": "perceptron"}),
                            (["--optimizer", "sgd", "--seed", "3"],
                             {"optimizer": "sgd", "random_state": 3})):
        subprocess.run([program, "train", "-q", "-t", str(tmp_path / "t"), "--max-iter", "8", "-m",
                        str(tmp_path / "m"), chunk_files[0], *extra], check=True)
        crf = trellis.CRF(template=template, max_iterations=8, n_jobs=1, **keywords)
        crf.fit([[c[:-1] for c in r] for r in rows], [[c[-1] for c in r] for r in rows])
        assert crf.to_bytes() == (tmp_path / "m").read_bytes()


def test_the_same_bits_and_tags_as_the_command_line_from_items(program, chunks, tmp_path):
    X, y, _ = chunks
    with open(tmp_path / "items", "w") as f:
        for xseq, yseq in zip(X, y):
            for item, label in zip(trellis._core.normalize(xseq), yseq):
                names = (k.replace("\\", "\\\\").replace(":", "\\:") + (f":{v!r}" if v != 1.0 else "")
                         for k, v in item.items())
                f.write("\t".join([label, *names]) + "\n")
            f.write("\n")
    subprocess.run([program, "train", "-q", "--format", "crfsuite", "--max-iter", "8",
                    "--optimizer", "auto", "-m", str(tmp_path / "m"), str(tmp_path / "items")], check=True)
    crf = trellis.CRF(max_iterations=8).fit(X, y)
    assert crf.to_bytes() == (tmp_path / "m").read_bytes()
    told = subprocess.run([program, "tag", "-m", str(tmp_path / "m"), str(tmp_path / "items")],
                          check=True, capture_output=True, text=True).stdout.split()
    assert told == [label for yseq in crf.predict(X) for label in yseq]


def test_what_takes_the_least_time_is_the_default_and_lbfgs_is_there_by_name(tiny):
    for keywords, optimizer in (({}, "sdca"), ({"c1": 0.1}, "asgd-owlqn"), ({"c2": 0.0}, "lbfgs"),
                                ({"algorithm": "lbfgs"}, "sdca"), ({"optimizer": "lbfgs"}, "lbfgs"),
                                ({"algorithm": "lbfgs", "c1": 0.1}, "asgd-owlqn"),
                                ({"algorithm": "lbfgs", "optimizer": "lbfgs"}, "lbfgs"),
                                ({"algorithm": "lbfgs", "objective": "memm"}, "lbfgs"),
                                ({"objective": "memm"}, "lbfgs"), ({"objective": "perceptron"}, "perceptron"),
                                ({"algorithm": "l2sgd"}, "sgd"), ({"algorithm": "ap"}, "perceptron")):
        crf = trellis.CRF(max_iterations=4, **keywords).fit(*tiny)
        assert crf.result_.optimizer == optimizer, keywords


def test_the_default_ends_where_lbfgs_does(chunks):
    X, y, _ = chunks
    for keywords in ({}, {"c2": 0.1}, {"c1": 0.1, "c2": 0.1}):
        usual, theirs = (trellis.CRF(a, **keywords).fit(X, y) for a in (None, "lbfgs"))
        named = trellis.CRF(optimizer="lbfgs", **keywords).fit(X, y)
        assert usual.to_bytes() == theirs.to_bytes()
        assert usual.result_.objective == pytest.approx(named.result_.objective, rel=1e-3)


def test_what_the_first_pass_has_learned_is_kept_with_a_weak_penalty(chunks):
    crf = trellis.CRF(c2=0.03, max_iterations=4).fit(*chunks[:2])
    assert "(lbfgs after 1 of sdca)" in crf.result_.ending
    objectives = [p.objective for p in crf.history_]
    assert objectives == sorted(objectives, reverse=True)


def test_zeros_count_once_with_a_label(program, tmp_path):
    X = [[{"a": False, "w": "x"}, {"a": False, "b": 0.0, "w": "y"}], [{"a": False}, {"a": True, "b": 0}],
         [{"b": 0.0, "c": False}, {"c": True, "a": False}]]
    y = [["A", "B"], ["A", "A"], ["B", "A"]]
    with open(tmp_path / "items", "w") as f:
        for xseq, yseq in zip(X * 3, y * 3):
            for item, label in zip(trellis._core.normalize(xseq), yseq):
                f.write("\t".join([label, *(k.replace(":", "\\:") + f":{v!r}" for k, v in item.items())]) + "\n")
            f.write("\n")
    subprocess.run([program, "train", "-q", "--format", "crfsuite", "--optimizer", "auto", "-m",
                    str(tmp_path / "m"), str(tmp_path / "items")], check=True)
    crf = trellis.CRF().fit(X * 3, y * 3)
    assert crf.to_bytes() == (tmp_path / "m").read_bytes()
    assert ("a", "B") in crf.state_features_ and ("c", "A") in crf.state_features_


def test_threads_change_nothing(chunks):
    X, y, _ = chunks
    for keywords in ({}, {"c1": 0.1}, {"optimizer": "lbfgs"}):
        one, two = (trellis.CRF(max_iterations=5, n_jobs=n, **keywords).fit(X, y) for n in (1, 3))
        assert one.to_bytes() == two.to_bytes()
        assert one.predict(X) == two.predict(X)
    assert [[list(row) for row in p] for p in one.predict_proba(X)] == \
        [[list(row) for row in p] for p in two.predict_proba(X)]


def test_answers_of_many_batches_are_those_of_one_thread(chunks):
    """Threads take turns at batches of some thousand tokens; sequences without tokens are among them."""
    X, y, _ = chunks
    many = (X + [[]]) * 20
    assert sum(map(len, many)) > 3 * 8192
    crf = trellis.CRF(max_iterations=5).fit(X, y)

    def proba(sequences):
        return [[list(row) for row in p] for p in crf.predict_proba(sequences)]

    for ask in (crf.predict, proba, crf.predict_nbest):
        crf.n_jobs = 1
        one = ask(many)
        assert len(one) == len(many)
        for crf.n_jobs in (2, 5, None):
            assert ask(iter(many)) == one


def enumerate_scores(crf, xseq):
    """exp(score) of every labelling, from the weights."""
    labels, n = crf.classes_, len(xseq)
    items, matrix = trellis._core.normalize(xseq), crf.transition_matrix_
    states = [[sum(v * crf.state_features_.get((k, y), 0.0) for k, v in item.items())
               for y in labels] for item in items]
    for path in itertools.product(range(len(labels)), repeat=n):
        score = sum(states[t][k] for t, k in enumerate(path))
        score += sum(matrix[a][b] for a, b in zip(path, path[1:]))
        yield path, math.exp(score)


def test_probabilities_and_n_best_against_enumeration(tiny):
    X, y = tiny
    crf = trellis.CRF(c2=0.3).fit(X, y)
    for xseq in X:
        scores = sorted(enumerate_scores(crf, xseq), key=lambda s: -s[1])
        z = sum(s for _, s in scores)
        best = crf.predict_nbest([xseq], 4)[0]
        for (path, s), found in zip(scores, best):
            assert found.probability == pytest.approx(s / z)
        assert best[0].labels == crf.predict([xseq])[0]
        p = crf.predict_proba([xseq])[0]
        pairs = crf.predict_pair_proba([xseq])[0]
        for t in range(len(xseq)):
            for k in range(len(crf.classes_)):
                want = sum(s for path, s in scores if path[t] == k) / z
                assert p[t][k] == pytest.approx(want)
                assert crf.predict_marginals([xseq])[0][t][crf.classes_[k]] == p[t][k]
                if t:
                    assert sum(pairs[t - 1][j][k] for j in range(len(crf.classes_))) == \
                        pytest.approx(want)


def test_a_weight_of_two_is_a_sequence_given_twice(tiny):
    X, y = tiny
    twice = trellis.CRF(delta=1e-12, epsilon=1e-9).fit(X + X[:1], y + y[:1])
    weighted = trellis.CRF(delta=1e-12, epsilon=1e-9).fit(X, y, sample_weight=[2, 1, 1])
    for key, w in twice.state_features_.items():
        assert weighted.state_features_[key] == pytest.approx(w, abs=1e-4)


def test_dev_data_chooses_the_iteration(chunks):
    X, y, _ = chunks
    crf = trellis.CRF(max_iterations=15).fit(X[:60], y[:60], X[60:], y[60:])
    best = max(p.dev_score for p in crf.history_)
    assert crf.result_.dev_score == best
    kept = crf.history_[crf.result_.saved_iteration - 1]
    assert kept.dev_score == best
    assert kept.dev == trellis.score.tokens(y[60:], crf.predict(X[60:]))
    assert kept.active == crf.result_.active and kept.norm > 0.0
    with pytest.raises(ValueError, match="X_dev"):
        crf.fit(X, y, X)


@pytest.mark.parametrize("name", [m["name"] for m in trellis.objectives() if m["kinds"] & 1])
def test_every_objective(name, chunks):
    X, y, rows = chunks
    cells = [[c[:-1] for c in r] for r in rows]
    crf = trellis.CRF(objective=name, max_iterations=3, q0_samples=200 if "estim" in name else None)
    try:
        crf.fit(cells, y)
    except trellis.ArgumentError as e:  # what needs an option says which
        pytest.skip(f"{name}: {e}")
    assert crf.score(cells, y) > 0.3
    assert crf.model_.info()["objective"] == name


@pytest.mark.parametrize("name", [m["name"] for m in trellis.optimizers()])
def test_every_optimizer(name, tiny):
    X, y = tiny
    crf = trellis.CRF(optimizer=name, c1=0.1 if "owlqn" in name else None, max_iterations=5)
    try:
        crf.fit(X, y)
    except trellis.ArgumentError as e:  # those of other objectives say so
        assert name in str(e)
    else:
        assert crf.score(X, y) > 0.3


def test_callbacks_see_every_iteration_and_stop(tiny):
    X, y = tiny
    seen = []

    def watch(p):
        seen.append(p)
        return p.stage == "iteration" and p.iteration == 2

    crf = trellis.CRF(callbacks=watch).fit(X, y)
    assert [p.iteration for p in seen if p.stage == "iteration"] == [1, 2]
    assert crf.result_.stopped and crf.result_.iterations == 2
    assert len(crf.history_) == 2 and crf.predict(X)


def test_an_exception_of_a_callback_is_raised_and_the_model_kept(tiny):
    X, y = tiny

    def fail(p):
        if p.stage == "iteration":
            raise LookupError("from the callback")

    crf = trellis.CRF(callbacks=[fail])
    with pytest.raises(LookupError, match="from the callback"):
        crf.fit(X, y)
    assert len(crf.predict(X)) == len(X)


def test_pickle_keeps_the_bits(tiny):
    X, y = tiny
    crf = trellis.CRF(c2=0.2).fit(X, y)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(crf, protocol))
        assert copy.to_bytes() == crf.to_bytes() and copy.c2 == 0.2
        assert copy.predict(X) == crf.predict(X)
    assert pickle.loads(pickle.dumps(trellis.CRF(c1=3))).c1 == 3


def test_files(tiny, tmp_path):
    X, y = tiny
    crf = trellis.CRF(model_filename=tmp_path / "m").fit(X, y)
    for other in (trellis.CRF(model_filename=tmp_path / "m"), trellis.CRF.load(tmp_path / "m"),
                  trellis.CRF.load(str(tmp_path / "m"), map=True), trellis.CRF.load(crf.to_bytes())):
        assert other.predict(X) == crf.predict(X)
        assert other.to_bytes() == crf.to_bytes()


def test_start_from_a_model(chunks):
    X, y, _ = chunks
    crf = trellis.CRF(optimizer="lbfgs", max_iterations=20).fit(X, y)
    on = trellis.CRF(max_iterations=1, init=crf).fit(X, y)
    assert on.history_[0].objective <= crf.result_.objective * 1.0001


def test_crfsuites_words(tiny):
    X, y = tiny
    crf = trellis.CRF("lbfgs", c1=0.01, c2=0.01, max_iterations=50, all_possible_transitions=True)
    assert crf.fit(X, y).score(X, y) == 1.0
    assert len(crf.transition_features_) > 0
    for crf in (trellis.CRF("pa", pa_type=2, c=0.5, averaging=False), trellis.CRF("arow", gamma=0.5)):
        assert crf.fit(X, y).score(X, y) == 1.0
    with pytest.warns(UserWarning, match="linesearch"):
        trellis.CRF(linesearch="Backtracking").fit(X, y)
    with pytest.raises(ValueError, match="algorithm is one of"):
        trellis.CRF("newton").fit(X, y)


def test_a_scheme_is_kept(tmp_path):
    X = [[{"w": w} for w in s] for s in ("abcd", "cab", "dd", "bc")]
    y = [["B-X", "I-X", "O", "O"], ["O", "B-X", "I-X"], ["O", "O"], ["B-X", "O"]]
    new = [[{"w": "c"}, {"w": "b"}, {"w": "b"}], [{"w": "b"}]]

    def faults(labels):
        return sum(b == "I-X" and a == "O" for s in labels for a, b in zip(["O", *s], s))

    free = trellis.CRF(c2=0.001).fit(X, y)
    kept = trellis.CRF(scheme="iob2", c2=0.001).fit(X, y)
    assert faults(kept.predict(new)) == 0
    assert all(p["I-X"] == 0 for p in (s[0] for s in kept.predict_marginals(new)))
    assert any(p["I-X"] > 0 for p in (s[0] for s in free.predict_marginals(new)))
    again = pickle.loads(pickle.dumps(kept))
    assert again.predict_marginals(new) == kept.predict_marginals(new)
    (tmp_path / "rules").write_text("forbid <s> I-X\n")
    kept = trellis.CRF(rules=tmp_path / "rules").fit(X, y)
    assert all(s[0]["I-X"] == 0 for s in kept.predict_marginals(new))
    with pytest.raises(trellis.Error, match="sequence 2, token 1: 'I-X' does not start"):
        trellis.CRF(scheme="iob2").fit(X, [y[0], ["I-X", "O", "O"], *y[2:]])


def test_marginals_of_a_perceptron_are_shares(tiny):
    X, y = tiny
    crf = trellis.CRF(objective="perceptron", max_iterations=5).fit(X, y)
    for row in crf.predict_proba(X)[0]:
        assert sum(row) == pytest.approx(1.0)


def test_empty_sequences_are_labelled_with_nothing(tiny):
    X, y = tiny
    crf = trellis.CRF().fit(X, y)
    assert crf.predict([[], X[0], []]) == [[], crf.predict(X[:1])[0], []]
    assert crf.predict([]) == []
    assert len(crf.predict_proba([[]])[0]) == 0
    assert crf.predict_nbest([[]], 2) == [[]]


def test_verbose_prints_a_line_an_iteration(tiny, capsys):
    X, y = tiny
    trellis.CRF(verbose=True, max_iterations=3).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines if line.startswith("Iter")] == \
        [["Iter", "1"], ["Iter", "2"], ["Iter", "3"]]


def test_progress_bar(tiny, capsys):
    X, y = tiny
    trellis.CRF(progress=True, max_iterations=3).fit(X, y)
    assert "objective" in capsys.readouterr().err


WITHOUT = r"""
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numpy", "sklearn", "scipy", "nltk", "tqdm", "pandas"):
            raise ImportError(name)
sys.meta_path.insert(0, Block())
import trellis, pickle
X, y = [[{"w": "a"}, {"w": "b"}]] * 3, [["A", "B"]] * 3
crf = trellis.CRF(c2=0.1, progress=True).fit(X, y)
assert crf.predict(X) == y and crf.score(X, y) == 1.0
p = crf.predict_proba(X)
assert isinstance(p[0][0], list) and abs(sum(p[0][0]) - 1) < 1e-9
assert len(crf.predict_pair_proba(X)[0][0][0]) == 2
assert repr(crf) == "CRF(c2=0.1, progress=True)", repr(crf)
assert crf.set_params(c1=1).get_params()["c1"] == 1
assert pickle.loads(pickle.dumps(crf)).predict(X) == y
try:
    trellis.CRF().predict(X)
except ValueError as e:
    assert "not fitted" in str(e)
print("good")
"""


def test_without_numpy_and_scikit_learn():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert done.stdout == "good\n", done.stderr


def test_no_warning_where_nothing_is_wrong(tiny):
    X, y = tiny
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trellis.CRF(c1=0.1, c2=0.1, n_jobs=2).fit(X, y).predict(X)


def test_a_value_of_0_gives_a_weight_and_nothing_else():
    """As in CRFsuite: what occurs together with 0 has a weight, however often it occurs."""
    X, y = [[{"u": True, "w": "a"}, {"u": False, "w": "b"}]], [["A", "B"]]
    crf = trellis.CRF(c2=0.1).fit(X, y)
    assert crf.state_features_[("u", "B")] < 0 < crf.state_features_[("u", "A")]
    without = [[{"u": True, "w": "a"}, {"w": "b"}]]
    assert ("u", "B") not in trellis.CRF(c2=0.1).fit(without, y).state_features_
    assert crf.predict_marginals(X) == crf.predict_marginals(without)
    more = trellis.CRF(c2=0.1).fit(X * 2 + without * 2, y * 4)
    assert more.to_bytes() == trellis.CRF(c2=0.1).fit(X + without * 3, y * 4).to_bytes()


PARTIAL_X = [[["a", "x"], ["b", "y"], ["c", "x"], ["d", "y"]], [["b", "x"], ["a", "y"]],
             [["c", "y"], ["d", "x"], ["a", "x"]]]
PARTIAL_Y = [["O", None, {"P", "L"}, {"L": 0.25, "O": 0.75}], ["P", "O"], ["L", None, None]]
PARTIAL_TEXT = [["O", "?", "L|P", "L:0.25|O:0.75"], ["P", "O"], ["L", "?", "?"]]


def test_partial_labels(tmp_path):
    """None, sets and dictionaries are what the library reads as text: the same model."""
    crf = trellis.CRF(max_iterations=5).fit(PARTIAL_X, PARTIAL_Y)
    assert sorted(crf.classes_) == ["L", "O", "P"]
    known = [[label if isinstance(label, str) else "O" for label in seq] for seq in PARTIAL_Y]
    other = trellis.CRF(max_iterations=5).fit(PARTIAL_X, known)
    assert crf.predict_marginals(PARTIAL_X) != other.predict_marginals(PARTIAL_X)
    tool = os.path.join(os.environ.get("BUILD", "build"), "trellis")
    if os.path.exists(tool):
        data, model = tmp_path / "data", tmp_path / "model"
        lines = ("\n".join(label.replace(":", "\\:") + "\t" + "\t".join(attrs)
                           for label, attrs in zip(y, x)) for x, y in zip(PARTIAL_X, PARTIAL_TEXT))
        data.write_text("\n\n".join(lines) + "\n\n")
        subprocess.run([tool, "train", "-q", "--partial", "--format", "crfsuite", "--max-iter", "5",
                        "-m", str(model), str(data)], check=True)
        crf.save(str(tmp_path / "own"))
        assert model.read_bytes() == (tmp_path / "own").read_bytes()


def test_partial_labels_refused():
    with pytest.raises(ValueError, match="empty set"):
        trellis.CRF().fit(PARTIAL_X[1:2], [["O", set()]])
    with pytest.raises(TypeError, match="a label is a string"):
        trellis.CRF().fit(PARTIAL_X[1:2], [[None, 3]])
    with pytest.raises(Exception, match="sum to 0.5"):
        trellis.CRF().fit(PARTIAL_X[1:2], [["O", {"P": 0.25, "L": 0.25}]])
    with pytest.raises(Exception, match="perceptron"):
        trellis.CRF(objective="perceptron").fit(PARTIAL_X, PARTIAL_Y)
    with pytest.raises(ValueError, match="y_dev"):
        trellis.CRF().fit(PARTIAL_X, PARTIAL_Y, PARTIAL_X, PARTIAL_Y)
    crf = trellis.CRF(max_iterations=2).fit(PARTIAL_X, PARTIAL_Y)
    with pytest.raises(ValueError, match="not known"):
        crf.score(PARTIAL_X, PARTIAL_Y)


def test_odd_labels_and_weights():
    """Labels with the signs of partial labels stay labels; weights of tokens; costs."""
    y = [["?", None, "A|B", "x:1"], ["a@2", "\\"], ["?", None, None]]
    crf = trellis.CRF(max_iterations=3).fit(PARTIAL_X, y)
    assert sorted(crf.classes_) == sorted(["?", "A|B", "x:1", "a@2", "\\"])
    weights = [[1, 2, 0.5, 0], [1, 1], [0, 1, 1]]
    crf = trellis.CRF(objective="memm", max_iterations=3)
    crf.fit(PARTIAL_X, PARTIAL_Y, token_weight=weights)
    with pytest.raises(Exception, match="weights of tokens"):
        trellis.CRF().fit(PARTIAL_X, PARTIAL_Y, token_weight=weights)
    with pytest.raises(Exception, match="negative"):
        crf.fit(PARTIAL_X, PARTIAL_Y, token_weight=[[1, -1, 1, 1], [1, 1], [1, 1, 1]])
    with pytest.raises(ValueError, match="not as many weights"):
        crf.fit(PARTIAL_X, PARTIAL_Y, token_weight=[[1], [1, 1], [1, 1, 1]])
    trellis.CRF(cost={"*": 1, ("P", "O"): 5}, max_iterations=3).fit(PARTIAL_X, PARTIAL_Y)
    with pytest.raises(Exception, match="'Q' is not in the training data"):
        trellis.CRF(cost="Q=1").fit(PARTIAL_X, PARTIAL_Y)


def test_built_in_template():
    X = [[("The",), ("Plain",), ("Émile",), ("Zola",)], [("New",), ("York",), ("is",)]]
    y = [["O", "O", "B", "I"], ["B", "I", "O"]]
    crf = trellis.CRF(template="ner").fit(X, y)
    assert crf.predict(X) == y
    words = trellis.CRF(template="word at -1..1\nsuffix 1..2 of lower\nedge:\n").fit(X, y)
    assert words.predict(X) == y
