"""Checks what a user gives as numbers, orders, context flags and relations, and turns it into flat NumPy arrays for
the C library. Also holds hashes of values that the features do not tell (class _Lost)."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any, Optional, Sequence

import numpy as np

from . import _library
from ._library import DataError, UsageError

SIZE = np.dtype(np.uintp)
MOST_RELATIONS = 16


def _array_of(values: Any) -> np.ndarray:
    """values as an array, masked if they are; an empty array of objects if they form no array."""
    try:
        if isinstance(values, (list, tuple)) and any(isinstance(v, np.ma.MaskedArray) for v in values):
            return np.ma.array(values)  # NumPy itself would drop the masks
        return np.asanyarray(values)
    except (ValueError, TypeError, OverflowError, np.ma.MaskError):  # rows of different lengths, as a rule
        return np.asarray([], dtype=object)


def _unmasked(values: Any, what: str) -> np.ndarray:
    """values as an array in which none is masked: for what must not be missing."""
    array = _array_of(values)
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.is_masked(array):
            raise DataError(f"{what} has masked values: none may be missing there")
        array = array.data
    return np.asarray(array)


def _double(array: np.ndarray, what: str, given: Any = None) -> np.ndarray:
    """Numbers as float64. Whole numbers that it rounds are refused, as in files: others near them would become equal.
    given: the list that NumPy made an array of floats from, with its whole numbers."""
    numbers = array.astype(np.float64, copy=False)
    wide = array.dtype.kind == "f" and array.dtype.itemsize > 8  # long double, which holds more whole numbers
    if array.dtype.kind == "f" and given is None and not wide:
        return numbers
    far = np.isfinite(numbers) & (np.abs(numbers) >= 2**53)
    if not far.any():
        return numbers
    whole = array if given is None or wide else np.asarray(given, dtype=object)
    values = [int(x) if x == np.floor(x) else x for x in whole[far]] if wide else whole[far].tolist()
    for value, near in zip(values, np.abs(numbers[far]).tolist()):
        value = int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value
        digits = str(abs(value)).rstrip("0")
        if isinstance(value, (int, np.integer)) and f"{near:.{len(digits) - 1}e}".split("e")[0].replace(".", "") != digits:
            raise DataError(
                f"{what} has {value}, a whole number that double cannot hold exactly; subtract a common offset from "
                "all values"
            )
    return numbers


def _numbers(values: Any, what: str) -> np.ndarray:
    """values as an array of float32, as it is where it is one, else of float64. What is masked is missing, and
    becomes NaN."""
    array, masked = _array_of(values), None
    if isinstance(array, np.ma.MaskedArray) and array.dtype.kind in "fiub":
        masked = np.ma.getmaskarray(array)
        array = array.data.copy() if array.dtype.kind == "f" else _double(np.where(masked, 0, array.data), what)
        array[masked] = np.nan
    array = np.asarray(array)
    if array.dtype == np.float32:
        return array
    if array.dtype.kind not in "fiub":
        raise DataError(
            f"{what} has values of type {array.dtype}, where numbers are expected: all rows must have the same number of "
            "them, and text is to be turned into numbers first"
        )
    return _double(array, what, values if isinstance(values, (list, tuple)) and masked is None else None)


def _rounded(array: np.ndarray, start: Optional[np.ndarray] = None) -> tuple:
    """An array of numbers as float32, and in float64 where that rounds one of them, else None. start: of the sets in it."""
    if array.dtype == np.float32:
        return array, None
    with np.errstate(over="ignore"):
        items = array.astype(np.float32, order="C")
    far = np.isinf(items) & np.isfinite(array)
    if far.any():
        first, which = np.argwhere(far)[0].tolist(), ""
        if start is not None:
            s = int(np.searchsorted(start, first[0], side="right"))
            first[0], which = first[0] - int(start[s - 1]), f"set {s}: "
        raise DataError(
            f"{which}items{''.join(f'[{i}]' for i in first)} is {float(array[far][0]):g}, which is not a finite float32: "
            "features are at most 3.4e38 in size; divide them"
        )
    same = bool(np.all((items == array) | np.isnan(array)))
    return items, None if same else np.ascontiguousarray(array)


def _address(array: Optional[np.ndarray]) -> Any:
    return None if array is None else array.__array_interface__["data"][0]


def _is_frame(one: Any) -> bool:
    return hasattr(one, "columns") and hasattr(one, "iloc")


def _without_none(rows: Any) -> Any:
    """Rows of relations as lists, in which anything may stand from an item to itself, as in JSON: None makes NumPy an
    array of objects."""
    if isinstance(rows, np.ndarray) and rows.dtype == object and rows.ndim in (2, 3):
        rows = rows.tolist()
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in rows):
        return rows
    others = (cell for i, row in enumerate(rows) for j, cell in enumerate(row) if i != j)
    blank = np.zeros(np.shape(next(others, rows[0][0] if rows and rows[0] else 0))).tolist()
    return [[blank if i == j else cell for j, cell in enumerate(row)] for i, row in enumerate(rows)]


def _flat_pairs(pairs: Any, sizes: Optional[np.ndarray], rows: int = 0) -> tuple:
    """Relations, a list of arrays (n, n) or (n, n, R), as value [all pairs, R] and the sizes of the sets. rows: of each
    set in an array with padding, which pairs may have too."""
    each = [_numbers(_without_none(one), f"the array of the pairs of set {s + 1}") for s, one in enumerate(_listed(pairs, "pairs"))]
    if not each or (sizes is not None and len(each) != len(sizes)):
        raise DataError(f"there are pairs of {len(each)} sets" + ("" if sizes is None else f", but {len(sizes)} sets"))
    shapes, wanted = [one.shape for one in each], each[0].shape[2:]
    each = [one[:, :, None] if one.ndim == 2 else one for one in each]
    if sizes is not None and rows:
        each = [one[:n, :n] if one.shape[:2] == (rows, rows) else one for one, n in zip(each, sizes)]
    for s, one in enumerate(each):
        n = int(len(one) if sizes is None and one.ndim else sizes[s] if sizes is not None else 0)
        if one.ndim == 3 and one.shape[:2] == (0, 0) and sizes is None:
            raise DataError(f"set {s + 1} has no items; leave it out")
        if one.ndim != 3 or one.shape[:2] != (n, n) or not n or one.shape[2] != each[0].shape[-1]:
            raise DataError(
                f"the pairs of set {s + 1} have shape {shapes[s]}, where {(n, n, *wanted)} is expected: numbers for each item "
                "and each other one, as many in every set"
            )
    counts = np.fromiter((len(one) for one in each), np.intp, len(each))
    return np.concatenate([one.reshape(len(one) ** 2, one.shape[2]) for one in each]), counts


def _relations(value: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Relations [all pairs, R] as float32, 0 on the diagonal. Whole numbers that it rounds are refused, as in files."""
    first = np.cumsum(counts**2) - counts**2
    with np.errstate(over="ignore"):
        near = np.array(value, np.float32, order="C")
    near[np.concatenate([np.arange(n) * (n + 1) + f for n, f in zip(counts, first)])] = 0
    if value.dtype == np.float32:
        return near
    far = (near != value) & (near != 0) & (value == np.floor(value)) & (np.abs(value) <= 2**53)
    if far.any():
        pair, relation = np.argwhere(far)[0].tolist()
        s = int(np.searchsorted(first, pair, side="right")) - 1
        i, j = divmod(pair - int(first[s]), int(counts[s]))
        raise DataError(
            f"set {s + 1}: pairs[{i}, {j}] is {value[pair, relation]:.0f}, a whole number that float32 rounds; relations are "
            "kept with 7 digits: divide all of them by a common factor or subtract an offset"
        )
    return near


def lost_hash(value: str) -> int:
    """The hash of a value that the features do not tell; 0 and 1 stand for nothing and for a missing value."""
    found = int.from_bytes(hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return found if found > 1 else found + 2


class _Lost:
    """onet_lost in memory of Python's: columns of (first feature, features, hash per item)."""

    def __init__(self, columns: list) -> None:
        self.columns = columns
        self.feature = np.array([feature for feature, _, _ in columns], np.int32)
        self.span = np.array([span for _, span, _ in columns], np.int32)
        self.hash = np.ascontiguousarray(np.column_stack([found for _, _, found in columns]), np.uint64)
        self.struct = _library.LostStruct(
            width=len(columns), feature=_address(self.feature), span=_address(self.span), hash=_address(self.hash)
        )


class _Related:
    """Relations as the library has them: value [all pairs, R], of sets of these sizes, as float32."""

    def __init__(self, value: np.ndarray, sizes: np.ndarray, names: Optional[Sequence[str]], missing: bool) -> None:
        counts = np.asarray(sizes, np.intp)
        relations = value.shape[1]
        if not 1 <= relations <= MOST_RELATIONS:
            raise DataError(f"two items have {relations} relations; from 1 to {MOST_RELATIONS} are possible")
        if len(value) != (counts**2).sum():
            raise DataError(f"there are {len(value)} pairs, where the sets have {(counts**2).sum()}: n * n each")
        value = _relations(value, counts)
        fill = None
        if missing:
            known = np.where(np.isnan(value), 0, value).sum(axis=0, dtype=np.float64)
            pairs = (~np.isnan(value)).sum(axis=0) - counts.sum()  # the diagonal is 0
            fill = (known / np.maximum(pairs, 1)).astype(np.float32)
            value = np.where(np.isnan(value), fill, value)
        first = np.cumsum(counts**2) - counts**2
        row = np.concatenate([f + np.arange(n) * n for f, n in zip(first, counts)]).astype(SIZE)
        text = None
        if names is not None:
            names = _listed(names, "relations", UsageError)
            if len(names) != relations:
                raise DataError(f"{len(names)} names for {relations} relations; give one each")
            if any("\n" in str(name) for name in names):
                raise DataError("a name of relations has two lines")
            text = b"\n".join(_library.text_bytes(name, "a name of relations") for name in names)
        self.value, self.row, self.fill = value, row, fill
        self.struct = _library.PairsStruct(
            width=relations, row=_address(row), value=_address(value), names=text, fill=_address(fill)
        )


def _flat_order(orders: Any, sizes: np.ndarray, rows: int = 0, context: Optional[np.ndarray] = None) -> np.ndarray:
    """orders, a list of index arrays or a 2-D array, one behind the other as int32. rows: of each set in an array with
    padding, which orders may have too, as in .npz. context: flags [all items]; orders then list the placed items, and the
    library wants the others behind them."""
    if isinstance(orders, np.ma.MaskedArray):
        orders = _unmasked(orders, "the array of orders")
    _refuse_unordered(orders, "orders")
    each = orders if isinstance(orders, np.ndarray) and orders.dtype != object else None
    if each is not None and each.ndim == 2:
        if each.shape[0] == len(sizes) and (sizes == each.shape[1]).all():
            return _indices(each, "the array of orders").reshape(-1)
    try:
        found = [_indices(order, f"the order of set {s + 1}") for s, order in enumerate(orders)]
    except TypeError:
        raise DataError(
            f"the orders are of type {type(orders).__name__}, where a list of index arrays is expected"
        ) from None
    if len(found) != len(sizes):
        raise DataError(f"there are {len(found)} orders for {len(sizes)} sets; give one per set")
    end = np.cumsum(sizes)
    for s, (order, n) in enumerate(zip(found, sizes)):
        if rows > n and order.shape == (rows,):
            padding = order[(order >= n) & (order < rows)]
            if len(padding):
                raise DataError(
                    f"the order of set {s + 1} names item {int(padding[0])}, a row that is all NaN, which means padding; if it "
                    "is an item, give a list of arrays, one per set; if it is padding, write -1 in the order"
                )
            order = order[:n]
        seen = np.zeros(0, np.intp) if context is None else np.flatnonzero(context[end[s] - n : end[s]])
        if len(seen) and order.shape == (n - len(seen),):
            order = np.concatenate([order, seen.astype(np.int32)])
        if order.shape != (n,):
            placed = "" if not len(seen) else f", or ({n - len(seen)},) for those that are placed"
            raise DataError(
                f"the order of set {s + 1} has shape {order.shape} where ({n},) is expected{placed}: one index per item"
            )
        found[s] = order
    return np.concatenate(found)


def _flags(values: Any, what: str) -> np.ndarray:
    """Flags of context items as uint8, from truth values or 0 and 1."""
    array = _unmasked(values, what)
    if array.dtype.kind not in "biuf" or not ((array == 0) | (array == 1)).all():
        raise DataError(f"{what} has values that are neither 0 nor 1: a flag per item says if it is seen but not placed")
    return array.astype(np.uint8)


def _flat_context(context: Any, sizes: np.ndarray, rows: int = 0) -> Optional[np.ndarray]:
    """Flags of context items, a list of arrays (items,), None for a set without, or a 2-D array: [all items]; None where
    there are no such items."""
    each = _listed(context, "context")
    if len(each) != len(sizes):
        raise DataError(f"there is context of {len(each)} sets, but {len(sizes)} sets; give flags for each, or None")
    flags = []
    for s, (one, n) in enumerate(zip(each, sizes)):
        one = np.zeros(n, np.uint8) if one is None else one
        padded = rows and hasattr(one, "__len__") and len(one) == rows
        own = _flags(one[:n] if padded else one, f"the context of set {s + 1}")
        if own.shape != (n,):
            raise DataError(f"the context of set {s + 1} has shape {own.shape} where ({n},) is expected: one flag per item")
        flags.append(own)
    flat = np.concatenate(flags)
    return flat if flat.any() else None


def _indices(values: Any, what: str) -> np.ndarray:
    array = _unmasked(values, what)
    if array.dtype == np.int32:
        return array
    whole = array.dtype.kind in "iu" or (array.dtype.kind == "f" and bool(np.all(array == np.floor(array))))
    if not whole:
        raise DataError(f"{what} has values of type {array.dtype}, where indices of items are expected, from 0")
    far = (array < -1) | (array > np.iinfo(np.int32).max)
    # An index beyond int32 becomes -1: the library names the first index that is out of range.
    return np.where(far, -1, array).astype(np.int32)


def _refuse_unordered(values: Any, what: str, error: Any = DataError) -> None:
    """Refuses a dict, which would be taken for its keys, and a set, which has no order."""
    if isinstance(values, (dict, set, frozenset)):
        raise error(f"{what} is a {type(values).__name__}, where a list is expected; list(d.values()) makes one of a dict d")


def _listed(values: Any, what: str, error: Any = DataError) -> list:
    """Returns values as a list; refuses text, dicts and sets."""
    if isinstance(values, (str, bytes)):
        raise error(f"{what} is a text, where a list is expected")
    _refuse_unordered(values, what, error)
    try:
        return list(values)
    except TypeError:
        raise error(f"{what} is of type {type(values).__name__}, where a list is expected") from None
