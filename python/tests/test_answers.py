"""Spans, entropies, contributions and what is known before, against all labellings one by one."""
import math

import pytest

import trellis

X = [[{"w": "Ann"}, {"w": "Lee"}, {"w": "met", "low": True}, {"w": "Bob"}],
     [{"w": "IBM"}, {"w": "hired", "low": True}, {"w": "Ann"}, {"w": "Lee"}]]
y = [["B-PER", "I-PER", "O", "B-PER"], ["B-ORG", "O", "B-PER", "I-PER"]]
NEW = [{"w": "Lee"}, {"w": "hired", "low": True}, {"w": "Bob"}]


@pytest.fixture(scope="module", params=[1, 2])
def crf(request):
    return trellis.CRF(c2=0.3, order=request.param, all_possible_transitions=True,
                       all_possible_states=True).fit(X, y)


def labellings(crf, xseq):
    """All of them, with their probabilities."""
    found = crf.predict_nbest([xseq], len(crf.classes_) ** len(xseq))[0]
    assert math.isclose(sum(f.probability for f in found), 1.0, rel_tol=1e-9)
    return [(f.labels, f.probability) for f in found]


def chunks(labels):
    out, begin = [], None
    for t, label in enumerate([*labels, "O"]):
        if begin is not None and label != "I-" + labels[begin][2:]:
            out.append((begin, t, labels[begin][2:]))
            begin = None
        if label != "O" and begin is None:
            begin = t
    return out


def test_spans_are_sums_over_labellings(crf):
    every = labellings(crf, NEW)
    for least in (None, 0.02):
        spans = crf.predict_spans([NEW, []], least=least)
        assert spans[1] == []
        for s in spans[0]:
            p = sum(q for labels, q in every if (s.begin, s.end, s.type) in chunks(labels))
            b = sum(q for labels, q in every if (s.begin, s.end) in [c[:2] for c in chunks(labels)])
            assert math.isclose(s.probability, p, abs_tol=1e-9)
            assert math.isclose(s.boundaries, b, abs_tol=1e-9)
    above = {(s.begin, s.end, s.type) for s in spans[0]}
    p = {}
    for labels, q in every:
        for c in chunks(labels):
            p[c] = p.get(c, 0.0) + q
    assert above == {c for c, q in p.items() if q >= 0.02}


def test_entropies(crf):
    every = labellings(crf, NEW)
    whole, tokens = crf.predict_entropy([NEW])[0]
    assert math.isclose(whole, -sum(p * math.log(p) for _, p in every if p), abs_tol=1e-9)
    for t, h in enumerate(tokens):
        share = {}
        for labels, p in every:
            share[labels[t]] = share.get(labels[t], 0.0) + p
        assert math.isclose(h, -sum(p * math.log(p) for p in share.values() if p), abs_tol=1e-9)
    assert crf.predict_entropy([[]])[0].sequence == 0.0


def test_what_is_known(crf):
    every = labellings(crf, NEW)
    known = {0: {"B-ORG", "B-PER"}, 2: "O"}
    obeys = [(p, labels) for labels, p in every if labels[0] in known[0] and labels[2] == "O"]
    assert crf.predict_given([NEW, NEW, []], [known, None, None]) == [
        max(obeys)[1], crf.predict([NEW])[0], []]
    assert crf.predict_given([NEW], [[(0, 2, "PER")]])[0][:2] == ["B-PER", "I-PER"]
    p = [q / sum(q for q, _ in obeys) for q, _ in obeys]
    assert math.isclose(crf.predict_entropy([NEW], [known])[0].sequence,
                        -sum(q * math.log(q) for q in p if q), abs_tol=1e-9)


def test_rules(crf):
    rules = ["forbid O B-PER", "max-spans PER=1"]
    obeys = [(p, labels) for labels, p in labellings(crf, NEW)
             if not any(a == "O" and b == "B-PER" for a, b in zip(labels, labels[1:]))
             and sum(c[2] == "PER" for c in chunks(labels)) <= 1]
    assert crf.predict_given([NEW], rules=rules)[0] == max(obeys)[1]
    assert crf.predict_given([NEW], rules=rules[0]) != [] and crf.predict([NEW]) == crf.predict_given([NEW])


def test_contributions_add_up_to_the_score(crf):
    labels = crf.predict_single(NEW)
    score = crf.predict_nbest([NEW], 1)[0][0].score
    total = 0.0
    for t in range(len(NEW)):
        for c in crf.explain(NEW, t):
            for key, w in c.weights.items():
                key = key if isinstance(key, tuple) else (key,)
                if len(key) <= t + 1 and tuple(labels[t + 1 - len(key):t + 1]) == key:
                    total += c.value * w
    assert math.isclose(total, score, rel_tol=1e-6)


def test_wrong_questions(crf):
    with pytest.raises(trellis.Error, match="Q"):
        crf.predict_given([NEW], [{0: "Q"}])
    with pytest.raises(IndexError, match="9"):
        crf.predict_given([NEW], [{9: "O"}])
    with pytest.raises(ValueError, match="sequences"):
        crf.predict_given([NEW], [None, None])
    with pytest.raises(trellis.Error):
        crf.predict_given([NEW], rules=["forbid"])
    with pytest.raises(trellis.ConflictError, match="obeys"):
        crf.predict_given([NEW], [{0: "O", 1: "O"}], rules=["forbid O O"])
    with pytest.raises(trellis.Error):
        crf.predict_spans([NEW], least=2.0)
    with pytest.raises((trellis.Error, IndexError)):
        crf.explain(NEW, 3)
    with pytest.raises(TypeError):
        crf.predict_given([NEW], [[1]])
    assert crf.predict([NEW]) == crf.predict_given([NEW])  # rules do not stay
