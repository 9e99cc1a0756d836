"""trellis.compat.pycrfsuite: programs for python-crfsuite run."""
import math
import os

import pytest

import trellis
from trellis.compat import pycrfsuite


@pytest.fixture
def model(tmp_path, tiny):
    trainer = pycrfsuite.Trainer("lbfgs", {"c2": 0.01}, verbose=False)
    for xseq, yseq in zip(*tiny):
        trainer.append(xseq, yseq)
    trainer.train(str(tmp_path / "m"))
    return str(tmp_path / "m")


def test_train_and_tag(model, tiny):
    X, y = tiny
    with pycrfsuite.Tagger().open(model) as tagger:
        assert [tagger.tag(x) for x in X] == y
        assert sorted(tagger.labels()) == ["D", "N", "V"]
        tagger.set(pycrfsuite.ItemSequence(X[0]))
        assert tagger.tag() == y[0]
        assert 0.0 < tagger.probability(y[0]) < 1.0
        assert sum(tagger.marginal(k, 1) for k in tagger.labels()) == pytest.approx(1.0)
        with pytest.raises(ValueError):
            tagger.marginal("N", 99)
        with pytest.raises(ValueError):
            tagger.probability(["no such"] * 3)
    with pytest.raises(ValueError):
        tagger.tag(X[0])


def test_the_model_is_that_of_the_estimator(model, tiny):
    crf = trellis.CRF("lbfgs", c2=0.01).fit(*tiny)
    with open(model, "rb") as f:
        data = f.read()
    assert data == crf.to_bytes()
    with pycrfsuite.Tagger().open_inmemory(data) as tagger:
        assert tagger.info().state_features == crf.state_features_
        assert tagger.info().transitions == crf.transition_features_
        assert tagger.info().header["num_labels"] == "3"


def test_dump(model, tmp_path, capsys):
    with pycrfsuite.Tagger().open(model) as tagger:
        tagger.dump(str(tmp_path / "dump"))
        tagger.dump()
    text = (tmp_path / "dump").read_text()
    assert text == capsys.readouterr().out
    assert "LABELS = {" in text and "(0) w:dog --> N: " in text


def test_groups_are_held_out(tiny, tmp_path):
    X, y = tiny
    trainer = pycrfsuite.Trainer(verbose=False)
    for k in range(9):
        trainer.append(X[k % 3], y[k % 3], group=k % 3)
    trainer.train(str(tmp_path / "m"), holdout=1)
    with pycrfsuite.Tagger().open(str(tmp_path / "m")) as tagger:
        assert "w:cat" not in tagger.info().attributes and "w:the" in tagger.info().attributes
    assert all("dev_score" in p for p in trainer.logparser.iterations)


def test_the_log_has_the_scores_of_a_group_that_is_held_out(tmp_path, capsys):
    trainer = pycrfsuite.Trainer(params={"max_iterations": 1})
    for _ in range(4):
        trainer.append([{"w": "a"}, {"w": "b"}, {"w": "c"}], ["A", "B", "C"])
    trainer.append([{"w": "a"}, {"w": "b"}, {"w": "c"}, {"w": "a"}], ["A", "A", "D", "E"], 1)
    trainer.append([{"w": "a"}], ["A"], 1)
    trainer.train(str(tmp_path / "m"), holdout=1)
    # to the letter what CRFsuite writes of the same data
    assert """
Performance by label (#match, #model, #ref) (precision, recall, F1):
    A: (2, 3, 3) (0.6667, 0.6667, 0.6667)
    B: (0, 1, 0) (******, ******, ******)
    C: (0, 1, 0) (******, ******, ******)
    D: (0, 0, 1) (0.0000, 0.0000, 0.0000)
    E: (0, 0, 1) (0.0000, 0.0000, 0.0000)
Macro-average precision, recall, F1: (0.133333, 0.133333, 0.133333)
Item accuracy: 2 / 5 (0.4000)
Instance accuracy: 1 / 2 (0.5000)
""" in capsys.readouterr().out
    last = trainer.logparser.last_iteration
    assert last["scores"]["A"] == (2, 3, 3, 0.6667, 0.6667, 0.6667) and "B" not in last["scores"]
    assert last["avg_f1"] == 0.133333 and last["instance_accuracy_float"] == 0.5
    assert last["active_features"] == trainer.logparser.featgen_num_features == 5
    with pycrfsuite.Tagger().open(str(tmp_path / "m")) as tagger:
        info = tagger.info()
    weights = [*info.state_features.values(), *info.transitions.values()]
    assert last["feature_norm"] == pytest.approx(math.sqrt(sum(w * w for w in weights)), abs=1e-5)


def test_a_group_without_tokens_is_not_scored(tiny, tmp_path):
    trainer = pycrfsuite.Trainer(params={"max_iterations": 2}, verbose=False)
    for xseq, yseq in zip(*tiny):
        trainer.append(xseq, yseq)
    trainer.append([], [], 1)
    trainer.train(str(tmp_path / "m"), holdout=1)
    assert trainer.logparser.last_iteration["num"] == 2


def test_what_is_no_sequence_is_a_wrong_value():
    for bad in ("foo", [[{"foo": "bar"}]], 3):
        with pytest.raises(ValueError):
            pycrfsuite.ItemSequence(bad)
        with pytest.raises(ValueError):
            pycrfsuite.Trainer().append(bad, ["A"])


def test_the_log(tiny, tmp_path, capsys):
    seen = []

    class Watching(pycrfsuite.Trainer):
        def on_iteration(self, log, info):
            seen.append(info)
            super().on_iteration(log, info)

    trainer = Watching(params={"max_iterations": 4})
    for xseq, yseq in zip(*tiny):
        trainer.append(xseq, yseq)
    trainer.train(str(tmp_path / "m"))
    out = capsys.readouterr().out
    assert "type: CRF1d\n" in out and "***** Iteration #4 *****\n" in out
    assert [info["num"] for info in seen] == [1, 2, 3, 4]
    losses = [info["loss"] for info in seen]
    assert losses == sorted(losses, reverse=True)
    assert "L-BFGS" not in out and "Optimizer: sdca\n" in out  # the log says what ran
    assert trainer.logparser.featgen_percent == 100
    assert trainer.logparser.featgen_num_features > 0
    assert [e[0] for e in trainer.logparser.events if e[0] not in ("featgen_progress", "iteration")] == \
        ["start", "featgen_end", "prepared", "optimization_end", "end"]


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow", "averaged-perceptron"])
def test_every_algorithm(algorithm, tiny, tmp_path):
    trainer = pycrfsuite.Trainer(algorithm, verbose=False)
    params = trainer.get_params()
    trainer.set_params(params)
    assert trainer.get_params() == params and all(trainer.help(k) for k in trainer.params())
    trainer.set("max_iterations", "7")
    assert trainer.get("max_iterations") == 7
    for bad in ("nothing", "c9"):
        with pytest.raises(ValueError, match="Parameter not found"):
            trainer.set(bad, 1)
    with pytest.raises(ValueError):
        trainer.set("max_iterations", "many")
    for xseq, yseq in zip(*tiny):
        trainer.append(xseq, yseq)
    trainer.train(str(tmp_path / "m"))
    with pycrfsuite.Tagger().open(str(tmp_path / "m")) as tagger:
        assert len(tagger.tag(tiny[0][0])) == 3


def test_no_data_is_said_and_nothing_written(tmp_path, capsys):
    pycrfsuite.Trainer().train(str(tmp_path / "m"))
    assert "terminated with error" in capsys.readouterr().out
    assert not (tmp_path / "m").exists()


def test_wrong_lengths(tiny):
    with pytest.raises(ValueError, match="3 tokens and y has 1"):
        pycrfsuite.Trainer().append(tiny[0][0], ["N"])


def test_models_of_crfsuite():
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "oracle", "foreign")
    model = os.path.join(folder, "crfsuite-lbfgs.model")
    with open(os.path.join(folder, "crfsuite-lbfgs.out"), encoding="utf-8") as f:
        want = [[line.split("\t")[0] for line in block.splitlines()[1:]] for block in f.read().strip().split("\n\n")]
    with open(os.path.join(folder, "test.crfsuite"), encoding="utf-8") as f:
        blocks = f.read().strip("\n").split("\n\n")
    with open(model, "rb") as f:
        data = f.read()
    for tagger in (pycrfsuite.Tagger(), pycrfsuite.Tagger()):
        tagger.open(model)
        for block, labels in zip(blocks[:5], want):
            xseq = []
            for line in block.splitlines():
                item = {}
                for attribute in line.split("\t")[1:]:
                    name, value = attribute.replace("\\:", "\0"), 1.0
                    if ":" in name:
                        name, value = name.rsplit(":", 1)
                    item[name.replace("\0", ":").replace("\\\\", "\\")] = float(value)
                xseq.append(item)
            assert tagger.tag(xseq) == labels
        tagger.open_inmemory(data)
        assert "B-NP" in tagger.labels()
    with pytest.raises(trellis.Error, match="damaged"):
        pycrfsuite.Tagger().open_inmemory(data[:1000])
