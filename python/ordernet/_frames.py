"""Turns pandas DataFrames (one, or a list with one per set), lists and NumPy arrays into flat arrays of items, sizes and
feature names. Of frames: groups rows into sets; makes features of columns (numbers, dates, truth values, categories), or
those that a model was trained on, and refuses other kinds of values; warns of columns that cannot be used; reads context
items, orders by ranks, and relations from a frame of pairs; hashes what the features do not tell of a value.
"""

from __future__ import annotations

import ctypes
import math
import re
import warnings
from collections import Counter
from ctypes import byref
from decimal import Decimal, InvalidOperation
from typing import Any, List, NamedTuple, Optional, Sequence

import numpy as np

from ._arrays import _double, _is_frame, _listed, _numbers, _refuse_unordered, lost_hash
from ._library import DataError, UsageError, WrongTypeError, lib


def need_frame(frame: Any) -> None:
    if not _is_frame(frame):
        raise WrongTypeError(f"the frame is of type {type(frame).__name__}, where a pandas DataFrame is expected")


def _rank(value: Any) -> Any:
    """A rank as a number that Python compares exactly; None if it is not a number."""
    if isinstance(value, (str, bytes)):
        try:
            value = Decimal(value.decode() if isinstance(value, bytes) else value)
        except (InvalidOperation, UnicodeDecodeError):
            return None
    value = value.item() if isinstance(value, np.generic) else value
    value = getattr(value, "value", value)  # of a pandas Timestamp: nanoseconds
    if isinstance(value, Decimal):
        return None if value.is_nan() else value
    return value if isinstance(value, (int, float)) and value == value else None


def _sortable(ranks: np.ndarray) -> tuple:
    """Ranks as numbers, and which of them are not numbers. Text is not sorted as text: "10" would come before "9"."""
    if ranks.dtype.kind in "iub":
        return ranks, np.zeros(len(ranks), bool)
    if ranks.dtype.kind in "fmM":
        return ranks, np.isnan(ranks) if ranks.dtype.kind == "f" else np.isnat(ranks)
    found = np.empty(len(ranks), dtype=object)
    found[:] = [_rank(value) for value in ranks]
    return found, np.array([value is None for value in found], bool)


MOST_CLASSES = 32  # as in CSV


def _class_of(name: Any, columns: list) -> Optional[tuple]:
    """The column and the value of a feature named COLUMN=VALUE; None for other names, and if a column has that name."""
    if name in columns or not isinstance(name, str) or "=" not in name:
        return None
    found = [c for c in columns if name.startswith(f"{c}=")]
    return (found[0], name[len(str(found[0])) + 1 :]) if found else None


def column_of(name: Any, columns: list) -> Any:
    """The column that a feature is made from, prio of prio=high, where none of the columns has the feature's name."""
    return name.partition("=")[0] if name not in columns and isinstance(name, str) and "=" in name else name


def _texts(values: Any, known: Sequence[str] = ()) -> np.ndarray:
    """The values of a column as text, of whatever type, without white space around it; None where one is missing, as in CSV.
    known: the values that a model has; a word for a missing value may be one of them (NA is Namibia too)."""
    missing, given = values.isna().to_numpy(), values.to_numpy(dtype=object)
    texts = [None if gone else str(v).strip(" \t") for v, gone in zip(given, missing)]
    found = np.empty(len(texts), dtype=object)
    found[:] = [None if t is None or (t.lower() in _MISSING and t not in known) else t for t in texts]
    return found


def _known_features(values: Any, known: List[str]) -> List[np.ndarray]:
    """For each of the values that a model has of a column, which rows have it, as CSV is read for a model: values that all
    are numbers are compared as numbers, so that 1 is 1.0. Warns where no row has one."""
    known = [value.strip(" \t") for value in known]
    texts = _texts(values, known)
    found = [texts == value for value in known]
    if all(_NUMBER.fullmatch(value) for value in known):
        numbers = np.array([float(t) if t is not None and _NUMBER.fullmatch(t) else np.nan for t in texts])
        found = [same | (numbers == float(value)) for same, value in zip(found, known)]
    there = list(dict.fromkeys(t for t in texts if t is not None))
    if there and not any(same.any() for same in found):
        more = f" and {len(known) - 3} other{'s' if len(known) > 4 else ''}" if len(known) > 3 else ""
        warnings.warn(
            f"column {values.name!r}: no value is one that the model knows: here are {there[:3]}, it knows {known[:3]}{more}; "
            "the order does not depend on the column",
            UserWarning,
            stacklevel=5,
        )
    return [same.astype(np.float64) for same in found]


def _text_values(texts: Any) -> Optional[tuple]:
    """Texts that all are truth values, or all ISO dates, as numbers, as in CSV, and "t" or "d"; None for others."""
    found, value = np.full(len(texts), np.nan), ctypes.c_double()
    kinds = {"d" if text[:1].isdigit() else "t" for text in texts if text is not None}
    if len(kinds) != 1:
        return None
    for i, text in enumerate(texts):
        if text is not None:
            if "\0" in text or not lib.onet_text_value(text.encode("utf-8", "surrogatepass"), byref(value)):
                return None
            found[i] = value.value
    return found, kinds.pop()


#: A number as files spell it, and what they have for a missing one.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?")


def _number_of(value: Any) -> Any:
    """A value of a column of objects as a number; NaN where it is missing, None where it is something else."""
    if isinstance(value, str):
        text = value.strip(" \t")
        return math.nan if text.lower() in _MISSING else Decimal(text) if _NUMBER.fullmatch(text) else None
    if isinstance(value, (bool, np.bool_)):
        return None
    return value if isinstance(value, (int, float, np.integer, np.floating, Decimal)) else None


def _numbers_of(values: Any, column: Any) -> Optional[np.ndarray]:
    """A column of objects that are numbers, or texts that hold them, as float64; None if some are not. One with more
    numbers than other values is refused: it is not a category."""
    if hasattr(values, "cat"):
        return None
    given, gone = values.to_numpy(dtype=object), values.isna().to_numpy()
    found = [math.nan if missing else _number_of(value) for value, missing in zip(given, gone)]
    there = [x for x in found if x is not None and x == x]
    odd = [row for row, x in enumerate(found) if x is None]
    if odd and sum(not isinstance(v, str) and _number_of(v) is not None for v in given[~gone]) > len(odd):
        raise DataError(
            f"column {column!r}: {given[odd[0]]!r} in row {odd[0]} of the frame (from 0) is not a number, but {len(there)} "
            "other values are; correct it, or leave the column out of features"
        )
    if odd or not there:
        return None
    array = np.empty(len(found), dtype=object)
    array[:] = found
    return _double(array, f"column {column!r}")


def _kind_of_text(text: str) -> Optional[str]:
    """The letter of what a text is; None where it is nothing but text."""
    told = _text_values([text])
    return told[1] if told is not None else "-" if _NUMBER.fullmatch(text) else None


#: What the values of a feature are, by the letters of the model file; what the model expects of a column.
_KINDS = {"-": "a number", "d": "a date", "t": "a truth value"}
_TRAINED = {"-": "numbers", "d": "dates", "t": "truth values"}


def _check_kind(values: Any, column: Any, numbers: Optional[np.ndarray], kind: str, wanted: Optional[str]) -> None:
    """Refuses a column of another kind than the model's, as the library does for CSV. numbers: the values, of `kind`; None:
    they are text. wanted: None: no model says what they should be."""
    if wanted is None or kind == wanted:
        return
    bad = ~values.isna().to_numpy()
    if kind == "-" and wanted == "t" and numbers is not None:  # 0 and 1 are truth values too
        bad &= ~np.isin(numbers, (0.0, 1.0))
    if numbers is None:
        bad &= [t is not None and _kind_of_text(t) != wanted for t in _texts(values)]
    if bad.any():
        row, said = int(np.flatnonzero(bad)[0]), _KINDS.get(kind, f"not {_KINDS[wanted]}")
        raise DataError(
            f"column {column!r}: {values.iloc[row]!r} in row {row} of the frame (from 0) is {said}, but the model was trained on "
            f"{_TRAINED[wanted]} there; give it such values" + (", 1 for True" if kind == "t" and wanted == "-" else "")
        )


def _features_of(frame: Any, column: Any, wanted: Optional[str] = None) -> List[tuple]:
    """The features that a column of a frame gives: names, float64 arrays and kinds. wanted: the kind that a model has for
    the column."""
    values = frame[column]
    if wanted is not None and hasattr(values, "cat"):
        values = values.astype(object)  # the model has no category there
    kind = getattr(values.dtype, "kind", "O")
    if kind in "fiub":
        _double(values.dropna().to_numpy(), f"column {column!r}")
        numbers, letter = values.to_numpy(dtype=np.float64, na_value=np.nan), "t" if kind == "b" else "-"
        _check_kind(values, column, numbers, letter, wanted)
        return [(str(column), numbers, wanted or letter)]
    if kind == "M":
        plain = values.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(values.dt, "tz", None) is not None else values
        times = plain.to_numpy(dtype="datetime64[ns]")
        seconds = times.astype(np.int64) / 1e9
        _check_kind(values, column, seconds, "d", wanted)
        return [(str(column), np.where(np.isnat(times), np.nan, seconds), "d")]
    if kind not in "OUS":
        raise DataError(f"column {column!r} has values of type {values.dtype}, which cannot be a feature; leave it out")
    numbers = _numbers_of(values, column)
    if numbers is not None:
        _check_kind(values, column, numbers, "-", wanted)
        return [(str(column), numbers, wanted or "-")]
    texts = _texts(values)
    told = None if hasattr(values, "cat") else _text_values(texts)
    if told is not None:
        _check_kind(values, column, told[0], told[1], wanted)
        return [(str(column), told[0], told[1])]
    _check_kind(values, column, None, "", wanted)
    if wanted is not None:  # all are missing
        return [(str(column), np.full(len(values), np.nan), wanted)]
    spelt = None if hasattr(values, "cat") else _misspelt(values)
    if spelt is not None:
        raise DataError(spelt)
    there = Counter(t for t in texts if t is not None)
    if not len(there):
        raise DataError(f"column {column!r} has no values; leave it out")
    if len(there) > MOST_CLASSES and 2 * len(there) > len(texts):
        raise DataError(
            f"column {column!r} has {len(there)} different texts in {len(texts)} rows, too many for a category; leave it out "
            "of features"
        )
    most = sorted(value for value, _ in there.most_common(MOST_CLASSES))  # of equally frequent ones those met first
    return [(f"{column}={value}", (texts == value).astype(np.float64), "-") for value in most]


#: The fraction of a second of an ISO date, without zeros at its end; a double tells six digits of it.
_FRACTION = re.compile(r"\.(\d*[1-9])")
_TOLD = 6


def _lost_of(values: Any, told: List[str]) -> np.ndarray:
    """What the features do not tell of each value of a column, as onet_lost has it. told: the texts of a category that have
    a feature; none where the column is one of times."""
    found = np.zeros(len(values), np.uint64)
    if getattr(values.dtype, "kind", "O") == "M":
        plain = values.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(values.dt, "tz", None) is not None else values
        times = plain.to_numpy(dtype="datetime64[ns]")
        for i in np.flatnonzero(~np.isnat(times) & (times.astype(np.int64) % 1000 != 0)).tolist():
            found[i] = lost_hash(f"{int(times[i].astype(np.int64)) % 10**9:09}".rstrip("0"))
        return found
    for i, text in enumerate(_texts(values)):
        if told:
            found[i] = 1 if text is None else 0 if text in told else lost_hash(text)
        else:
            fraction = None if text is None else _FRACTION.search(text)
            if fraction is not None and len(fraction[1]) > _TOLD:
                found[i] = lost_hash(fraction[1])
    return found


def _lost_columns(frame: Any, made: List[tuple], classes: dict) -> List[tuple]:
    """Columns of _Lost: first feature, number of features and hashes. made: columns and their features, in order."""
    lost, first = [], 0
    for c, features in made:
        column, span = c if classes[c] is None else classes[c][0], len(features)
        values = frame[column]
        kind = getattr(values.dtype, "kind", "O")
        if classes[c] is not None:
            same = [k for k in classes if classes[k] is not None and classes[k][0] == column]
            if c == same[0]:
                lost.append((first, len(same), _lost_of(values, [classes[k][1] for k in same])))
        elif kind == "M" or (kind in "OUS" and _numbers_of(values, column) is None):
            told = [name[len(str(column)) + 1 :] for name, *_ in features if name != str(column)]
            lost.append((first, span, _lost_of(values, told)))
        first += span
    return [one for one in lost if one[2].any()]


def _all_features(frame: Any, chosen: List[Any], classes: dict, kinds: Optional[str] = None) -> tuple:
    """The features of all columns, those of categories last, as in CSV; names of a model stay in their order. kinds: what
    the model's features are, a letter each. And what the features do not tell: columns of _Lost."""
    wanted = kinds if kinds is not None and len(kinds) == len(chosen) else [None] * len(chosen)
    known: dict = {}  # the features that a model has of a column, by its name
    for one in chosen:
        if classes[one] is not None:
            known.setdefault(classes[one][0], []).append(one)
    values = {
        one: array
        for column, ones in known.items()
        for one, array in zip(ones, _known_features(frame[column], [classes[one][1] for one in ones]))
    }
    made = [
        (c, [(c, values[c], "-")] if classes[c] is not None else _features_of(frame, c, kind)) for c, kind in zip(chosen, wanted)
    ]
    if all(classes[c] is None for c in chosen):
        made.sort(key=lambda one: one[1][0][0] != str(one[0]))
    return [one for _, found in made for one in found], _lost_columns(frame, made, classes)


def need_values(made: List[tuple], asked: bool) -> None:
    """Refuses missing values of the features made. asked: a model is asked, which was trained without any."""
    holes = [(name, np.flatnonzero(np.isnan(values))) for name, values, _ in made]
    holes = [(name, rows) for name, rows in holes if len(rows)]
    if holes:
        count, (name, rows) = sum(len(rows) for _, rows in holes), holes[0]
        others = f", the first of {count} missing values in {len(holes)} column{'s'[: len(holes) > 1]}" if count > 1 else ""
        advice = "use a model that was trained with missing values" if asked else "choose missing='mean' or missing='indicator'"
        raise DataError(f"column {name!r} has no number in row {rows[0]} of the frame (from 0){others}; fill it in, or {advice}")


def _used(frame: Any, columns: List[Any], of: np.ndarray, missing: str, none: bool = False) -> List[Any]:
    """The columns that are features without being named. none: True allows that there are none."""
    why = {c: _unfit(frame[c], of, missing) for c in columns}
    used = [c for c in columns if why[c] is None]
    spelt = [_misspelt(frame[c]) for c in columns if why[c] == _SPELT]
    unused = [c for c in columns if why[c] not in (None, _SPELT)]
    reasons = "; ".join(f"{reason}: {[c for c in unused if why[c] == reason]}" for reason in dict.fromkeys(why[c] for c in unused))
    sentence = f"columns {unused} are not used ({reasons}); name them in features if they are to be used"
    if columns and not used and not none:
        raise DataError("there are no features: " + "; ".join([*spelt, *([sentence] if unused else [])]))
    for one in [*spelt, *([sentence] if unused else [])]:
        warnings.warn(one, UserWarning, stacklevel=4)
    return used


#: What stands for a missing value as people write it, and may mean something else (spelling.c of the library).
_DASHES = ("-", "--", "---", "–", "—", ".", "n.a.")
_SPELT = "numbers or dates that are spelt otherwise"


def _spelling(text: str) -> Optional[str]:
    """How to write a number, date or time that is spelt otherwise, as 48,85, 5% or 31.12.2024; None for other texts."""
    said = None if "\0" in text else lib.onet_text_spelling(text.encode("utf-8", "surrogatepass"))
    return None if said is None else said.decode()


def _misspelt(values: Any) -> Optional[str]:
    """What is wrong with a column in which most texts are numbers or dates spelt otherwise; None for other columns."""
    texts = _texts(values)
    there = Counter(t for t in texts if t is not None and t not in _DASHES and not _NUMBER.fullmatch(t))
    how = {text: said for text, said in ((t, _spelling(t)) for t in there) if said is not None}
    if 2 * sum(there[t] for t in how) <= sum(there.values()):
        return None
    row = next(i for i, t in enumerate(texts) if t in how)
    return (
        f"column {values.name!r}: {texts[row]!r} in row {row} of the frame (from 0) is not a number, so that the column is not a "
        f"feature; {how[texts[row]]}"
    )


def _unfit(values: Any, of: np.ndarray, missing: str) -> Optional[str]:
    """Why a column is not a feature without being named, as classes_use of the library decides for CSV and JSON; None: it
    is one. of: the set of each row."""
    if getattr(values.dtype, "kind", "O") not in "OUS" or hasattr(values, "cat") or _numbers_of(values, values.name) is not None:
        return None
    texts = _texts(values)
    there = [t for t in texts if t is not None]
    if not there:
        return None  # a column without values is refused by name
    if _misspelt(values) is not None:
        return _SPELT
    if any(_NUMBER.fullmatch(t) for t in there):
        return "numbers among texts"
    if all(t in _DASHES for t in there):
        return "dashes alone"
    if _text_values(texts) is not None:
        if len(there) < len(texts) and missing == "error":
            return "some are missing"
    elif 2 * len(set(there)) > len(there):
        return "most texts differ"
    first: dict = {}
    apart = any(t is not None and first.setdefault(s, t) != t for s, t in zip(of.tolist(), texts))
    return None if apart else "the same for all items of a set"


#: Columns that are never features unless they are named, as in CSV.
_OWN = ("context", "logprob")
_FLAGS = {"": -1, "0": 0, "0.0": 0, "false": 0, "1": 1, "1.0": 1, "true": 1}


def _context_of(frame: Any, others: Sequence[Any]) -> Optional[np.ndarray]:
    """What the column `context` of a frame says of each row: 1 for a context item, 0, or -1 where it says nothing. None
    where there is no such column, or it is one of the others: a feature, or the column of sets, ranks or names."""
    there = list(frame.columns).count("context")
    if not there or "context" in others:
        return None
    if there > 1:
        raise DataError("the frame has more than one column 'context', which marks the items that are seen but not placed")
    values = frame["context"]
    gone, given = values.isna().to_numpy(), values.to_numpy(dtype=object)
    flags = [-1 if missing else _FLAGS.get(str(v).strip(" \t").lower()) for v, missing in zip(given, gone)]
    if None in flags:
        row = flags.index(None)
        raise DataError(
            f"column 'context': {given[row]!r} in row {row} of the frame (from 0) is neither 0 nor 1 (seen but not placed); "
            "correct it, or name the features"
        )
    return np.array(flags, np.int8)


class _Frame:
    """Where the rows of a data frame went: item i of all sets is its row rows[i]."""

    def __init__(self, frame: Any, set: Any, features: List[Any]) -> None:
        self.set, self.features, self.index = set, features, frame.index
        values = frame[set]
        if values.isna().any():
            row = int(np.flatnonzero(values.isna().to_numpy())[0])
            raise DataError(f"row {row} of the frame (from 0) has no value in column {set!r}, which says its set")
        if getattr(values.dtype, "kind", "O") in "OUS":  # as in CSV, white space around a name is ignored
            values = values.astype(object).map(lambda name: str(name).strip(" \t"))
            if (values == "").any():
                row = int(np.flatnonzero(values.to_numpy() == "")[0])
                raise DataError(f"row {row} of the frame (from 0) has an empty text in column {set!r}, which says its set")
        code = values.groupby(values, sort=False, observed=True).ngroup().to_numpy()
        self.of = code  # the set of each row of the frame
        self.rows = np.argsort(code, kind="stable")
        self.sizes = np.bincount(code)
        self.names = list(dict.fromkeys(values.tolist()))  # of the sets, in their order

    def pairs(self, frame: Any, pairs: Any, name: Any, missing: bool, advice: str) -> tuple:
        """Relations from a frame of pairs: value [all pairs, R] and their names. missing: NaN stands where there is no
        row, which is refused otherwise; advice: what the sentence adds."""
        need_frame(pairs)
        there = list(pairs.columns)
        for column in (self.set, "from", "to"):
            if there.count(column) != 1:
                raise DataError(f"the frame of pairs has no column {column!r}, or several; it has {there}")
        chosen = [c for c in there if c not in (self.set, "from", "to")]
        for column in chosen:
            if getattr(pairs[column].dtype, "kind", "O") not in "fiub":
                raise DataError(f"column {column!r} of pairs has values of type {pairs[column].dtype}, where numbers are expected")
        number = {value: s for s, value in enumerate(self.names)}
        start = np.concatenate([[0], np.cumsum(self.sizes)])
        first = np.concatenate([[0], np.cumsum(self.sizes.astype(np.int64) ** 2)])
        called = np.arange(len(self.rows)) - np.repeat(start[:-1], self.sizes) if name is None else frame[name].to_numpy()[self.rows]
        item: dict = {}
        for i, (s, one) in enumerate(zip(np.repeat(np.arange(len(self.sizes)), self.sizes).tolist(), called.tolist())):
            if item.setdefault((s, one), i - int(start[s])) != i - int(start[s]):
                raise DataError(f"two items of set {s + 1} are called {one!r} in column {name!r}; names that pairs go by differ")
        value = np.full((int(first[-1]), len(chosen)), np.nan)
        given = np.zeros(len(value), bool)
        numbers = pairs[chosen].to_numpy(dtype=np.float64, na_value=np.nan) if chosen else np.zeros((len(pairs), 0))
        for k, (which, a, b) in enumerate(zip(pairs[self.set].tolist(), pairs["from"].tolist(), pairs["to"].tolist())):
            s = number.get(which)
            if s is None:
                raise DataError(f"row {k} of pairs (from 0): there is no set {which!r}")
            i, j = item.get((s, a)), item.get((s, b))
            if i is None or j is None:
                raise DataError(f"row {k} of pairs (from 0): set {which!r} has no item {(a if i is None else b)!r}")
            cell = int(first[s]) + i * int(self.sizes[s]) + j
            if given[cell]:
                raise DataError(f"row {k} of pairs (from 0): the pair from {a!r} to {b!r} of set {which!r} appears twice")
            given[cell] = True
            value[cell] = numbers[k]
        value[np.concatenate([np.arange(n) * (n + 1) + f for n, f in zip(self.sizes.astype(np.int64), first)])] = 0
        holes = np.zeros(0) if missing else np.argwhere(np.isnan(value))
        if len(holes):
            s = int(np.searchsorted(first, holes[0][0], side="right")) - 1
            i, j = divmod(int(holes[0][0] - first[s]), int(self.sizes[s]))
            others = f", the first of {len(holes)} missing values" if len(holes) > 1 else ""
            raise DataError(
                f"the frame of pairs has no {str(chosen[holes[0][1]])!r} from {called[start[s] + i]!r} to "
                f"{called[start[s] + j]!r} of set {self.names[s]!r}{others}; add {'them' if others else 'it'}{advice}"
            )
        return value, [str(c) for c in chosen]

    def order(self, ranks: np.ndarray, column: Any, context: Optional[np.ndarray]) -> np.ndarray:
        """Each set's rows by rank, as indices within the set, then its context items; one set behind the other. context:
        as _context_of has it."""
        start = np.concatenate([[0], np.cumsum(self.sizes)])
        flat = np.empty(len(self.rows), np.int32)
        numbers, unknown = _sortable(ranks[self.rows])
        seen = np.zeros(len(self.rows), bool) if context is None else context[self.rows] == 1
        if (seen & ~unknown).any():
            row = int(self.rows[np.flatnonzero(seen & ~unknown)[0]])
            raise DataError(
                f"column {column!r}: row {row} of the frame (from 0) has a rank, but its 'context' is 1, and such items are not "
                "placed; leave one of them empty"
            )
        for s in range(len(self.sizes)):
            if (unknown & ~seen)[start[s] : start[s + 1]].any():
                raise DataError(
                    f"column {column!r}: a row of set {s + 1} (row {int(self.rows[start[s]])} of the frame and others) has no "
                    "number as its rank; a row that takes no place has 1 in a column 'context'"
                )
            placed = np.flatnonzero(~seen[start[s] : start[s + 1]])
            part = numbers[start[s] : start[s + 1]][placed]
            by = np.argsort(part, kind="stable")
            same = np.flatnonzero(part[by][1:] == part[by][:-1])
            if len(same):
                a, b = (int(self.rows[start[s] + placed[by[same[0] + k]]]) for k in (0, 1))
                raise DataError(
                    f"column {column!r}: rows {a} and {b} of the frame have the same rank in one set; give each its own"
                )
            flat[start[s] : start[s + 1]] = np.concatenate([placed[by], np.flatnonzero(seen[start[s] : start[s + 1]])])
        return flat


class _Flat(NamedTuple):
    """Sets one behind the other: items [total, width], sizes [count], names of the features or None; rows of each set in
    an array with padding, else 0; flags of context items [total] or None; columns of _Lost; kinds of the features, a
    letter each, or None."""

    items: np.ndarray
    sizes: np.ndarray
    names: Optional[List[str]] = None
    rows: int = 0
    context: Optional[np.ndarray] = None
    lost: Sequence[tuple] = ()
    kinds: Optional[str] = None


def _flat_frames(each: list, wanted: Optional[Sequence[Any]], kinds: Optional[str] = None) -> _Flat:
    """Sets that are data frames, one per set. Their columns are taken by name: by those wanted, which are of these kinds, or as
    the first has them; each other frame then has the same, in any order."""
    import pandas

    first = [c for c in each[0].columns if c not in _OWN] if _is_frame(each[0]) else []
    if wanted is None and "rank" in first:
        raise DataError(
            "set 1 has a column 'rank', which is the right order as a rule: leave it out, or say with features which columns "
            "are given to the net"
        )
    chosen = first if wanted is None else _listed(wanted, "features", UsageError)
    parts, flags = [], []
    for s, one in enumerate(each):
        if not _is_frame(one):
            raise DataError(f"set {s + 1} is of type {type(one).__name__}, but others are data frames: give all as frames or none")
        there = list(one.columns)
        called = {**{str(c): c for c in there}, **{c: c for c in there}}
        classes = [_class_of(c, there) for c in chosen]
        columns = [known[0] if known else called.get(c, c) for c, known in zip(chosen, classes)]
        own = [c for c in there if c not in _OWN]
        if wanted is None and sorted(map(str, own)) != sorted(map(str, first)):
            raise DataError(f"set {s + 1} has the columns {own} where set 1 has {first}: give all sets the same, in any order")
        for column in columns:
            if there.count(column) != 1:
                often = "no column" if column not in there else "more than one column"
                raise DataError(f"set {s + 1} has {often} {column_of(column, there)!r}; it has {there}")
        if not len(one) or not columns:
            raise DataError(f"set {s + 1} has shape {one.shape}: there must be an item and a feature")
        parts.append(one[list(dict.fromkeys(columns))])
        flags.append(_context_of(one, columns))
    whole = pandas.concat(parts, ignore_index=True)
    for part in parts:
        for column in part.columns:  # whole numbers beside others that are not would be rounded
            if part[column].dtype.kind in "iu" and whole[column].dtype.kind == "f":
                _double(part[column].to_numpy(), f"column {column!r}")
    sizes = np.fromiter((len(one) for one in each), np.intp, len(each))
    known = {c if one else column: one for c, column, one in zip(chosen, columns, classes)}
    used = _used(whole, list(known), np.repeat(np.arange(len(each)), sizes), "error") if wanted is None else list(known)
    made, lost = _all_features(whole, used, known, kinds)
    items = np.ascontiguousarray(np.column_stack([values for _, values, _ in made]))
    context = np.concatenate([np.zeros(n, bool) if one is None else one == 1 for one, n in zip(flags, sizes)])
    return _Flat(
        items,
        sizes,
        [str(name) for name, _, _ in made],
        context=context.astype(np.uint8) if context.any() else None,
        lost=lost,
        kinds="".join(kind for _, _, kind in made),
    )


def _unpadded(array: np.ndarray) -> _Flat:
    """An array (sets, n, features) without the rows of NaN at the end of its sets, which are padding, as in .npz."""
    count, n, width = array.shape
    if not np.isnan(array[:, -1]).all(axis=1).any():
        return _Flat(array.reshape(count * n, width), np.full(count, n))
    there = ~np.isnan(array).all(axis=2)
    if not there.any(axis=1).all():
        raise DataError(f"set {int(np.argmin(there.any(axis=1))) + 1} has no items: all of its rows are NaN, which means padding")
    sizes = n - np.argmax(there[:, ::-1], axis=1)
    return _Flat(np.ascontiguousarray(array[np.arange(n) < sizes[:, None]]), sizes, rows=n)


def _flat_items(sets: Any, wanted: Optional[Sequence[Any]] = None, kinds: Optional[str] = None) -> _Flat:
    """Sets that are not given as Sets. wanted: the names of the features, and kinds what a model has for them, for data
    frames."""
    if isinstance(sets, (str, bytes)):
        raise DataError("the sets are a text; Sets.read(path) reads a file")
    if _is_frame(sets):
        raise DataError("the sets are a data frame; Sets.from_frame says which of its rows belong together")
    if isinstance(sets, np.ndarray) and sets.dtype != object:
        if sets.ndim != 3:
            raise DataError(
                f"the sets have shape {sets.shape}, where (sets, items, features) is expected; for one set give "
                "[items] or use order(items), for items of one feature items[:, :, None]"
            )
        array = np.ascontiguousarray(_numbers(sets, "the array of sets"))
        count, n, width = array.shape
        if not count or not n or not width:
            raise DataError(f"the sets have shape {array.shape}: there must be a set, an item and a feature")
        return _unpadded(array)
    _refuse_unordered(sets, "sets")
    try:
        each = list(sets)
    except TypeError:
        raise DataError(f"the sets are of type {type(sets).__name__}, where a list of 2-D arrays is expected") from None
    if not each:
        raise DataError("there are no sets: the list is empty")
    if any(map(_is_frame, each)):
        return _flat_frames(each, wanted, kinds)
    for s, one in enumerate(each):
        if type(one) is not np.ndarray or one.dtype != np.float32:
            each[s] = one = _numbers(one, f"set {s + 1}")
        if one.ndim != 2:
            raise DataError(
                f"set {s + 1} has shape {one.shape}, where (items, features) is expected"
                + ("; items of one feature are items[:, None]" if one.ndim == 1 else "")
            )
        if not one.shape[0] or not one.shape[1]:
            raise DataError(f"set {s + 1} has shape {one.shape}: there must be an item and a feature")
        if one.shape[1] != each[0].shape[1]:
            raise DataError(
                f"set {s + 1} has items of {one.shape[1]} features where those of set 1 have {each[0].shape[1]}; "
                "give every item as many"
            )
    items = np.ascontiguousarray(each[0] if len(each) == 1 else np.concatenate(each))  # of arrays in Fortran's order one in it
    return _Flat(items, np.fromiter((len(one) for one in each), np.intp, len(each)))
