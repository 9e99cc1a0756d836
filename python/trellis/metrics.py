"""The measures of sklearn_crfsuite.metrics, for lists of lists of labels."""
import functools
from itertools import chain


def flatten(y):
    """The labels of all sequences in one list.

    >>> flatten([["A", "B"], ["C"]])
    ['A', 'B', 'C']
    """
    return list(chain.from_iterable(y))


def _flat(measure):
    @functools.wraps(measure)
    def wrapper(y_true, y_pred, *args, **kwargs):
        return measure(flatten(y_true), flatten(y_pred), *args, **kwargs)

    return wrapper


@_flat
def flat_accuracy_score(y_true, y_pred):
    """The share of labels that are right.

    >>> flat_accuracy_score([["A", "B"], ["A"]], [["A", "A"], ["A"]])
    0.6666666666666666
    """
    if len(y_true) != len(y_pred):
        raise ValueError(f"{len(y_true)} labels and {len(y_pred)} predictions")
    return sum(a == b for a, b in zip(y_true, y_pred)) / len(y_true) if y_true else 0.0


@_flat
def flat_precision_score(y_true, y_pred, **kwargs):
    """sklearn.metrics.precision_score of all labels."""
    from sklearn import metrics
    return metrics.precision_score(y_true, y_pred, **kwargs)


@_flat
def flat_recall_score(y_true, y_pred, **kwargs):
    """sklearn.metrics.recall_score of all labels."""
    from sklearn import metrics
    return metrics.recall_score(y_true, y_pred, **kwargs)


@_flat
def flat_f1_score(y_true, y_pred, **kwargs):
    """sklearn.metrics.f1_score of all labels."""
    from sklearn import metrics
    return metrics.f1_score(y_true, y_pred, **kwargs)


@_flat
def flat_fbeta_score(y_true, y_pred, beta, **kwargs):
    """sklearn.metrics.fbeta_score of all labels."""
    from sklearn import metrics
    return metrics.fbeta_score(y_true, y_pred, beta=beta, **kwargs)


@_flat
def flat_classification_report(y_true, y_pred, labels=None, **kwargs):
    """sklearn.metrics.classification_report of all labels."""
    from sklearn import metrics
    return metrics.classification_report(y_true, y_pred, labels=labels, **kwargs)


def sequence_accuracy_score(y_true, y_pred):
    """The share of sequences with all labels right.

    >>> sequence_accuracy_score([["A", "B"], ["A"]], [["A", "A"], ["A"]])
    0.5
    """
    if not len(y_true):
        return 0
    return sum(list(a) == list(b) for a, b in zip(y_true, y_pred)) / len(y_true)
