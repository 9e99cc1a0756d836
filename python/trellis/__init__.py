"""Trellis: conditional random fields on chains and trees, and their scores.

>>> import trellis
>>> crf = trellis.CRF(max_iterations=20)
>>> crf.fit([["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]]).predict([["the", "cat"]])
[['D', 'N']]
"""
from . import metrics
from ._core import (ArgumentError, Cancelled, Error, FileError, FormatError, ModelError,
                    NumericError)
from ._core import objectives, optimizers
from ._core import version as __version__
from .crf import CRF, Labelling
from .training import Progress, TrainResult

__all__ = [
    "ArgumentError", "CRF", "Cancelled", "Error", "FileError", "FormatError", "Labelling",
    "ModelError", "NumericError", "Progress", "TrainResult", "metrics", "objectives", "optimizers",
]
