"""Sequences out of data frames."""
from typing import Any, Dict, List, Optional, Sequence, Tuple


def sentences(frame, by: str, columns: Sequence[str],
              label: Optional[str] = None) -> Tuple[List[List[Any]], Optional[List[List[str]]]]:
    """X and y of a data frame with a row for every token.

    Tokens with the same value of the column `by` are a sequence, in the order of the frame; X has
    tuples of the columns, or strings when there is one column.  Without a label y is None.  A value
    that is missing (None, NaN) is refused.
    """
    if isinstance(columns, str):
        columns = [columns]
    lists = {name: list(frame[name]) for name in [by, *columns, *([label] if label else [])]}
    for name, values in lists.items():
        for k, v in enumerate(values):
            if v is None or v != v:
                raise ValueError(f"row {k + 1}: the column {name!r} has no value")
    groups: Dict[Any, List[int]] = {}
    for k, key in enumerate(lists[by]):
        groups.setdefault(key, []).append(k)

    def token(k):
        cells = tuple(str(lists[name][k]) for name in columns)
        return cells[0] if len(cells) == 1 else cells

    X = [[token(k) for k in rows] for rows in groups.values()]
    y = [[str(lists[label][k]) for k in rows] for rows in groups.values()] if label else None
    return X, y
