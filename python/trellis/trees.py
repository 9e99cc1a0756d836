"""Constituency trees and treebanks."""
import json
import os
import re
from typing import Iterator, List, Optional

from . import _core, _files

_TOKEN = re.compile(r"[()]|[^\s()]+")
_BREAK = re.compile(r"[ \t\n\r\f\v()]")  # what brackets cannot have within a word


class Tree:
    """A node with a label and children, or a word below its part of speech.

    >>> t = Tree.parse("(S (NP (NNP Kim)) (VP (VBZ sleeps)))")
    >>> t.words(), t.tags()
    (['Kim', 'sleeps'], ['NNP', 'VBZ'])
    >>> t[0].label, t[0][0].word
    ('NP', 'Kim')
    >>> print(t)
    (S (NP (NNP Kim)) (VP (VBZ sleeps)))
    >>> list(t.spans())
    [('S', 0, 2), ('NP', 0, 1), ('VP', 1, 2)]
    """

    __slots__ = ("label", "children", "word")

    def __init__(self, label: str, children=(), word: Optional[str] = None):
        if not isinstance(label, str):
            raise TypeError(f"a label is a string, not {type(label).__name__}")
        self.label = label
        self.children = list(children)
        self.word = word
        if word is not None and self.children:
            raise ValueError("a node has children or a word, not both")
        if not all(isinstance(c, Tree) for c in self.children):
            raise TypeError("children are trees")

    @classmethod
    def parse(cls, text: str) -> "Tree":
        """The tree of a text in Penn brackets."""
        trees = list(parse_lines(text))
        if len(trees) != 1:
            raise ValueError(f"{len(trees)} trees where one was expected")
        return trees[0]

    @classmethod
    def from_nltk(cls, tree) -> "Tree":
        """The tree of an nltk.Tree."""
        root = cls(tree.label())
        todo = [(tree, root)]
        while todo:
            source, target = todo.pop()
            for child in source:
                if isinstance(child, str):
                    if len(source) != 1:
                        raise ValueError(f"the word {child!r} has no part of speech of its own")
                    target.word = child
                else:
                    target.children.append(cls(child.label()))
                    todo.append((child, target.children[-1]))
        return root

    def to_nltk(self):
        """An nltk.Tree."""
        from nltk import Tree as NltkTree
        root = NltkTree(self.label, [] if self.word is None else [self.word])
        todo = [(self, root)]
        while todo:
            source, target = todo.pop()
            for child in source.children:
                target.append(NltkTree(child.label, [] if child.word is None else [child.word]))
                todo.append((child, target[-1]))
        return root

    def __getitem__(self, k):
        return self.children[k]

    def __len__(self):
        return len(self.children)

    def __bool__(self):
        return True

    def __iter__(self) -> Iterator["Tree"]:
        return iter(self.children)

    def __eq__(self, other):
        return isinstance(other, Tree) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def nodes(self) -> Iterator["Tree"]:
        """All nodes, a parent before its children."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(node.children))

    def words(self) -> List[str]:
        """The words."""
        return [n.word for n in self.nodes() if n.word is not None]

    def tags(self) -> List[str]:
        """The parts of speech."""
        return [n.label for n in self.nodes() if n.word is not None]

    def spans(self):
        """(label, from, to) of every constituent above the parts of speech."""
        ends, order, at = {}, [], 0
        todo = [(self, False)]
        while todo:
            node, done = todo.pop()
            if done:
                ends[id(node)][1] = at
            elif node.word is not None:
                at += 1
            else:
                ends[id(node)] = [at, at]
                order.append(node)
                todo.append((node, True))
                todo.extend((c, False) for c in reversed(node.children))
        return ((n.label, *ends[id(n)]) for n in order)

    def __str__(self):
        out, todo = [], [self]
        while todo:
            node = todo.pop()
            if isinstance(node, str):
                out.append(node)
                continue
            out.append(f"{' ' if out else ''}({node.label}")
            todo.append(")")
            if node.word is not None:
                todo.append(" " + node.word)
            todo.extend(reversed(node.children))
        return "".join(out)

    def __repr__(self):
        return f"Tree.parse({str(self)!r})"

    def __reduce__(self):
        return Tree.parse, (str(self),)

    def pretty(self, width: int = 100) -> str:
        """Over several lines, indented."""
        return _core.print_trees(str(self), "pretty", width)

    def draw(self, style: str = "auto", width: int = 100, ascii: bool = False) -> str:
        """A picture of signs: upright, flat, or auto, which is upright where that fits."""
        styles = ("auto", "upright", "flat")
        if style not in styles:
            raise ValueError(f"style is one of {', '.join(styles)}, not {style!r}")
        return _core.draw_trees(str(self), styles.index(style), width, ascii)

    def to_svg(self) -> str:
        """A picture as SVG."""
        return _core.svg_trees(str(self))

    def _repr_html_(self):
        from .pictures import tree_html
        return tree_html(self)


def parse_lines(text: str) -> Iterator[Tree]:
    """The trees of a text, as the core writes them."""
    stack: List[Tree] = []
    opened = False
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == "(":
            if opened:
                stack.append(Tree(""))
            opened = True
        elif token == ")":
            if opened:
                stack.append(Tree(""))
                opened = False
            if not stack:
                raise ValueError("a closing bracket without an opening one")
            node = stack.pop()
            if not node.children and node.word is None:
                raise ValueError(f"the node {node.label!r} has neither children nor a word")
            if stack:
                if stack[-1].word is not None:
                    raise ValueError(f"the word {stack[-1].word!r} has a sister that is a node")
                stack[-1].children.append(node)
            else:
                yield node
        elif opened:
            stack.append(Tree(token))
            opened = False
        elif not stack or stack[-1].children or stack[-1].word is not None:
            raise ValueError(f"the word {token!r} is not below a part of speech")
        else:
            stack[-1].word = token
    if stack or opened:
        raise ValueError("a bracket is not closed")


def _line(tree):
    """A tree in brackets that are read as the same tree."""
    for node in tree.nodes():
        for name, what in ((node.label, "label"), (node.word, "word")):
            if name and _BREAK.search(name) or name == "" and what == "word":
                raise ValueError(f"the {what} {name!r} of a tree: it is empty or has a space or a bracket, which are "
                                 "written -LRB- and -RRB-")
    return str(tree)


def lines_of(trees) -> str:
    """Trees of any kind (Tree, nltk.Tree, text) as text, a line each."""
    if isinstance(trees, str):
        return trees
    if isinstance(trees, Treebank):
        return trees.text
    out = []
    for t in trees:
        if isinstance(t, Tree):
            out.append(_line(t))
        elif isinstance(t, str):
            out.append(" ".join(t.split()))
        elif hasattr(t, "label") and callable(t.label):
            out.append(_line(Tree.from_nltk(t)))
        else:
            raise TypeError(f"a tree is a Tree, an nltk.Tree or a string, not {type(t).__name__}")
    return "".join(line + "\n" for line in out)


class Treebank:
    """Trees of a file or of a text, a sequence.

    clean drops traces and function tags; root renames (or, "", removes) roots.

    >>> bank = Treebank("(S (NP-SBJ (NNP Kim)) (VP (VBZ sleeps)))  (NP (NN rain))", clean=True)
    >>> len(bank), str(bank[0])
    (2, '(S (NP (NNP Kim)) (VP (VBZ sleeps)))')
    >>> [str(t) for t in bank.search("S < NP")]
    ['(S (NP (NNP Kim)) (VP (VBZ sleeps)))']
    >>> bank.counts()["trees"]
    2
    """

    def __init__(self, trees="", clean: bool = False, unescape: bool = False,
                 drop_duplicates: bool = False, root: Optional[str] = None):
        changes = {"drop_empty": clean, "drop_functions": clean, "unescape": unescape,
                   "drop_duplicates": drop_duplicates, "root": root}
        self.text = _core.read_trees(lines_of(trees), None, changes)
        self._lines = self.text.splitlines()

    @classmethod
    def load(cls, path, clean: bool = False, unescape: bool = False, drop_duplicates: bool = False,
             root: Optional[str] = None) -> "Treebank":
        """The trees of a file, plain, gzip or zstd."""
        bank = cls()
        changes = {"drop_empty": clean, "drop_functions": clean, "unescape": unescape,
                   "drop_duplicates": drop_duplicates, "root": root}
        bank.text = _core.read_trees(None, os.fspath(path), changes)
        bank._lines = bank.text.splitlines()
        return bank

    def __len__(self):
        return len(self._lines)

    def __getitem__(self, k):
        if isinstance(k, slice):
            return Treebank([line for line in self._lines[k]])
        return Tree.parse(self._lines[k])

    def __iter__(self) -> Iterator[Tree]:
        return (Tree.parse(line) for line in self._lines)

    def __repr__(self):
        return f"<Treebank of {len(self)} trees>"

    def sentences(self) -> List[List[str]]:
        """The words of every tree."""
        return [t.words() for t in self]

    def search(self, pattern: str) -> List[Tree]:
        """The trees with a node that fits, for instance ``NP < PP``."""
        counts = _core.search_trees(self.text, pattern)
        return [Tree.parse(line) for line, n in zip(self._lines, counts) if n]

    def counts(self) -> dict:
        """Trees, words, labels, tags, rules, lengths and depths."""
        return json.loads(_core.count_trees(self.text))

    def save(self, path) -> None:
        """Writes the trees, a line each."""
        _files.write(path, self.text.encode("utf-8", "surrogateescape"))

    def to_nltk(self) -> list:
        """A list of nltk.Tree."""
        return [t.to_nltk() for t in self]
