"""A model in the words of `crfsuite dump`."""


class ParsedDump:
    """What a model consists of; the answer of Tagger.info().

    transitions: {(label before, label): weight}; state_features: {(attribute, label): weight};
    header, labels and attributes: {name: number}, numbers as strings.
    """

    def __init__(self):
        self.header = {}
        self.labels = {}
        self.attributes = {}
        self.transitions = {}
        self.state_features = {}


def parsed(model):
    """A ParsedDump of a model of the core."""
    info, out = model.info(), ParsedDump()
    attributes = model.attributes()
    out.labels = {name: str(k) for k, name in enumerate(model.labels)}
    out.attributes = {name: str(k) for k, name in enumerate(attributes)}
    out.state_features = model.features()
    pairs = model.weights(None, 1)
    if pairs is not None:
        values = iter(memoryview(pairs).cast("d"))
        out.transitions = {(a, b): w for a in model.labels for b in model.labels
                           for w in (next(values),) if w != 0.0}
    out.header = {
        "magic": "lCRF", "size": str(info["size"]), "type": "FOMC", "version": "100",
        "num_features": str(info["features"]), "num_labels": str(len(model.labels)),
        "num_attrs": str(len(attributes)),
    }
    return out


def text(dump):
    """The lines of the dump, as `crfsuite dump` writes them."""
    yield "FILEHEADER = {\n"
    for name, value in dump.header.items():
        yield f"  {name}: {value}\n"
    for title, names in (("LABELS", dump.labels), ("ATTRIBUTES", dump.attributes)):
        yield f"}}\n\n{title} = {{\n"
        for name, k in names.items():
            yield f"  {int(k):5d}: {name}\n"
    for title, weights, kind in (("TRANSITIONS", dump.transitions, 1),
                                 ("STATE_FEATURES", dump.state_features, 0)):
        yield f"}}\n\n{title} = {{\n"
        for (a, b), w in weights.items():
            yield f"  ({kind}) {a} --> {b}: {w:f}\n"
    yield "}\n\n"
