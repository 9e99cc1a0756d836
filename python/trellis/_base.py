"""What scikit-learn gives an estimator, also where it is not installed."""
import inspect
import os

try:
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
except ImportError:

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """The estimator was not fitted yet."""

    class BaseEstimator:  # type: ignore[no-redef]
        """get_params, set_params and repr, as scikit-learn has them."""

        @classmethod
        def _get_param_names(cls):
            names = inspect.signature(cls.__init__).parameters
            return sorted(k for k in names if k != "self")

        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params):
            valid = self._get_param_names()
            for name, value in params.items():
                if name not in valid:
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}")
                setattr(self, name, value)
            return self

        def __repr__(self):
            defaults = inspect.signature(type(self).__init__).parameters
            changed = (f"{k}={v!r}" for k, v in self.get_params().items()
                       if v is not defaults[k].default and v != defaults[k].default)
            return f"{type(self).__name__}({', '.join(changed)})"

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]


def doubles(data, *shape):
    """The numbers in a bytearray: an array, or lists where there is no numpy."""
    if numpy is not None:
        return numpy.frombuffer(data, dtype=numpy.float64).reshape(shape)
    values = memoryview(data).cast("d").tolist()
    for n in reversed(shape[1:]):
        values = [values[k:k + n] for k in range(0, len(values), n)]
    return values


def processors():
    """Those that the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads(n_jobs):
    """The library's number of threads: None and -1 are all processors."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs < 1:
        raise ValueError(f"n_jobs is a number of threads, None or -1, not {n_jobs!r}")
    return int(n_jobs)
