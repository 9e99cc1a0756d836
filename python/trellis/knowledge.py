"""What a fitted CRF knows: labels, attributes, weights, its training; pictures of these."""
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from ._base import doubles


class Knowledge:
    """The part of CRF that looks into the model."""

    if TYPE_CHECKING:
        @property
        def model_(self) -> Any: ...
        def _fitted(self) -> Any: ...

    @property
    def classes_(self) -> List[str]:
        """The labels, or None before fit."""
        return None if self.model_ is None else list(self.model_.labels)  # type: ignore[return-value]

    @property
    def tagger_(self):
        """A pycrfsuite.Tagger of the model, or None before fit."""
        if self.model_ is None:
            return None
        if self.__dict__.get("_tagger") is None:
            from .compat.pycrfsuite import Tagger
            self._tagger = Tagger._of_model(self.model_)
        return self._tagger

    @property
    def size_(self) -> Optional[int]:
        """The size of the model in bytes."""
        return None if self.model_ is None else self.model_.info()["size"]

    @property
    def attributes_(self) -> Optional[List[str]]:
        """The attributes with weights."""
        return None if self.model_ is None else self.model_.attributes()

    @property
    def num_attributes_(self) -> Optional[int]:
        """How many attributes have weights."""
        return None if self.model_ is None else len(self.model_.attributes())

    @property
    def state_features_(self) -> Optional[Dict[Tuple[str, str], float]]:
        """``{(attribute, label): weight}``."""
        if self.model_ is None:
            return None
        if self.__dict__.get("_info_kept") is None:
            self._info_kept = self.model_.features()
        return self._info_kept

    @property
    def transition_matrix_(self):
        """The weights of plain transitions: array (label before, label); None without."""
        w = None if self.model_ is None else self.model_.weights(None, 1)
        n = 0 if w is None else len(self.model_.labels)
        return None if w is None else doubles(w, n, n)

    @property
    def transition_features_(self) -> Optional[Dict[Tuple[str, str], float]]:
        """``{(label before, label): weight}``, those that are not 0."""
        if self.model_ is None:
            return None
        matrix, labels = self.transition_matrix_, self.model_.labels
        if matrix is None:
            return {}
        return {(a, b): float(matrix[i][j]) for i, a in enumerate(labels)
                for j, b in enumerate(labels) if matrix[i][j] != 0.0}

    @property
    def training_log_(self):
        """The history of the run, with the names of sklearn_crfsuite's log."""
        if "history_" not in self.__dict__:
            return None
        from .compat.pycrfsuite import TrainLog
        return TrainLog(self.history_, self.result_)

    def weights(self, attribute: str) -> Dict[str, float]:
        """``{label: weight}`` of an attribute; empty when the model does not have it."""
        w = self._fitted().weights(attribute)
        return {} if w is None else {k: v for k, v in zip(self.classes_, memoryview(w).cast("d"))
                                     if v != 0.0}

    def render(self, X, words=None, n=3):
        """Tagged text: a colour for every label, stronger where it is surer; the n best on hover.

        words are what is shown; without them, what looks like the word in X.
        """
        from .pictures import HTML, crf_html
        self._fitted()
        return HTML(crf_html(self, X, words, n))

    def render_transitions(self):
        """The weights of transitions as a table."""
        from .pictures import HTML, transitions_html
        self._fitted()
        return HTML(transitions_html(self))

    def render_history(self):
        """Objective and dev score by iteration."""
        from .pictures import HTML, history_html
        return HTML(history_html(self.__dict__.get("history_", [])))

    def _repr_html_(self):
        from .pictures import FONT, _escape, history_html, transitions_html
        out = f"<pre style='color:inherit;background:none'>{_escape(repr(self))}</pre>"
        if self.model_ is None:
            return out
        info = self.model_.info()
        out += (f"<div style='font:13px {FONT};margin:6px 0'>{info['objective']}, {info['labels']} labels, {info['attributes']} attributes, "
                f"{info['features']} weights, {info['size']} bytes</div>")
        if len(self.model_.labels) <= 40:
            out += transitions_html(self)
        if self.__dict__.get("history_"):
            out += history_html(self.history_)
        return out

    def _repr_mimebundle_(self, **unused):
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
