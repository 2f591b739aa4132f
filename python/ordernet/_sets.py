"""Holds sets of items and their orders in the memory layout of the C library; makes them from lists, arrays,
data frames and files.
"""

from __future__ import annotations

import ctypes
import math
import re
import warnings
from ctypes import POINTER, byref
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Iterator, List, Optional, Sequence, Union

import numpy as np

from . import _library
from ._library import DataError, SetsStruct, UnknownSetError, UsageError, WrongTypeError, call, lib

SIZE = np.dtype(np.uintp)


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
                f"{what} has {value}, a whole number that double rounds; subtract what the values have in common"
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
            f"{what} has values of type {array.dtype}, where numbers are expected: every item needs the same number "
            "of features, and text is to be turned into numbers first"
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


def _flat_frames(each: list, wanted: Optional[Sequence[Any]]) -> tuple:
    """items, sizes and names of sets that are data frames, one per set. Their columns are taken by name: by those wanted,
    or as the first has them; each other frame then has the same, in any order."""
    import pandas

    first = list(each[0].columns) if _is_frame(each[0]) else []
    chosen = first if wanted is None else _listed(wanted, "features", UsageError)
    parts = []
    for s, one in enumerate(each):
        if not _is_frame(one):
            raise DataError(f"set {s + 1} is of type {type(one).__name__}, but others are data frames: give all as frames or none")
        there = list(one.columns)
        called = {**{str(c): c for c in there}, **{c: c for c in there}}
        classes = [_class_of(c, there) for c in chosen]
        columns = [known[0] if known else called.get(c, c) for c, known in zip(chosen, classes)]
        if wanted is None and sorted(map(str, there)) != sorted(map(str, first)):
            raise DataError(f"set {s + 1} has the columns {there} where set 1 has {first}: give all sets the same, in any order")
        for column in columns:
            if there.count(column) != 1:
                often = "no column" if column not in there else "more than one column"
                raise DataError(f"set {s + 1} has {often} {column!r}; it has {there}")
        if not len(one) or not columns:
            raise DataError(f"set {s + 1} has shape {one.shape}: there must be an item and a feature")
        parts.append(one[list(dict.fromkeys(columns))])
    whole = pandas.concat(parts, ignore_index=True)
    for part in parts:
        for column in part.columns:  # whole numbers beside others that are not would be rounded
            if part[column].dtype.kind in "iu" and whole[column].dtype.kind == "f":
                _double(part[column].to_numpy(), f"column {column!r}")
    made = [one for c, column, known in zip(chosen, columns, classes) for one in _features_of(whole, c if known else column, known)]
    names = None if chosen == list(range(len(chosen))) else [str(name) for name, _ in made]
    items = np.ascontiguousarray(np.column_stack([values for _, values in made]))
    return items, np.fromiter((len(one) for one in each), np.intp, len(each)), names


def _flat_items(sets: Any, wanted: Optional[Sequence[Any]] = None) -> tuple:
    """items [total, width], sizes [count] and names, or None, of sets that are not given as Sets. wanted: the names of the
    features, for data frames."""
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
        return array.reshape(count * n, width), np.full(count, n), None
    try:
        each = list(sets)
    except TypeError:
        raise DataError(f"the sets are of type {type(sets).__name__}, where a list of 2-D arrays is expected") from None
    if not each:
        raise DataError("there are no sets: the list is empty")
    if any(map(_is_frame, each)):
        return _flat_frames(each, wanted)
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
    return items, np.fromiter((len(one) for one in each), np.intp, len(each)), None


MOST_RELATIONS = 16


def _flat_pairs(pairs: Any, sizes: Optional[np.ndarray]) -> tuple:
    """Relations, a list of arrays (n, n) or (n, n, R), as value [all pairs, R] and the sizes of the sets."""
    each = [_numbers(one, f"the pairs of set {s + 1}") for s, one in enumerate(_listed(pairs, "pairs"))]
    if not each or (sizes is not None and len(each) != len(sizes)):
        raise DataError(f"there are pairs of {len(each)} sets" + ("" if sizes is None else f", but {len(sizes)} sets"))
    each = [one[:, :, None] if one.ndim == 2 else one for one in each]
    for s, one in enumerate(each):
        n = len(one) if sizes is None and one.ndim else sizes[s] if sizes is not None else 0
        if one.ndim != 3 or one.shape[:2] != (n, n) or not n or one.shape[2] != each[0].shape[-1]:
            raise DataError(
                f"the pairs of set {s + 1} have shape {one.shape}, where ({n}, {n}, {each[0].shape[-1]}) is expected: numbers "
                "for each item and each other one, as many in every set"
            )
    counts = np.fromiter((len(one) for one in each), np.intp, len(each))
    with np.errstate(over="ignore"):
        value = np.concatenate([one.reshape(len(one) ** 2, one.shape[2]) for one in each]).astype(np.float32)
    return value, counts


class _Related:
    """Relations as the library has them: value [all pairs, R], float32, of sets of these sizes."""

    def __init__(self, value: np.ndarray, sizes: np.ndarray, names: Optional[Sequence[str]], missing: bool) -> None:
        counts = np.asarray(sizes, np.intp)
        relations = value.shape[1]
        if not 1 <= relations <= MOST_RELATIONS:
            raise DataError(f"two items have {relations} relations; from 1 to {MOST_RELATIONS} are possible")
        if len(value) != (counts**2).sum():
            raise DataError(f"there are {len(value)} pairs, where the sets have {(counts**2).sum()}: n * n each")
        value = np.array(value, np.float32, order="C")
        value[np.concatenate([np.arange(n) * (n + 1) + first for n, first in zip(counts, np.cumsum(counts**2) - counts**2)])] = 0
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


def _flat_order(orders: Any, sizes: np.ndarray) -> np.ndarray:
    """orders, a list of index arrays or a 2-D array, one behind the other as int32."""
    if isinstance(orders, np.ma.MaskedArray):
        orders = _unmasked(orders, "the array of orders")
    each = orders if isinstance(orders, np.ndarray) and orders.dtype != object else None
    if each is not None and each.ndim == 2:
        if each.shape[0] == len(sizes) and (sizes == each.shape[1]).all():
            return _indices(each, "the array of orders").reshape(-1)
    try:
        rows = [_indices(order, f"the order of set {s + 1}") for s, order in enumerate(orders)]
    except TypeError:
        raise DataError(
            f"the orders are of type {type(orders).__name__}, where a list of index arrays is expected"
        ) from None
    if len(rows) != len(sizes):
        raise DataError(f"there are {len(rows)} orders for {len(sizes)} sets; give one per set")
    for s, (row, n) in enumerate(zip(rows, sizes)):
        if row.shape != (n,):
            raise DataError(f"the order of set {s + 1} has shape {row.shape} where ({n},) is expected: one index per item")
    return np.concatenate(rows)


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


class _Owner:
    """An object of the library's, freed with the last that uses it."""

    def __init__(self, handle: Any, free: Any) -> None:
        self.handle, self._free = handle, free

    def __del__(self) -> None:
        self._free(self.handle)


def _columns(width: int, names: Optional[Sequence[str]], set: Any = None) -> Optional[_Owner]:
    """The names of features, as the library keeps them in a model; None where there are none."""
    if names is None:
        return None
    names = _listed(names, "features", UsageError)
    if len(names) != width:
        raise DataError(f"{len(names)} names for {width} features; give one each")
    handle = ctypes.c_void_p()
    text = (ctypes.c_char_p * width)(*(_library.text_bytes(name, "a name of features") for name in names))
    name_of_set = None if set is None else _library.text_bytes(set, "set")
    call("onet_columns_new", byref(handle), width, text, name_of_set, None, bad=DataError)
    return _Owner(handle, lib.onet_columns_free)


def _listed(values: Any, what: str, error: Any = DataError) -> list:
    """values as a list."""
    if isinstance(values, (str, bytes)):
        raise error(f"{what} is a text, where a list is expected")
    try:
        return list(values)
    except TypeError:
        raise error(f"{what} is of type {type(values).__name__}, where a list is expected") from None


class Sets:
    """Sets of items with, where they are known, their right orders.

    sets
        a list of arrays (items, features), each set with as many items as it has; or one array (sets, items,
        features); or a list of data frames, whose columns are taken by name. A C-contiguous float32 array of three dimensions is used as it is, without a copy. Of other numbers
        float64 is kept too, where float32 rounds them: times in seconds stay apart.
    orders
        a list of index arrays, or one array (sets, items), or None. ``orders[s][t]`` is the index, from 0, of
        the item at place t of set s: ``np.argsort(rank)``, where ``rank[i]`` is the place of item i.
    features
        names of the features, a list of str, or None: of data frames their columns. A model that is trained on the
        sets keeps them.
    missing
        what becomes of NaN: "error" refuses it, "mean" puts the mean of these sets there, "indicator" also
        adds a feature that marks them. Given for the sets to train on; the model remembers it. The masked values
        of a masked array are missing too.
    pairs
        relations between items: a list of arrays (items, items) or (items, items, relations), one per set, or None.
        ``pairs[s][i, j]`` is the relation from item i to item j, such as the travel time; the diagonal is ignored.
        sets may be None if there are only relations. For NaN elsewhere `missing` counts too, but adds no indicator.
    relations
        names of the relations, a list of str, or None. A model that is trained on the sets keeps them.

    ``len(sets)`` is the number of sets and ``sets[s]`` the items of set s, (items, features): float64 where that is kept,
    else float32.
    """

    def __init__(
        self,
        sets: Any,
        orders: Any = None,
        features: Optional[Sequence[str]] = None,
        missing: str = "error",
        pairs: Any = None,
        relations: Optional[Sequence[str]] = None,
    ) -> None:
        if sets is None and pairs is not None:
            value, sizes = _flat_pairs(pairs, None)
            items = np.zeros((int(sizes.sum()), 0), np.float32)
        else:
            items, sizes, names = _flat_items(sets, features)
            features = names or features
            value = None if pairs is None else _flat_pairs(pairs, sizes)[0]
        order = None if orders is None else _flat_order(orders, sizes)
        self._fill(items, sizes, order, features, missing=missing, pairs=value, relations=relations)

    def _fill(
        self,
        items: np.ndarray,
        sizes: np.ndarray,
        order: Optional[np.ndarray],
        features: Optional[Sequence[str]],
        set: Any = None,
        missing: str = "error",
        by: Optional[int] = None,
        pairs: Optional[np.ndarray] = None,
        relations: Optional[Sequence[str]] = None,
    ) -> None:
        """by: the columns of the model that says what becomes of missing values. pairs: value [all pairs, R]."""
        start = np.zeros(len(sizes) + 1, SIZE)
        np.cumsum(sizes, out=start[1:])
        # A copy: what was checked must stay as it is.
        order = None if order is None else np.array(order, np.int32)
        columns = _columns(items.shape[1], features, set)
        items, exact = _rounded(items, start)
        struct = SetsStruct(
            count=len(sizes),
            width=items.shape[1],
            start=_address(start),
            items=_address(items),
            exact=_address(exact),
            order=_address(order),
            columns=None if columns is None else columns.handle,
        )
        how = _library.choose("missings", missing, "missing")
        related: Any = None
        if pairs is not None:
            related = _Related(pairs, sizes, relations, bool(how))
            struct.pairs = ctypes.addressof(related.struct)
        elif relations is not None:
            raise UsageError("relations are names of pairs, and there are none")
        if (how and items.shape[1]) or by is not None:
            filled = POINTER(SetsStruct)()
            call("onet_sets_fill", byref(filled), byref(struct), by, how)
            self._own(filled)
            return
        call("onet_sets_check", byref(struct))
        self._held: Any = (columns, items, related)  # what the struct points to, beside the arrays
        self._frame: Optional[_Frame] = None
        self._struct, self._start, self._order = struct, start, order
        self._items: Optional[np.ndarray] = items
        if exact is not None:
            self._items = exact.view()
            self._items.flags.writeable = False  # the library has a rounded copy
        if order is not None:
            order.flags.writeable = False

    # ---- Other sources ----

    @classmethod
    def flat(
        cls,
        items: Any,
        sizes: Any,
        orders: Any = None,
        features: Optional[Sequence[str]] = None,
        pairs: Any = None,
        relations: Optional[Sequence[str]] = None,
    ) -> "Sets":
        """Sets of any sizes that stand in one array: items (all items, features), sizes (sets,).

        C-contiguous float32 items are used as they are. orders: one index array (all items,), each set's part
        counted within the set, or as for Sets(). pairs: n * n rows for each set, (all pairs,) or (all pairs, relations);
        items may be None then.
        """
        value = None
        if pairs is not None:
            value = _numbers(pairs, "the array of pairs")
            value = value[:, None] if value.ndim == 1 else value
            if value.ndim != 2:
                raise DataError(f"the pairs have shape {value.shape}, where (all pairs, relations) is expected")
            if items is None:
                items = np.zeros((int(_indices(sizes, "sizes").sum()), 0), np.float32)
        array = np.ascontiguousarray(_numbers(items, "the array of items"))
        if array.ndim != 2:
            raise DataError(f"the items have shape {array.shape}, where (items, features) is expected")
        counts = _indices(sizes, "sizes")
        if counts.ndim != 1 or not len(counts) or (counts < 1).any() or counts.sum(dtype=np.int64) != len(array):
            raise DataError(f"the sizes must be 1 or more each, and {len(array)} together, as there are items")
        order = None
        if orders is not None:
            whole = isinstance(orders, np.ndarray) and orders.ndim == 1 and orders.dtype != object
            order = _indices(orders, "the array of orders") if whole else _flat_order(orders, counts)
            if order.shape != (len(array),):
                raise DataError(f"the orders have shape {order.shape} where ({len(array)},) is expected")
        new = cls.__new__(cls)
        new._fill(array, counts, order, features, pairs=value, relations=relations)
        return new

    @classmethod
    def read(
        cls,
        path: Any,
        *,
        format: str = "auto",
        set: Optional[str] = None,
        rank: Optional[str] = None,
        features: Union[str, Sequence[str], None] = None,
        delimiter: Optional[str] = None,
        width: int = 0,
        missing: str = "error",
        model: Any = None,
        vectors: Any = None,
        pairs: Any = None,
        name: Optional[str] = None,
    ) -> "Sets":
        """Reads a file in any format of the program (docs/formats.md): .jsonl, .csv, .npz, .safetensors, ...

        set, rank, features
            CSV: names of its columns; as in the file's first line when None.
        delimiter
            CSV: what stands between two fields, one character; None: a tab for .tsv, else a comma.
        width
            Pointer Network text: features per item; 0 stands for 2.
        missing
            as for Sets(); an empty field, NA, null or NaN is a missing value.
        model
            the OrderNet that is to order the sets: features are taken by its names, in whatever order the file has
            them, missing values as it was trained, and words by its vocabulary.
        vectors
            words: a file of vectors in GloVe's format, for files that do not bring their own.
        pairs
            CSV: a second file with relations between the items, a row for each ordered pair: the set, from, to, and a
            column for each relation.
        name
            CSV: the column that items are called by in pairs; "": they are counted from 0 in each set; None: ``name``
            where there is one, else as "".

        A UserWarning names columns of text that look like numbers, as 48,85 or 5%: they are not features.
        """
        options = _library.ReadOptions()
        lib.onet_read_defaults(byref(options), ctypes.sizeof(options))
        options.format = 0 if format == "auto" else _library.choose("formats", format, "format")
        options.set_column = None if set is None else _library.text_bytes(set, "set")
        options.rank_column = None if rank is None else _library.text_bytes(rank, "rank")
        if features is not None:
            names = features if isinstance(features, str) else ",".join(map(str, _listed(features, "features", UsageError)))
            options.features = _library.text_bytes(names, "features")
        if delimiter is not None:
            if not isinstance(delimiter, str) or len(delimiter) != 1 or not 0 < ord(delimiter) < 128:
                raise UsageError(f"delimiter is {delimiter!r}: expected one character, such as ';'")
            options.delimiter = ord(delimiter)
        options.width = _library.whole(width, "width", 0, 65536)
        options.missing = _library.choose("missings", missing, "missing")
        if model is not None:
            engine = fitted(model)
            options.words, options.columns = engine.words, engine.columns
            options.relations = lib.onet_model_relations(engine.handle)
            options.relation_fill = lib.onet_model_relation_fill(engine.handle)
        options.pairs = None if pairs is None else _library.path_bytes(pairs)
        options.name_column = None if name is None else _library.text_bytes(name, "name")
        read, vocabulary = POINTER(SetsStruct)(), ctypes.c_void_p()
        where = _library.path_bytes(path)
        if vectors is not None:
            vectors_path = _library.path_bytes(vectors)
            call("onet_words_read", byref(vocabulary), vectors_path, path=vectors_path)
            options.words = vocabulary.value
        try:
            call("onet_sets_read", byref(read), where, byref(options), path=where)
        finally:
            lib.onet_words_free(vocabulary)
        new = cls.__new__(cls)
        new._own(read)
        for line in (lib.onet_columns_misspelt(new._struct.columns) or b"").decode("utf-8", "replace").splitlines():
            warnings.warn(line, UserWarning, stacklevel=2)
        return new

    def _own(self, handle: Any) -> None:
        """Takes over sets of the library's."""
        self._held = owner = _Owner(handle, lib.onet_sets_free)
        self._struct = s = handle.contents
        self._frame = None

        def view(address: int, shape: tuple, kind: Any) -> np.ndarray:
            size = int(np.prod(shape)) * np.dtype(kind).itemsize
            held = (ctypes.c_char * size).from_address(address)
            held._owner = owner  # type: ignore[attr-defined]  # a view keeps the memory
            array = np.frombuffer(memoryview(held), kind).reshape(shape)
            array.flags.writeable = False
            return array

        start = (ctypes.c_size_t * (s.count + 1)).from_address(s.start)
        self._start = np.array(start, SIZE)
        total = int(self._start[-1])
        kind, at = (np.float64, s.exact) if s.exact else (np.float32, s.items)
        self._items = view(at, (total, s.width), kind) if s.items and s.width else None
        if s.items and not s.width:
            self._items = np.zeros((total, 0), np.float32)
        self._order = view(s.order, (total,), np.int32) if s.order else None

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        set: Any,
        rank: Any = None,
        features: Optional[Sequence[Any]] = None,
        missing: str = "error",
        pairs: Any = None,
        name: Any = None,
    ) -> "Sets":
        """Sets from a pandas DataFrame with one row per item.

        set
            the column whose equal values say which rows belong together; sets stand in the order in which they
            are met.
        rank
            the column with the right order: numbers or times that are distinct within a set; text that holds a
            number counts as that number. None where it is not known. It cannot be a feature too.
        features
            the columns that are given to the net; None: every other column. Columns of text or categories become a
            feature for each of their values, the 32 most frequent ones, called ``column=value``; times become seconds
            since the beginning of 1970.
        missing
            as for Sets().
        pairs
            a second DataFrame with relations between the items, one row per ordered pair: the column `set`, the columns
            ``from`` and ``to`` that say which items, and a column for each relation. Pairs without a row are missing.
        name
            the column that items are called by in pairs, not a feature; None: they are counted from 0 in each set.

        A model that is trained on the sets keeps the names of the columns, in its file too.
        """
        return cls._of_frame(frame, set, rank, features, missing, pairs=pairs, name=name)

    @classmethod
    def _of_frame(
        cls,
        frame: Any,
        set: Any,
        rank: Any,
        features: Optional[Sequence[Any]],
        missing: str,
        by: Optional[int] = None,
        pairs: Any = None,
        name: Any = None,
    ) -> "Sets":
        need_frame(frame)
        if set is None:
            raise UsageError("set is None: name the column whose equal values say which rows belong together")
        there = list(frame.columns)
        others = [c for c in there if c not in (set, rank) and (name is None or c != name)]
        chosen = others if features is None else _listed(features, "features", UsageError)
        classes = {c: _class_of(c, there) for c in chosen}  # COLUMN=VALUE, as a model names it
        for column, what in (
            (set, "set"),
            (rank, "rank"),
            (name, "name"),
            *((c, "features") for c in chosen if classes[c] is None),
        ):
            if column is not None or what == "features":
                if there.count(column) != 1:
                    often = "has no column" if column not in there else "has more than one column"
                    raise DataError(f"the frame {often} {column!r} (given as {what}); it has {there}")
        for column, what in ((rank, "the rank, which is what is learned"), (set, "the set")):
            if column is not None and column in chosen:
                raise DataError(f"column {column!r} is {what}: leave it out of features")
        if features is None and rank is None and "rank" in chosen:
            raise DataError(
                "the frame has a column 'rank', which is the right order as a rule: give rank='rank', or say with features "
                "which columns are given to the net"
            )
        if not len(frame):
            raise DataError("there are no sets: the frame has no rows")
        if not chosen and pairs is None:
            raise DataError("there are no features: the frame has no column beside those of set and rank")
        place = _Frame(frame, set, chosen)
        made = [one for c in chosen for one in _features_of(frame, c, classes[c])]
        items = np.column_stack([values for _, values in made] or [np.zeros((len(frame), 0), np.float32)])[place.rows]
        value, relations = (None, None) if pairs is None else place.pairs(frame, pairs, name)
        order = None if rank is None else place.order(frame[rank].to_numpy(), rank)
        new = cls.__new__(cls)
        try:
            new._fill(
                np.ascontiguousarray(items),
                place.sizes,
                order,
                [one for one, _ in made] or None,
                set,
                missing,
                by,
                value,
                relations,
            )
        except DataError as error:
            raise DataError(f"{error} (sets are counted in the order in which they are met)") from None
        new._frame = place
        return new

    # ---- Looking at them ----

    def __len__(self) -> int:
        return len(self._start) - 1

    def __getitem__(self, s: int) -> np.ndarray:
        count = len(self)
        if isinstance(s, bool) or not isinstance(s, (int, np.integer)):
            raise WrongTypeError(f"sets[{s!r}]: expected the number of a set")
        if not -count <= s < count:
            raise UnknownSetError(f"there is no set {s}: there are {count}")
        s += count if s < 0 else 0
        return self._array()[int(self._start[s]) : int(self._start[s + 1])]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[s] for s in range(len(self)))

    def __repr__(self) -> str:
        kind = f"{self.width} feature{'s' if self.width != 1 else ''}" if self._items is not None else "words"
        pairs = self._pairs_struct()
        if pairs is not None:
            kind += f", {pairs.width} relation{'s' if pairs.width != 1 else ''}"
        return f"<Sets: {len(self)} of {int(self.sizes.min())} to {int(self.sizes.max())} items, {kind}" + (
            ", with orders>" if self._order is not None else ">"
        )

    def _pairs_struct(self) -> Any:
        return _library.PairsStruct.from_address(self._struct.pairs) if self._struct.pairs else None

    def _pair_values(self) -> np.ndarray:
        """All relations, [all pairs, R]."""
        pairs = self._pairs_struct()
        count = int((self.sizes**2).sum())
        held = (ctypes.c_float * (count * pairs.width)).from_address(pairs.value)
        held._owner = self._held  # type: ignore[attr-defined]  # a view keeps the memory
        array = np.frombuffer(memoryview(held), np.float32).reshape(count, pairs.width)
        array.flags.writeable = False
        return array

    @property
    def pairs(self) -> Optional[List[np.ndarray]]:
        """The relations between items, an array (items, items, relations) per set; None when there are none."""
        if not self._struct.pairs:
            return None
        values, end = self._pair_values(), np.cumsum(self.sizes**2)
        return [values[e - n * n : e].reshape(n, n, -1) for e, n in zip(end.tolist(), self.sizes.tolist())]

    @property
    def relations(self) -> Optional[List[str]]:
        """Names of the relations; None when they are not known."""
        pairs = self._pairs_struct()
        return None if pairs is None or pairs.names is None else pairs.names.decode().split("\n")

    def _array(self) -> np.ndarray:
        if self._items is None:
            raise DataError("the items of these sets are words, which are not arrays of features")
        return self._items

    @property
    def width(self) -> int:
        """Features per item."""
        return int(self._struct.width)

    @property
    def features(self) -> Optional[List[str]]:
        """Names of the features; None when they are not known."""
        return names_of(self._struct.columns)

    @property
    def sizes(self) -> np.ndarray:
        """Items of each set, (sets,)."""
        return np.diff(self._start.astype(np.int64))

    @property
    def orders(self) -> Optional[List[np.ndarray]]:
        """The right orders, a list of index arrays; None when they are not known."""
        return None if self._order is None else self._parts(self._order)

    def _parts(self, flat: np.ndarray) -> List[np.ndarray]:
        start = self._start.tolist()
        return [flat[start[s] : start[s + 1]] for s in range(len(self))]

    def with_orders(self, orders: Any) -> "Sets":
        """The same items, not copied, with these orders."""
        new = Sets.__new__(Sets)
        new._held = self._held
        new._items, new._start, new._frame = self._items, self._start, self._frame
        new._order = np.array(_flat_order(orders, self.sizes), np.int32)
        new._order.flags.writeable = False
        new._struct = SetsStruct()
        ctypes.pointer(new._struct)[0] = self._struct
        new._struct.order = _address(new._order)
        new._struct.hash = b""
        call("onet_sets_check", byref(new._struct))
        return new

    def _hold_out(self, wanted: Any, groups: Any, seed: int) -> tuple:
        """The sets that are left, those to measure with, as the command divides them, and the groups of the former."""
        count, names, listed = len(self), None, None
        if groups is not None:
            listed = self._groups(groups)
            names = (ctypes.c_char_p * count)(*listed)
        take = np.zeros(count, np.uint8)
        number = _holdout_count(wanted, count)
        call("onet_sets_hold_out", _address(take), byref(self._struct), names, number, seed)
        left = None if listed is None else [group for group, taken in zip(listed, take) if not taken]
        return self._pick(take == 0), self._pick(take != 0), left

    def _groups(self, groups: Any) -> list:
        """A text, or None, per set."""
        listed = _listed(groups, "groups", UsageError)
        if len(listed) != len(self):
            raise UsageError(f"there are {len(listed)} groups for {len(self)} sets; give one per set")
        return [None if one is None else _library.text_bytes(one, "a group") for one in listed]

    def _pick(self, take: np.ndarray) -> "Sets":
        picked, which = POINTER(SetsStruct)(), np.ascontiguousarray(take, np.uint8)
        call("onet_sets_pick", byref(picked), byref(self._struct), _address(which))
        new = Sets.__new__(Sets)
        new._own(picked)
        return new

    def write(self, path: Any) -> None:
        """Writes a file; its name says the format, as .jsonl, .csv, .npz or .safetensors, and .gz behind it."""
        call("onet_sets_write", byref(self._struct), _library.path_bytes(path), 0)

    def __reduce__(self) -> Any:
        s = self._struct
        if (
            self._items is None
            or s.context
            or s.constraint_count
            or (s.columns and lib.onet_columns_missing(s.columns))
        ):
            raise WrongTypeError(
                "sets of words, with context items, constraints or missing values cannot be pickled; write a file"
            )
        return _again, (
            np.array(self._array()),
            self.sizes,
            None if self._order is None else np.array(self._order),
            self.features,
            np.array(self._pair_values()) if s.pairs else None,
            self.relations,
        )


def _again(
    items: np.ndarray,
    sizes: np.ndarray,
    order: Optional[np.ndarray],
    features: Optional[List[str]],
    pairs: Optional[np.ndarray] = None,
    relations: Optional[List[str]] = None,
) -> Sets:
    return Sets.flat(items, sizes, order, features, pairs, relations)


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


def _texts(values: Any) -> np.ndarray:
    """The values of a column as text; None where one is missing."""
    missing = values.isna().to_numpy()
    return np.array([None if gone else str(v) for v, gone in zip(values.to_numpy(dtype=object), missing)], dtype=object)


def _text_values(texts: np.ndarray) -> Optional[np.ndarray]:
    """Texts that all are truth values or ISO dates as numbers, as in CSV; None where one is something else."""
    found, value = np.full(len(texts), np.nan), ctypes.c_double()
    for i, text in enumerate(texts):
        if text is not None:
            if "\0" in text or not lib.onet_text_value(text.encode(), byref(value)):
                return None
            found[i] = value.value
    return found if len(found) and not np.isnan(found).all() else None


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


def _features_of(frame: Any, column: Any, known: Optional[tuple]) -> List[tuple]:
    """The features that a column of a frame gives: names and float64 arrays. known: of a value that a model knows."""
    if known is not None:
        return [(column, (_texts(frame[known[0]]) == known[1]).astype(np.float64))]
    values = frame[column]
    kind = getattr(values.dtype, "kind", "O")
    if kind in "fiub":
        _double(values.dropna().to_numpy(), f"column {column!r}")
        return [(str(column), values.to_numpy(dtype=np.float64, na_value=np.nan))]
    if kind == "M":
        plain = values.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(values.dt, "tz", None) is not None else values
        times = plain.to_numpy(dtype="datetime64[ns]")
        seconds = times.astype(np.int64) / 1e9
        return [(str(column), np.where(np.isnat(times), np.nan, seconds))]
    if kind not in "OUS":
        raise DataError(f"column {column!r} has values of type {values.dtype}, which cannot be a feature; leave it out")
    numbers = _numbers_of(values, column)
    if numbers is not None:
        return [(str(column), numbers)]
    texts = _texts(values)
    numbers = None if hasattr(values, "cat") else _text_values(texts)
    if numbers is not None:
        return [(str(column), numbers)]
    there, times = np.unique(np.array([t for t in texts if t is not None], dtype=object), return_counts=True)
    if not len(there):
        raise DataError(f"column {column!r} has no values; leave it out")
    if len(there) > MOST_CLASSES and 2 * len(there) > len(texts):
        raise DataError(
            f"column {column!r} has {len(there)} different texts in {len(texts)} rows, too many for a category; leave it out "
            "of features"
        )
    most = sorted(there[np.argsort(-times, kind="stable")[:MOST_CLASSES]])
    return [(f"{column}={value}", (texts == value).astype(np.float64)) for value in most]


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
        self.rows = np.argsort(code, kind="stable")
        self.sizes = np.bincount(code)
        self.names = list(dict.fromkeys(values.tolist()))  # of the sets, in their order

    def pairs(self, frame: Any, pairs: Any, name: Any) -> tuple:
        """Relations from a frame of pairs: value [all pairs, R], NaN where there is no row, and their names."""
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
        value = np.full((int(first[-1]), len(chosen)), np.nan, np.float32)
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
        return value, [str(c) for c in chosen]

    def order(self, ranks: np.ndarray, column: Any) -> np.ndarray:
        """Each set's rows by rank, as indices within the set; one behind the other."""
        start = np.concatenate([[0], np.cumsum(self.sizes)])
        flat = np.empty(len(self.rows), np.int32)
        numbers, unknown = _sortable(ranks[self.rows])
        for s in range(len(self.sizes)):
            part = numbers[start[s] : start[s + 1]]
            if unknown[start[s] : start[s + 1]].any():
                raise DataError(
                    f"column {column!r}: a row of set {s + 1} (row {int(self.rows[start[s]])} of the frame and others) has no "
                    "number as its rank"
                )
            by = np.argsort(part, kind="stable")
            same = np.flatnonzero(part[by][1:] == part[by][:-1])
            if len(same):
                a, b = (int(self.rows[start[s] + by[same[0] + k]]) for k in (0, 1))
                raise DataError(
                    f"column {column!r}: rows {a} and {b} of the frame have the same rank in one set; give each its own"
                )
            flat[start[s] : start[s + 1]] = by
        return flat


def _holdout_count(wanted: Any, count: int) -> int:
    """How many of the sets "10%", 0.1 or 50 are; at least one, and one must be left."""
    number, share = wanted, False
    if isinstance(wanted, str):
        share = wanted.endswith("%")
        try:
            number = float(wanted[:-1] if share else wanted) / (100 if share else 1)
        except ValueError:
            number = math.nan
    elif isinstance(wanted, float):
        share = True
    good = isinstance(number, (int, float, np.integer)) and not isinstance(number, bool)
    if not good or not number > 0 or (share and number >= 1) or (not share and number != int(number)):
        raise UsageError(f"holdout is {wanted!r}: expected a number of sets, or a share of them as '10%' or 0.1")
    found = max(1, math.floor(number * count + 0.5)) if share else int(number)
    if found >= count:
        raise UsageError(f"holdout {wanted!r} leaves no set to learn from: there are {count}")
    return found


def names_of(columns: Optional[int]) -> Optional[List[str]]:
    """The names that columns of the library's have."""
    if not columns or lib.onet_columns_name(columns, 0) is None:
        return None
    return [lib.onet_columns_name(columns, j).decode() for j in range(lib.onet_columns_inputs(columns))]


def own_names_of(columns: Optional[int]) -> Optional[List[str]]:
    """Without the features that tell of missing values: as the data has them."""
    names = names_of(columns)
    return None if names is None else names[: lib.onet_columns_width(columns)]


def fitted(model: Any) -> Any:
    """The Engine of an OrderNet that a user gave."""
    if not hasattr(model, "_fitted"):
        raise WrongTypeError(f"model is of type {type(model).__name__}, where an OrderNet is expected")
    return model._fitted()


def need_frame(frame: Any) -> None:
    if not _is_frame(frame):
        raise WrongTypeError(f"the frame is of type {type(frame).__name__}, where a pandas DataFrame is expected")


def as_sets(
    sets: Any,
    orders: Any = None,
    words: Any = None,
    by: Optional[int] = None,
    missing: str = "error",
    names: Optional[Sequence[str]] = None,
) -> Sets:
    """What a user gave as sets. words: the Engine that has the vocabulary of sets of words. by: columns of a model
    that says what becomes of missing values; without, `missing` does. names: the model's features, by which the columns
    of data frames are taken."""
    if isinstance(sets, (str, Path)):
        raise DataError("the sets are a text or path; Sets.read(path) reads a file")
    if words is not None and not isinstance(sets, Sets):
        sets = words.word_sets(sets)
    if isinstance(sets, Sets):
        return sets if orders is None else sets.with_orders(orders)
    items, sizes, names = _flat_items(sets, names)
    new = Sets.__new__(Sets)
    new._fill(items, sizes, None if orders is None else _flat_order(orders, sizes), names, missing=missing, by=by)
    return new
