"""The interface of python-crfsuite: a change of one import suffices.

    from trellis.compat import pycrfsuite

Models are Trellis's.  What differs is listed in docs/python.md.
"""
from ._dump import ParsedDump
from ._logparser import TrainLog, TrainLogParser
from ._tagger import ItemSequence, Tagger
from ._trainer import BaseTrainer, Trainer
from ..._core import Error as CRFSuiteError
from ..._core import version as CRFSUITE_VERSION

__all__ = ["BaseTrainer", "CRFSUITE_VERSION", "CRFSuiteError", "ItemSequence", "ParsedDump", "Tagger",
           "TrainLog", "TrainLogParser", "Trainer"]
