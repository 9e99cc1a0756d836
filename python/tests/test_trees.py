"""Trees, treebanks, parsers: the same as the program."""
import pickle
import subprocess

import pytest

import trellis
from conftest import BUILD
from trellis import Parser, Tree, Treebank

TEXT = "(S (NP-SBJ (NNP Kim)) (VP (VBZ sleeps) (NP (-NONE- *T*))) (. .))"


@pytest.fixture(scope="module")
def bank():
    path = BUILD / "corpus" / "train.mrg"
    if not path.exists():
        pytest.skip("the sample corpus is not built (make corpus)")
    return Treebank.load(path, clean=True)


@pytest.fixture(scope="module")
def parser(bank):
    return Parser(grade="generative").fit(bank)


def test_brackets_in_and_out():
    for text in (TEXT, "( (S (N a)))", "(X (Y (Z (W w))))"):
        assert str(Tree.parse(text)) == text
        assert pickle.loads(pickle.dumps(Tree.parse(text))) == Tree.parse(text)
    deep = "(A " * 5000 + "(B w)" + ")" * 5000
    assert str(Tree.parse(deep)) == deep and len(list(Tree.parse(deep).nodes())) == 5001
    for bad in ("", "(", ")", "(A", "(A)", "A", "(A b c)", "(A (B c) d)", "(A (B c)) (A (B c))", "()"):
        with pytest.raises(ValueError):
            Tree.parse(bad)


def test_spans_words_and_tags():
    t = Tree.parse("(S (NP (D the) (N dog)) (VP (V barks)))")
    assert t.words() == ["the", "dog", "barks"] and t.tags() == ["D", "N", "V"]
    assert list(t.spans()) == [("S", 0, 3), ("NP", 0, 2), ("VP", 2, 3)]
    assert t[0][1].word == "dog" and len(t) == 2 and [c.label for c in t] == ["NP", "VP"]


def test_nltk_in_and_out():
    nltk = pytest.importorskip("nltk")
    tree = Tree.parse(TEXT)
    there = tree.to_nltk()
    assert there == nltk.Tree.fromstring(TEXT)
    assert Tree.from_nltk(there) == tree
    assert [str(t) for t in Treebank([there])] == [TEXT]
    with pytest.raises(ValueError):
        Tree.from_nltk(nltk.Tree("S", ["a", "b"]))


def test_cleaning_search_and_counts(bank):
    clean = Treebank(TEXT, clean=True)
    assert str(clean[0]) == "(S (NP (NNP Kim)) (VP (VBZ sleeps)) (. .))"
    assert str(Treebank(TEXT, root="TOP")[0]).startswith("(TOP (S ")
    found = bank.search("NP < PP")
    assert 0 < len(found) < len(bank) and all("PP" in str(t) for t in found)
    assert bank.counts()["trees"] == len(bank) == len(bank.sentences())
    assert len(bank[3:7]) == 4 and bank[-1] == list(bank)[-1]
    with pytest.raises(trellis.FormatError):
        bank.search("NP <")
    with pytest.raises(trellis.FormatError):
        Treebank("(S (NP")


def test_drawings_are_the_programs(program):
    tree = Tree.parse("(S (NP (NNP Kim)) (VP (VBZ sleeps)))")
    for style in ("upright", "flat"):
        told = subprocess.run([program, "trees", "--draw", "--style", style, "-"], input=str(tree),
                              capture_output=True, text=True)
        if told.returncode == 0:
            assert tree.draw(style).strip() in told.stdout
    assert "Kim" in tree.draw() and "NP" in tree.draw(ascii=True)
    assert tree.to_svg().lstrip().startswith("<") and "sleeps" in tree.to_svg()
    assert tree.pretty(20).count("\n") > 1
    with pytest.raises(ValueError):
        tree.draw("sideways")


def test_the_same_bits_and_trees_as_the_program(program, bank, parser, tmp_path):
    bank.save(tmp_path / "bank")
    subprocess.run([program, "train", "-q", "--kind", "tree", "--grade", "generative", "-m",
                    str(tmp_path / "m"), str(tmp_path / "bank")], check=True)
    parser.save(tmp_path / "ours")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "m").read_bytes()
    sentences = bank.sentences()[:10]
    (tmp_path / "text").write_text("".join(" ".join(s) + "\n" for s in sentences))
    told = subprocess.run([program, "parse", "-m", str(tmp_path / "m"), str(tmp_path / "text")],
                          check=True, capture_output=True, text=True).stdout
    assert [str(t) for t in parser.predict(sentences)] == told.split("\n")[:-1]


def test_n_best_spans_and_probabilities(bank, parser):
    sentence = min(bank.sentences(), key=lambda s: abs(len(s) - 8))
    best = parser.parse(sentence, nbest=5, spans=True)
    p = [t.probability for t in best.trees]
    assert 1 < len(p) <= 5 and p == sorted(p, reverse=True) and 0 < sum(p) <= 1 + 1e-9
    assert len({t.tree for t in best.trees}) == len(p)
    whole = [s for s in best.spans if (s.start, s.end) == (0, len(sentence))]
    assert max(s.probability for s in whole) == pytest.approx(1.0)
    assert parser.parse(sentence, decode="tree", probability=True).probability == \
        pytest.approx(p[0])
    assert parser.parse(" ".join(sentence)).tree.words() == sentence


def test_what_is_known_holds(bank, parser):
    sentence = min(bank.sentences(), key=lambda s: abs(len(s) - 8))
    free = parser.parse(sentence, decode="tree").tree
    spans = [(a, b) for _, a, b in free.spans() if 1 < b - a < len(sentence)]
    out = parser.parse(sentence, known=[("no constituent", *spans[0])], decode="tree").tree
    assert spans[0] not in [(a, b) for _, a, b in out.spans()]
    likely = parser.parse(sentence, spans=True).spans
    other = next((s.label, s.start, s.end) for s in reversed(likely)
                 if (s.label, s.start, s.end) not in free.spans() and s.label in "NP VP PP".split())
    kept = parser.parse(sentence, known=[("constituent", *other[1:], other[0])], decode="tree").tree
    assert other in kept.spans()
    tagged = parser.parse(sentence, known=[("tag", 0, "NNP")], decode="tree").tree
    assert tagged.tags()[0] == "NNP"
    for bad in ([("tag", 99, "NN")], [("tag", 0, "no such")], [("what", 0, 1)], [("tag", 0)], [0],
                [("constituent", -1, 2)], [("constituent", 0, 2, 3)]):
        with pytest.raises((ValueError, TypeError)):
            parser.parse(sentence, known=bad)


def test_threads_change_nothing(bank, parser):
    sentences = bank.sentences()[:30]
    one, three = (parser.parse_all(sentences, n_jobs=n, spans=True) for n in (1, 3))
    assert [str(p.tree) for p in one] == [str(p.tree) for p in three]
    assert [p.spans for p in one] == [p.spans for p in three]
    assert parser.parse_all([[], "a"])[0].tree is None


def test_the_estimator(bank, parser):
    sentences = bank.sentences()[:20]
    assert parser.score(sentences, bank[:20]) > 0.6
    copy = pickle.loads(pickle.dumps(parser))
    assert copy.predict(sentences[:3]) == parser.predict(sentences[:3])
    assert parser.info_["grade"] == "generative"
    with pytest.raises(ValueError, match="not fitted"):
        Parser().parse("a b")
    for options in ({"decode": "magic"}, {"nbest": -1}, {"no_such": 1}, {"nbest": 10**9}):
        with pytest.raises((ValueError, TypeError)):
            parser.parse("a b", **options)
    with pytest.raises(trellis.Error):
        Parser(grade="none").fit(bank[:5])
    with pytest.raises(trellis.Error):
        Parser().fit("")
    with pytest.raises(TypeError):
        Parser().fit([1, 2])


def test_stopped_training_keeps_the_parser(bank):
    parser = Parser(grade="features", max_iterations=5, callbacks=lambda p: p.iteration == 1)
    parser.fit(bank[:40], dev=bank[40:50])
    assert parser.result_.stopped and parser.result_.iterations == 1
    assert parser.parse(bank[0].words()).tree


def test_raw_text_is_learnt_from(bank, tmp_path):
    sentences = [t.words() for t in bank[40:60]]
    raw = tmp_path / "raw.txt"
    raw.write_text("\n".join(" ".join(words) for words in sentences) + "\n")
    trees = list(bank[:40])
    alone = Parser(grade="generative").fit(trees)
    both = Parser(grade="generative", raw_text=str(raw), self_train=True).fit(trees)
    same = Parser(grade="generative").fit(trees + alone.predict(sentences))
    new = [t.words() for t in bank[60:80]]
    assert both.predict(new) == same.predict(new) != alone.predict(new)
    with pytest.raises(trellis.Error, match="raw text"):
        Parser(grade="generative", self_train=True).fit(trees)


def test_words_that_brackets_cannot_have_are_refused():
    for word in ("a b", "(", "a)b", "", "x\ny"):
        with pytest.raises(ValueError, match="word"):
            trellis.Treebank([trellis.Tree("S", [trellis.Tree("N", word=word)])])
    with pytest.raises(ValueError, match="label"):
        trellis.Treebank([trellis.Tree("S", [trellis.Tree("N P", word="a")])])
    assert len(trellis.Treebank([trellis.Tree("", [trellis.Tree("-LRB-", word="-LRB-")])])) == 1
