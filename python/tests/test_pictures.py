"""Pictures: well-formed, self-contained, and of what they claim."""
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

import trellis
from trellis import pictures


class Checker(HTMLParser):
    """Every element is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def checked(body):
    """The text of well-formed HTML that loads nothing and has no fixed black or white."""
    c = Checker()
    c.feed(str(body))
    assert not c.open
    for word in ("<script", "src=", "@import", "url(", "#000", "#fff"):
        assert word not in str(body)
    return " ".join(c.text)


@pytest.fixture
def crf(tiny):
    X, y = tiny
    return trellis.CRF(c2=0.1, max_iterations=10).fit(X, y, X, y)


def test_tagged_text(crf, tiny):
    X, _ = tiny
    text = checked(crf.render(X))
    assert "dog" in text and "N" in text and "p = " in text
    body = str(crf.render(X, words=[["<the>", "&", "'x'"], ["a", "b"], ["c", "d"]]))
    assert "&lt;the&gt;" in checked(body) or "<the>" in checked(body)
    assert "1. best: D" in body
    with pytest.raises(ValueError):
        crf.render(X, words=[["one"]] * 3)


def test_surer_is_stronger():
    body = pictures.tagged_html(["a", "b"], ["X", "X"], [0.2, 0.9])
    first, second = (float(part.split(",")[3].split(")")[0]) for part in body.split("hsla(")[1::2])
    assert first < second
    colours = pictures.hues(["B-NP", "I-NP", "B-VP", "B-PP", "O", "B-ADVP", "B-SBAR"])
    assert sorted(colours) == ["ADVP", "NP", "PP", "SBAR", "VP"] and len(set(colours.values())) == 5
    assert pictures.hue("NP") == pictures.hue(pictures._kind("B-NP")) == pictures.hue(pictures._kind("I-NP"))


def test_of_a_perceptron_there_are_labels_alone(tiny):
    X, y = tiny
    crf = trellis.CRF(objective="perceptron", max_iterations=3).fit(X, y)
    assert "p = " not in checked(crf.render(X))


def test_transitions_and_curves(crf):
    text = checked(crf.render_transitions())
    assert all(label in text for label in crf.classes_)
    body = str(crf.render_history())
    assert body.count("<svg") == 2 and "dev score" in checked(body)
    for part in body.split("<svg")[1:]:
        ET.fromstring("<svg" + part.split("</svg>")[0] + "</svg>")
    assert checked(crf._repr_html_()) and "CRF(" in crf._repr_mimebundle_()["text/plain"]
    assert checked(trellis.CRF()._repr_html_())


def test_trees_and_parses():
    tree = trellis.Tree.parse("(S (NP (NNP Kim)) (VP (VBZ <sleeps>)))")
    assert "Kim" in checked(tree._repr_html_()) and "currentColor" in tree._repr_html_()
    parser = trellis.Parser(grade="generative").fit(["(S (NP (N a)) (VP (V b)))"] * 3)
    assert "p = " in checked(parser.parse("a b", nbest=2)._repr_html_())


def test_a_page_of_its_own(crf, tiny, tmp_path):
    trellis.render(crf, tiny[0]).save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "color-scheme" in page and page.startswith("<!DOCTYPE html>")
    assert str(trellis.render(crf)) == crf._repr_html_()
    with pytest.raises(TypeError):
        trellis.render(3)


def test_odd_text_and_numbers():
    checked(pictures.tagged_html(["\ud800", "a\0b", "<b>"], ["O", "", "]]>"], [0.1, 1.0, 0.5]))
    checked(pictures.matrix_html([[0.0, -1.0], [float("nan"), float("inf")]], "ab", "cd"))
    for ys in ([], [1.0], [2.0, 2.0], [None, 1e9], [1e-12, -5.0], [0.0]):
        checked(pictures.curve_svg(range(1, len(ys) + 1), ys, "t", "#888888"))
