"""Pictures for notebooks and pages: tagged text, trees, transitions, learning curves.

Everything is self-contained HTML and SVG.  Text has the colour of the page around it and colours are
translucent or of middle lightness, so that pictures are readable on light and on dark ground.
"""
import html
import math
import re
import zlib
from typing import Dict, Iterable, List, Optional, Sequence

from . import _files

PAGE = ("<!DOCTYPE html>\n<html><head><meta charset='utf-8'>"
        "<meta name='color-scheme' content='light dark'><title>{title}</title></head>"
        "<body style='font-family:{font};margin:2em'>\n{body}\n</body></html>\n")
FONT = "Inter,Helvetica Neue,Helvetica,Arial,DejaVu Sans,sans-serif"
HUES = (210, 25, 145, 330, 50, 265, 180, 0, 100, 295)


class HTML:
    """A piece of HTML: notebooks show it, save writes a page of its own."""

    def __init__(self, body: str, title: str = "Trellis"):
        self.body = body
        self.title = title

    def _repr_html_(self) -> str:
        return self.body

    def __str__(self):
        return self.body

    def save(self, path) -> None:
        """Writes a page."""
        page = PAGE.format(title=html.escape(self.title), font=FONT, body=self.body)
        _files.write(path, page.encode("utf-8", "replace"))


def _escape(text) -> str:
    """Text for HTML; surrogates, which pages cannot have, become U+FFFD."""
    clean = str(text).encode("utf-8", "replace").decode("utf-8")
    return html.escape("".join(c if c >= " " or c in "\t\n" else "\ufffd" for c in clean), quote=True)


def hue(kind: str) -> int:
    """The same colour for the same label, everywhere."""
    return HUES[zlib.crc32(kind.encode("utf-8", "replace")) % len(HUES)]


def hues(labels: Sequence[str]) -> Dict[str, int]:
    """Colours of the types of these labels, all different as long as there are enough."""
    taken: Dict[str, int] = {}
    for kind in sorted({_kind(label) for label in labels if label not in ("O", "")}):
        k = HUES.index(hue(kind))
        free = [h for h in HUES[k:] + HUES[:k] if h not in taken.values()]
        taken[kind] = free[0] if free else HUES[k]
    return taken


def _kind(label: str) -> str:
    """The type of a chunk label; labels of no scheme are their own type."""
    return label[2:] if re.match(r"[BIESLUM]-.", label) else label


# ---- tagged text --------------------------------------------------------------------------------


def _ruby(word, label, p, hint, colours):
    style = "display:inline-block;text-align:center;margin:2px;padding:2px 5px;border-radius:5px;"
    alpha = 0.0
    if label not in ("O", ""):
        alpha = 0.12 + 0.43 * (1.0 if p is None else p)
        h = colours.get(_kind(label), hue(_kind(label)))
        style += (f"background:hsla({h},75%,50%,{alpha:.2f});"
                  f"border-bottom:2px solid hsla({h},75%,50%,.9)")
    elif p is not None and p < 0.9:  # an O that is not sure
        style += f"border-bottom:2px dotted rgba(128,128,128,{1.0 - p:.2f})"
    small = f"<span style='font-size:70%;opacity:.75;display:block'>{_escape(label)}</span>"
    title = f" title='{_escape(hint)}'" if hint else ""
    return f"<span style='{style}'{title}>{_escape(word)}{small}</span>"


def tagged_html(words: Sequence[str], labels: Sequence[str],
                probabilities: Optional[Sequence[float]] = None,
                hints: Optional[Sequence[str]] = None, note: str = "",
                colours: Optional[Dict[str, int]] = None) -> str:
    """A sentence with a colour for every label, the stronger the surer; hints on hover.

    colours are those of `hues`, of all labels that there are; without them, of the labels here.
    """
    if len(words) != len(labels):
        raise ValueError(f"{len(words)} words and {len(labels)} labels")
    unknown: List[Optional[float]] = [None] * len(words)
    p = probabilities if probabilities is not None else unknown
    h = hints if hints is not None else [""] * len(words)
    colours = hues(labels) if colours is None else colours
    spans = "".join(_ruby(*row, colours) for row in zip(words, labels, p, h))
    foot = f"<div style='font-size:80%;opacity:.7'>{_escape(note)}</div>" if note else ""
    return f"<div style='line-height:2.2;font-family:{FONT}' dir='auto'>{spans}{foot}</div>"


def token_text(token) -> str:
    """What to show for a token when no words are given."""
    if isinstance(token, str):
        return token
    if isinstance(token, dict):
        for name in ("word", "w", "token", "text", "form", "word.lower()", "lower"):
            if isinstance(token.get(name), str):
                return token[name]
        return next((v for v in token.values() if isinstance(v, str)), "·")
    for cell in token:
        return str(cell)
    return "·"


def crf_html(crf, X, words=None, n: int = 3) -> str:
    """Tagged text of a CRF: probabilities as opacity, alternatives and the n best on hover."""
    classes, out = crf.classes_, []
    colours = hues(classes)
    X = list(X)
    sure = crf.model_.info()["is_probability"]
    found = crf.predict_nbest(X, n)
    proba = crf.predict_proba(X) if sure else [None] * len(X)
    for k, (xseq, best, p) in enumerate(zip(X, found, proba)):
        shown = list(words[k]) if words is not None else [token_text(t) for t in xseq]
        labels = best[0].labels if best else []
        chosen, hints = None, None
        if p is not None and best:
            chosen = [float(row[classes.index(y)]) for row, y in zip(p, labels)]
            hints = [_alternatives(classes, row, best, t) for t, row in enumerate(p)]
        note = f"p = {best[0].probability:.3g}" if best and sure else ""
        out.append(tagged_html(shown, labels, chosen, hints, note, colours))
    return "".join(out)


def _alternatives(classes, row, best, t):
    order = sorted(range(len(classes)), key=lambda k: -row[k])[:4]
    lines = [f"{classes[k]}  {100 * float(row[k]):.1f} %" for k in order if row[k] >= 0.0005]
    lines += [f"{r + 1}. best: {b.labels[t]}  (p = {b.probability:.3g})" for r, b in enumerate(best)]
    return "\n".join(lines)


# ---- trees --------------------------------------------------------------------------------------


def tree_html(tree) -> str:
    """A tree as SVG, in the colours of the page."""
    from . import _core
    svg = _core.svg_trees(str(tree), True)
    return f"<div style='overflow-x:auto'>{svg}</div>"


def parse_html(parse) -> str:
    """The trees of a sentence, with their probabilities."""
    out = []
    for k, (tree, p) in enumerate(parse.trees):
        head = f"{k + 1}." if len(parse.trees) > 1 else ""
        head += f" p = {p:.3g}" if p is not None else ""
        out.append(f"<div style='font-size:85%;opacity:.8'>{_escape(head)}</div>" + tree_html(tree))
    if parse.warning:
        out.append(f"<div style='color:#d1743d'>{_escape(parse.warning)}</div>")
    return "".join(out)


# ---- matrices -----------------------------------------------------------------------------------


def matrix_html(matrix, rows: Sequence[str], columns: Sequence[str], corner: str = "") -> str:
    """A table of numbers: blue above 0, orange below, the stronger the larger."""
    values = [[float(x) for x in row] for row in matrix]
    top = max((abs(x) for row in values for x in row if math.isfinite(x)), default=0.0) or 1.0
    cell = "padding:3px 7px;text-align:right;font-variant-numeric:tabular-nums;border:0;color:inherit;"
    head = "padding:3px 7px;font-weight:600;border:0;white-space:nowrap;background:none;color:inherit;"
    out = [f"<table style='border-collapse:collapse;font:13px {FONT}'><tr>"
           f"<th style='{head}text-align:left;opacity:.7'>{_escape(corner)}</th>"]
    out += [f"<th style='{head}text-align:right'>{_escape(c)}</th>" for c in columns]
    for name, row in zip(rows, values):
        out.append(f"</tr><tr style='background:none'><th style='{head}text-align:left'>{_escape(name)}</th>")
        for x in row:
            alpha = 0.7 * abs(x) / top if math.isfinite(x) else 0.0
            colour = f"background:hsla({210 if x > 0 else 25},80%,50%,{alpha:.2f})" if x else "opacity:.45"
            out.append(f"<td style='{cell}{colour}'>{x:.2f}</td>".replace(">-0.00<", ">0.00<"))
    return "<div style='overflow-x:auto'>" + "".join(out) + "</tr></table></div>"


def transitions_html(crf) -> str:
    """The weights of transitions: the label before in rows, the label in columns."""
    matrix = crf.transition_matrix_
    if matrix is None:
        return "<div>The model has no plain transitions.</div>"
    return matrix_html(matrix, crf.classes_, crf.classes_, "from \\ to")


# ---- learning curves ----------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, BOTTOM = 560, 240, 64, 34


def _ticks(low: float, high: float, n: int = 5) -> List[float]:
    """Round numbers between low and high."""
    step = 10.0 ** math.floor(math.log10((high - low) / n)) if high > low else 1.0
    step *= next(k for k in (1, 2, 5, 10, 20) if (high - low) / (step * k) <= n)
    first = math.ceil(low / step)
    return [k * step for k in range(first, first + n + 2) if k * step <= high * (1 + 1e-12)]


def _number(x: float) -> str:
    return f"{x:.0f}" if abs(x) >= 100 else f"{x:.4g}"


def curve_svg(xs: Sequence[float], ys: Sequence[float], title: str, colour: str) -> str:
    """One line in a frame, with ticks."""
    pairs = [(x, y) for x, y in zip(xs, ys) if y is not None and math.isfinite(y)]
    if not pairs:
        return ""
    xs, ys = [p[0] for p in pairs], [p[1] for p in pairs]
    low, high = min(ys), max(ys)
    if low == high:
        low, high = low - abs(low or 1.0) / 2, high + abs(high or 1.0) / 2
    x0, x1 = min(xs), max(max(xs), min(xs) + 1)

    def at(x, y):
        return (LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - 12),
                22 + (high - y) / (high - low) * (HEIGHT - BOTTOM - 22))

    out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}' "
           f"viewBox='0 0 {WIDTH} {HEIGHT}' font-family='{FONT}' font-size='11'>",
           f"<text x='{LEFT}' y='14' fill='currentColor' font-size='13' font-weight='600'>{_escape(title)}</text>"]
    for y in _ticks(low, high):
        _, v = at(x0, y)
        out.append(f"<line x1='{LEFT}' x2='{WIDTH - 12}' y1='{v:.1f}' y2='{v:.1f}' stroke='#888' stroke-opacity='.3'/>"
                   f"<text x='{LEFT - 6}' y='{v + 4:.1f}' text-anchor='end' fill='currentColor'>{_number(y)}</text>")
    for x in _ticks(x0, x1):
        if x == int(x):
            u, _ = at(x, low)
            out.append(f"<text x='{u:.1f}' y='{HEIGHT - 14}' text-anchor='middle' fill='currentColor'>{int(x)}</text>")
    points = " ".join("{:.1f},{:.1f}".format(*at(x, y)) for x, y in pairs)
    out.append(f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='2'/>")
    u, v = at(*pairs[-1])
    out.append(f"<circle cx='{u:.1f}' cy='{v:.1f}' r='3' fill='{colour}'/></svg>")
    return "".join(out)


def history_html(history: Iterable) -> str:
    """The objective, and the score on the dev data if there was any, by iteration."""
    history = list(history)
    xs = [p.iteration for p in history]
    curves = [curve_svg(xs, [p.objective for p in history], "objective by iteration", "#3d8fd1"),
              curve_svg(xs, [p.dev_score for p in history], "dev score by iteration, percent", "#2c9c78")]
    return "<div>" + "".join(c for c in curves if c) + "</div>"


def render(what, X=None, words=None, n: int = 3) -> HTML:
    """A picture of a tree, a parse, a fitted CRF, or of sequences X that a CRF tags.

    >>> from trellis import Tree
    >>> "Kim" in str(render(Tree.parse("(S (NP (NNP Kim)) (VP (VBZ sleeps)))")))
    True
    """
    if X is not None:
        return HTML(crf_html(what, X, words, n))
    if hasattr(what, "_repr_html_"):
        return HTML(what._repr_html_())
    raise TypeError(f"there is no picture of a {type(what).__name__}")
