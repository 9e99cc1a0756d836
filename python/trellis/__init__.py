"""Trellis: conditional random fields on chains and trees, and their scores.

>>> import trellis
>>> crf = trellis.CRF(max_iterations=20)
>>> crf.fit([["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]]).predict([["the", "cat"]])
[['D', 'N']]
"""
from . import metrics, score
from ._core import (ArgumentError, Cancelled, ConflictError, Error, FileError, FormatError,
                    ModelError, NumericError)
from ._core import objectives, optimizers
from ._core import version as __version__
from .answers import Contribution, Entropy, TagSpan
from .crf import CRF, Labelling
from .frames import sentences
from .parser import Parse, Parsed, Parser, Span
from .pictures import HTML, render
from .score import compare, compare_trees
from .training import Progress, TrainResult
from .trees import Tree, Treebank

__all__ = [
    "ArgumentError", "CRF", "Cancelled", "ConflictError", "Contribution", "Entropy", "Error",
    "FileError", "FormatError", "HTML", "Labelling",
    "ModelError", "NumericError", "Parse", "Parsed", "Parser", "Progress", "Span", "TagSpan",
    "TrainResult", "Tree", "Treebank", "compare", "compare_trees", "metrics", "objectives", "optimizers", "render",
    "score", "sentences",
]
