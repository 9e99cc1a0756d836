"""trellis.CRF among scikit-learn's tools."""
import re

import pytest

pytest.importorskip("sklearn")
from sklearn import base, pipeline, preprocessing  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.metrics import make_scorer  # noqa: E402
from sklearn.model_selection import (GridSearchCV, RandomizedSearchCV,  # noqa: E402
                                     cross_val_predict, cross_val_score)
from sklearn.utils import estimator_checks  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

import trellis  # noqa: E402


def test_clone_repr_and_parameters():
    crf = trellis.CRF(c1=0.5, max_iterations=7, template=True)
    copy = base.clone(crf)
    assert copy.get_params() == crf.get_params() and copy is not crf
    assert re.match(r"CRF\(c1=0\.5, max_iterations=7, template=True\)", repr(copy))
    assert copy.set_params(c1=1).c1 == 1
    with pytest.raises(ValueError):
        copy.set_params(no_such=1)


def test_fitted_or_not(tiny):
    X, y = tiny
    crf = trellis.CRF()
    with pytest.raises(NotFittedError):
        check_is_fitted(crf)
    for ask in (crf.predict, crf.predict_proba, crf.predict_nbest, crf.predict_marginals):
        with pytest.raises(NotFittedError):
            ask(X)
    check_is_fitted(crf.fit(X, y))
    check_is_fitted(base.clone(crf).fit(X, y))
    assert base.clone(crf).classes_ is None


def test_grid_search_in_processes(chunks):
    X, y, _ = chunks
    search = GridSearchCV(trellis.CRF(max_iterations=5, n_jobs=1), {"c2": [0.01, 1, 100.0]}, cv=3,
                          n_jobs=2, scoring=make_scorer(trellis.metrics.flat_accuracy_score))
    search.fit(X[:60], y[:60])
    assert search.best_params_["c2"] in (0.01, 1)
    assert search.best_estimator_.score(X, y) > 0.7
    assert search.predict(X[:1])[0]


def test_randomized_search_and_cross_validation(chunks):
    X, y, _ = chunks
    crf = trellis.CRF(max_iterations=3)
    assert cross_val_score(crf, X, y, cv=3).min() > 0.5
    search = RandomizedSearchCV(crf, {"c1": [0.1, 1.0], "c2": [0.1, 1.0]}, n_iter=2, cv=2,
                                random_state=1).fit(X[:40], y[:40])
    assert search.best_score_ > 0.4


def test_pipeline(chunks):
    _, y, rows = chunks
    words = [[c[0] for c in r] for r in rows]

    def spread(X):
        return [[{"w": w.lower(), "s": w[-2:]} for w in xseq] for xseq in X]

    pipe = pipeline.Pipeline([("features", preprocessing.FunctionTransformer(spread)),
                              ("crf", trellis.CRF(max_iterations=5))])
    pipe.fit(words, y)
    assert pipe.score(words, y) > 0.6
    assert pipe.set_params(crf__c2=0.5).named_steps["crf"].c2 == 0.5
    assert base.clone(pipe).named_steps["crf"].classes_ is None


# scikit-learn's own checks that do not feed arrays of numbers.
CHECKS = ["check_parameters_default_constructible", "check_no_attributes_set_in_init",
          "check_get_params_invariance", "check_set_params", "check_estimator_get_tags_default_keys"]


@pytest.mark.parametrize("name", [n for n in CHECKS if hasattr(estimator_checks, n)])
def test_scikit_learns_checks(name):
    getattr(estimator_checks, name)("CRF", trellis.CRF())


def test_arrays_of_objects(tiny):
    numpy = pytest.importorskip("numpy")
    X, y = tiny
    Xs, ys = numpy.empty(3, dtype=object), numpy.empty(3, dtype=object)
    Xs[:], ys[:] = X, [numpy.array(k) for k in y]
    weights = numpy.array([1.0, 2.0, 1.0])
    crf = trellis.CRF(random_state=numpy.random.RandomState(1)).fit(Xs, ys, sample_weight=weights)
    assert crf.predict(Xs) == crf.predict(X)
    assert crf.score(Xs, ys, sample_weight=weights) == 1.0
