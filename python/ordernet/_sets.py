"""Defines class Sets: sets of items and their orders in the memory layout of the C library, made from lists, arrays, data
frames or files, selected from, and written to files. as_sets makes one of what fit and predict are given.
"""

from __future__ import annotations

import ctypes
import math
import warnings
from ctypes import POINTER, byref
from pathlib import Path
from typing import Any, Iterator, List, Optional, Sequence, Union

import numpy as np

from . import _library
from ._arrays import (
    SIZE,
    _Lost,
    _Related,
    _address,
    _flags,
    _flat_context,
    _flat_order,
    _flat_pairs,
    _indices,
    _listed,
    _numbers,
    _rounded,
)
from ._frames import _OWN, _Flat, _Frame, _all_features, _class_of, _context_of, _flat_items, _used, column_of, need_frame, need_values
from ._library import DataError, SetsStruct, UnknownSetError, UsageError, WrongTypeError, call, lib


class _Owner:
    """Owns an object of the library and frees it once no Python object refers to it."""

    def __init__(self, handle: Any, free: Any) -> None:
        self.handle, self._free = handle, free

    def __del__(self) -> None:
        self._free(self.handle)


def _columns(width: int, names: Optional[Sequence[str]], set: Any = None, kinds: Optional[str] = None) -> Optional[_Owner]:
    """The names of features, as the library keeps them in a model; None where there are none. kinds: a letter for each."""
    if names is None:
        return None
    names = _listed(names, "features", UsageError)
    if len(names) != width:
        raise DataError(f"{len(names)} names for {width} features; give one each")
    handle = ctypes.c_void_p()
    text = (ctypes.c_char_p * width)(*(_library.text_bytes(name, "a name of features") for name in names))
    name_of_set = None if set is None else _library.text_bytes(set, "set")
    call("onet_columns_new", byref(handle), width, text, name_of_set, None, bad=DataError)
    owner = _Owner(handle, lib.onet_columns_free)
    if kinds is not None:
        call("onet_columns_set_kinds", handle, kinds.encode())
    return owner


class Sets:
    """Sets of items with, where they are known, their right orders.

    sets
        a list of arrays (items, features), each set with as many items as it has; or one array (sets, items,
        features), in which rows of NaN at the end of a set are padding, no items; or a list of data frames, whose columns
        are taken by name. A C-contiguous float32 array of three dimensions without padding is used as it is, without a
        copy. Of other numbers float64 is kept too, where float32 rounds them: times in seconds stay apart.
    orders
        a list of index arrays, or one array (sets, items), or None. ``orders[s][t]`` is the index, from 0, of
        the item at place t of set s: ``np.argsort(rank)``, where ``rank[i]`` is the place of item i. Context items have
        no place.
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
    context
        which items are seen by the net but not placed, such as the separators on a page: a list of arrays (items,) of
        truth values, or of 0 and 1, one per set (None: none of its items); or one array (sets, items); or None. Of data
        frames the column ``context`` says it.

    ``len(sets)`` is the number of sets and ``sets[s]`` the items of set s, (items, features): float64 where that is kept,
    else float32. ``sets[2:5]``, ``sets[[4, 1]]`` and ``sets[mask]`` are Sets again, with all that belongs to these sets, so
    that scikit-learn can divide them.
    """

    def __init__(
        self,
        sets: Any,
        orders: Any = None,
        features: Optional[Sequence[str]] = None,
        missing: str = "error",
        pairs: Any = None,
        relations: Optional[Sequence[str]] = None,
        context: Any = None,
    ) -> None:
        if isinstance(sets, Sets):
            raise UsageError("the sets are a Sets already; with_orders gives them other orders")
        if sets is None and pairs is not None:
            value, sizes = _flat_pairs(pairs, None)
            given = _Flat(np.zeros((int(sizes.sum()), 0), np.float32), sizes)
        else:
            given = _flat_items(sets, features)
            value = None if pairs is None else _flat_pairs(pairs, given.sizes, given.rows)[0]
        flags = given.context
        if context is not None:
            if flags is not None:
                raise UsageError("the frames have a column 'context' already: leave out context, or the column")
            flags = _flat_context(context, given.sizes, given.rows)
        order = None if orders is None else _flat_order(orders, given.sizes, given.rows, flags)
        self._fill(
            given.items,
            given.sizes,
            order,
            given.names or features,
            missing=missing,
            pairs=value,
            relations=relations,
            context=flags,
            lost=given.lost,
            kinds=given.kinds,
        )

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
        context: Optional[np.ndarray] = None,
        lost: Sequence[tuple] = (),
        kinds: Optional[str] = None,
    ) -> None:
        """by: the columns of the model that says what becomes of missing values. pairs: value [all pairs, R]. context:
        flags [all items], of which the caller keeps no other reference. lost: columns of _Lost. kinds: a letter
        for each feature, as onet_columns_set_kinds takes them."""
        start = np.zeros(len(sizes) + 1, SIZE)
        np.cumsum(sizes, out=start[1:])
        # A copy: what was checked must stay as it is.
        order = None if order is None else np.array(order, np.int32)
        columns = _columns(items.shape[1], features, set, kinds)
        items, exact = _rounded(items, start)
        struct = SetsStruct(
            count=len(sizes),
            width=items.shape[1],
            start=_address(start),
            items=_address(items),
            exact=_address(exact),
            order=_address(order),
            context=_address(context),
            columns=None if columns is None else columns.handle,
        )
        untold = _Lost(list(lost)) if lost else None
        if untold is not None:
            struct.lost = ctypes.addressof(untold.struct)
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
        self._held: Any = (columns, items, related, untold)  # what the struct points to, beside the arrays
        self._frame: Optional[_Frame] = None
        self._struct, self._start, self._order, self._context = struct, start, order, context
        self._items: Optional[np.ndarray] = items
        if exact is not None:
            self._items = exact.view()
            self._items.flags.writeable = False  # the library has a rounded copy
        for array in (order, context):
            if array is not None:
                array.flags.writeable = False

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
        context: Any = None,
    ) -> "Sets":
        """Makes Sets of any sizes from one array: items (all items, features), sizes (sets,).

        C-contiguous float32 items are used as they are. orders: one index array (all items,), each set's part
        counted within the set, its context items last, smallest index first, or as for Sets(). pairs: n * n rows for each
        set, (all pairs,) or (all pairs, relations); items may be None then. context: flags (all items,), or as for Sets().
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
        flags = None
        if context is not None:
            one = isinstance(context, np.ndarray) and context.ndim == 1 and context.dtype != object
            if one and len(context) != len(array):
                raise DataError(f"the context has shape {context.shape} where ({len(array)},) is expected")
            flags = _flags(context, "the array of context") if one else _flat_context(context, counts)
            flags = flags if flags is not None and flags.any() else None
        order = None
        if orders is not None:
            whole = isinstance(orders, np.ndarray) and orders.ndim == 1 and orders.dtype != object
            order = _indices(orders, "the array of orders") if whole else _flat_order(orders, counts, context=flags)
            if order.shape != (len(array),):
                raise DataError(f"the orders have shape {order.shape} where ({len(array)},) is expected")
        new = cls.__new__(cls)
        new._fill(array, counts, order, features, pairs=value, relations=relations, context=flags)
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
            CSV: names of its columns; as in the file's first line when None. features: a list, or a text as
            ``--features`` has it, with commas between the names.
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
            CSV: the column with the items' names, which pairs uses; "": pairs has indices from 0 in each set; None:
            ``name`` where there is one, else as "".

        With a model, a UserWarning names categories of which no value is one that it knows. Without, it names
        columns of numbers or dates that are spelt otherwise, as 48,85, 5% or 31.12.2024: they are not features.
        """
        options = _library.ReadOptions()
        lib.onet_read_defaults(byref(options), ctypes.sizeof(options))
        options.format = 0 if format == "auto" else _library.choose("formats", format, "format")
        options.set_column = None if set is None else _library.text_bytes(set, "set")
        options.rank_column = None if rank is None else _library.text_bytes(rank, "rank")
        if features is not None:
            names = features if isinstance(features, str) else _joined(_listed(features, "features", UsageError))
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
        for said in (lib.onet_columns_misspelt, lib.onet_columns_unknown):
            for line in (said(new._struct.columns) or b"").decode("utf-8", "replace").splitlines():
                warnings.warn(line, UserWarning, stacklevel=2)
        return new

    def _own(self, handle: Any) -> None:
        """Makes this object the owner of sets that the library made; its arrays are views of their memory."""
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
        self._context = view(s.context, (total,), np.uint8) if s.context else None

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
        """Makes Sets from a pandas DataFrame with one row per item.

        set
            the column whose equal values say which rows belong together; sets stand in the order in which they
            are met.
        rank
            the column with the right order: numbers or times that are distinct within a set; text that holds a
            number counts as that number. None where it is not known. It cannot be a feature too. Every row has one, except
            for context items.
        features
            the columns that are given to the net; None: every other column, except for text that is not a category:
            ids, names and free text, in which most texts differ, and columns with one text for each set, which are
            warned of. Columns of text or categories become a feature for each of their values, the 32 most frequent
            ones, called ``column=value``, behind all others; times become seconds since the beginning of 1970. As in CSV,
            a column ``logprob`` is a feature only if it is named, and so is ``context``, which else marks with 1 or True
            the items that are seen but not placed.
        missing
            as for Sets().
        pairs
            a second DataFrame with relations between the items, one row per ordered pair: the column `set`, the columns
            ``from`` and ``to`` that say which items, and a column for each relation. Pairs without a row are missing.
        name
            the column with the items' names, which pairs uses, not a feature; None: pairs has indices from 0 per set.

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
        like: Optional[int] = None,
    ) -> "Sets":
        """like: the columns of a model, whose kinds the features must have."""
        need_frame(frame)
        if set is None:
            raise UsageError("set is None: name the column whose equal values say which rows belong together")
        there = list(frame.columns)
        others = [c for c in there if c not in (set, rank, *_OWN) and (name is None or c != name)]
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
                    lacking = column_of(column, there) if what == "features" else column
                    raise DataError(f"the frame {often} {lacking!r} (given as {what}); it has {there}")
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
        context = _context_of(frame, [set, rank, name, *(known[0] if known else c for c, known in classes.items())])
        place = _Frame(frame, set, chosen)
        used = chosen if features is not None else _used(frame, chosen, place.of, missing, pairs is not None)
        made, lost = _all_features(frame, used, classes, kinds_of(like))
        if missing == "error" and by is None:
            need_values(made, like is not None)
        items = np.column_stack([values for _, values, _ in made] or [np.zeros((len(frame), 0), np.float32)])[place.rows]
        value, relations = (None, None)
        if pairs is not None:
            advice = "" if rank is None else ", or choose missing='mean'"
            value, relations = place.pairs(frame, pairs, name, missing != "error", advice)
        order = None if rank is None else place.order(frame[rank].to_numpy(), rank, context)
        flags = None if context is None or not (context == 1).any() else (context == 1).astype(np.uint8)[place.rows]
        new = cls.__new__(cls)
        try:
            new._fill(
                np.ascontiguousarray(items),
                place.sizes,
                order,
                [one for one, _, _ in made] or None,
                set,
                missing,
                by,
                value,
                relations,
                flags,
                [(first, span, found[place.rows]) for first, span, found in lost],
                "".join(kind for _, _, kind in made),
            )
        except DataError as error:
            raise DataError(f"{error} (sets are counted in the order in which they are met)") from None
        new._frame = place
        return new

    # ---- Looking at them ----

    def __len__(self) -> int:
        return len(self._start) - 1

    @property
    def shape(self) -> tuple:
        """(sets,). For scikit-learn: it selects from objects with a shape by index arrays; from others it would make lists of
        arrays, without names, context items and relations."""
        return (len(self),)

    def __getitem__(self, s: Any) -> Any:
        count = len(self)
        if isinstance(s, (slice, list, np.ndarray)):
            return self._take(s)
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
        """The right orders, a list of index arrays, without the context items; None when they are not known."""
        if self._order is None:
            return None
        placed = self._placed().tolist()
        return [order[: placed[s]] for s, order in enumerate(self._parts(self._order))]

    @property
    def context(self) -> Optional[List[np.ndarray]]:
        """Which items are context, seen but not placed: an array (items,) of truth values per set; None if there are none."""
        return None if self._context is None or not self._context.any() else self._parts(self._context.astype(bool))

    def _placed(self) -> np.ndarray:
        """Items of each set that are not context, (sets,)."""
        if self._context is None:
            return self.sizes
        seen = np.concatenate([[0], np.cumsum(self._context, dtype=np.int64)])
        return self.sizes - np.diff(seen[self._start.astype(np.int64)])

    def _parts(self, flat: np.ndarray) -> List[np.ndarray]:
        start = self._start.tolist()
        return [flat[start[s] : start[s + 1]] for s in range(len(self))]

    def with_orders(self, orders: Any) -> "Sets":
        """Sets with the same items, which are not copied, and other orders."""
        new = Sets.__new__(Sets)
        new._held = self._held
        new._items, new._start, new._frame, new._context = self._items, self._start, self._frame, self._context
        new._order = np.array(_flat_order(orders, self.sizes, context=self._context), np.int32)
        new._order.flags.writeable = False
        new._struct = SetsStruct()
        ctypes.pointer(new._struct)[0] = self._struct
        new._struct.order = _address(new._order)
        new._struct.hash = b""
        call("onet_sets_check", byref(new._struct))
        return new

    def _hold_out(self, wanted: Any, groups: Any, seed: int) -> tuple:
        """Divides the sets as ``--holdout`` does; returns (sets to train on, sets held out, groups of the former or None)."""
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
        """The groups as bytes, or None where they are missing, one per set; checks their number."""
        listed = _listed(groups, "groups", UsageError)
        if len(listed) != len(self):
            raise UsageError(f"there are {len(listed)} groups for {len(self)} sets; give one per set")
        return [None if _is_missing(one) else _library.text_bytes(one, "a group") for one in listed]

    def _pick(self, take: np.ndarray) -> "Sets":
        picked, which = POINTER(SetsStruct)(), np.ascontiguousarray(take, np.uint8)
        call("onet_sets_pick", byref(picked), byref(self._struct), _address(which))
        new = Sets.__new__(Sets)
        new._own(picked)
        return new

    def _take(self, which: Any) -> "Sets":
        """Copies the sets selected by a slice, a boolean mask, or indices (in the given order)."""
        array = np.arange(len(self))[which] if isinstance(which, slice) else np.asarray(which)
        if array.ndim != 1 or array.dtype.kind not in "iub":
            raise WrongTypeError(f"sets[{which!r}]: expected numbers of sets, or a truth value for each")
        if array.dtype.kind == "b":
            if len(array) != len(self):
                raise UnknownSetError(f"a mask of {len(array)} truth values for {len(self)} sets")
            array = np.flatnonzero(array)
        wrong = (array < -len(self)) | (array >= len(self))
        if wrong.any():
            raise UnknownSetError(f"there is no set {array[wrong][0]}: there are {len(self)}")
        array = np.where(array < 0, array + len(self), array).astype(np.intp)
        if not len(array):
            raise DataError("there are no sets: none is taken")
        if (np.diff(array) > 0).all():
            take = np.zeros(len(self), bool)
            take[array] = True
            return self._pick(take)
        if self._struct.constraint_count:
            raise UsageError("sets with constraints can be taken in their own order alone, each once")
        views = (SetsStruct * len(array))()
        for view, s in zip(views, array.tolist()):
            ctypes.memmove(byref(view), byref(self._struct), ctypes.sizeof(SetsStruct))
            view.count, view.start = 1, self._struct.start + s * SIZE.itemsize
        parts, joined = (ctypes.c_void_p * len(array))(*map(ctypes.addressof, views)), POINTER(SetsStruct)()
        call("onet_sets_join", byref(joined), parts, len(array))
        new = Sets.__new__(Sets)
        new._own(joined)
        new._held._lent = self._held  # the vocabulary, and what follows
        pairs = self._pairs_struct()
        if pairs is not None:  # joined sets have relations without names
            own, struct = _library.PairsStruct(), SetsStruct()
            ctypes.memmove(byref(own), new._struct.pairs, ctypes.sizeof(own))
            ctypes.memmove(byref(struct), byref(new._struct), ctypes.sizeof(struct))
            own.names, own.fill, struct.pairs = pairs.names, pairs.fill, ctypes.addressof(own)
            new._struct, new._held._pairs = struct, own
        return new

    def write(self, path: Any) -> None:
        """Writes a file. The ending of its name says the format: .jsonl, .csv, .npz, .safetensors; .gz after it compresses."""
        call("onet_sets_write", byref(self._struct), _library.path_bytes(path), 0)

    def __reduce__(self) -> Any:
        s = self._struct
        if (
            self._items is None
            or s.constraint_count
            or (s.columns and lib.onet_columns_missing(s.columns))
        ):
            raise WrongTypeError(
                "sets of words, with constraints or missing values cannot be pickled; write a file"
            )
        return _again, (
            np.array(self._array()),
            self.sizes,
            None if self._order is None else np.array(self._order),
            self.features,
            np.array(self._pair_values()) if s.pairs else None,
            self.relations,
            None if self._context is None else np.array(self._context),
            self._lost_columns(),
            kinds_of(s.columns),
        )

    def _lost_columns(self) -> List[tuple]:
        """Values that the features do not tell apart (onet_lost), as columns of _Lost; copied."""
        if not self._struct.lost:
            return []
        lost, total = _library.LostStruct.from_address(self._struct.lost), int(self._start[-1])

        def copy(address: int, kind: Any, count: int) -> np.ndarray:
            return np.frombuffer(ctypes.string_at(address, count * np.dtype(kind).itemsize), kind)

        found = copy(lost.hash, np.uint64, total * lost.width).reshape(total, lost.width)
        first, span = copy(lost.feature, np.int32, lost.width), copy(lost.span, np.int32, lost.width)
        return [(int(first[k]), int(span[k]), found[:, k]) for k in range(lost.width)]


def _again(
    items: np.ndarray,
    sizes: np.ndarray,
    order: Optional[np.ndarray],
    features: Optional[List[str]],
    pairs: Optional[np.ndarray] = None,
    relations: Optional[List[str]] = None,
    context: Optional[np.ndarray] = None,
    lost: Sequence[tuple] = (),
    kinds: Optional[str] = None,
) -> Sets:
    new = Sets.__new__(Sets)
    new._fill(items, sizes, order, features, pairs=pairs, relations=relations, context=context, lost=lost, kinds=kinds)
    return new


def _is_missing(one: Any) -> bool:
    """Whether a single value is None, NaN, NaT or NA of pandas."""
    try:
        return one is None or bool(one != one)
    except (TypeError, ValueError):  # NA is neither; an array is both
        return type(one).__name__ == "NAType"


def _joined(names: list) -> str:
    """Joins names as ``--features`` takes them: with commas between them, and in quotes where that is needed."""
    texts = [str(name) for name in names]
    return ",".join('"' + t.replace('"', '""') + '"' if not t or "," in t or t[0] == '"' else t for t in texts)


def _holdout_count(wanted: Any, count: int) -> int:
    """The number of sets that "10%", 0.1 or 50 of `count` are, at least 1; UsageError if none would be left."""
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
    """The names of the features in the data: those of names_of without indicators of missing values."""
    names = names_of(columns)
    return None if names is None else names[: lib.onet_columns_width(columns)]


def kinds_of(columns: Optional[int]) -> Optional[str]:
    """What the features were in the data, a letter each: d a date, t a truth value, - a number; None without names."""
    if own_names_of(columns) is None:
        return None
    letter = {b"date": "d", b"truth value": "t"}
    return "".join(letter.get(lib.onet_columns_kind(columns, j), "-") for j in range(lib.onet_columns_width(columns)))


def fitted(model: Any) -> Any:
    """The Engine of an OrderNet that a user gave."""
    if not hasattr(model, "_fitted"):
        raise WrongTypeError(f"model is of type {type(model).__name__}, where an OrderNet is expected")
    return model._fitted()


def as_sets(
    sets: Any,
    orders: Any = None,
    words: Any = None,
    by: Optional[int] = None,
    missing: str = "error",
    like: Optional[int] = None,
) -> Sets:
    """What a user gave as sets. words: the Engine that has the vocabulary of sets of words. by: columns of a model
    that says what becomes of missing values; without, `missing` does. like: columns of a model, by whose names and kinds
    the columns of data frames are taken."""
    if isinstance(sets, (str, Path)):
        raise DataError("the sets are a text or path; Sets.read(path) reads a file")
    if words is not None and not isinstance(sets, Sets):
        sets = words.word_sets(sets)
    if isinstance(sets, Sets):
        return sets if orders is None else sets.with_orders(orders)
    given = _flat_items(sets, own_names_of(like), kinds_of(like))
    order = None if orders is None else _flat_order(orders, given.sizes, given.rows, given.context)
    new = Sets.__new__(Sets)
    new._fill(given.items, given.sizes, order, given.names, missing=missing, by=by, context=given.context, lost=given.lost, kinds=given.kinds)
    return new
