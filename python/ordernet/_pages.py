"""Predicts the reading order of the regions of a page with the shipped or a given model (ordernet.reading_order)."""

from __future__ import annotations

import ctypes
import threading
from ctypes import byref, c_void_p
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import _library
from ._arrays import _address, _unmasked
from ._engine import Engine
from ._library import DataError, OrderOptions, UsageError, call, lib
from ._model import OrderNet
from ._sets import fitted
from ._tours import shipped


class _Pages:
    """An onet_pages, for one caller at a time."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.generation = engine, _library.generation
        self.handle = c_void_p()
        options = OrderOptions(size=ctypes.sizeof(OrderOptions), beam=1, threads=1)
        call("onet_pages_new", byref(self.handle), engine.handle, byref(options))

    def __del__(self) -> None:
        if self.handle and self.generation == _library.generation:
            lib.onet_pages_free(self.handle)


_idle: List[_Pages] = []
_shipped: List[OrderNet] = []
_taking = threading.Lock()


def _boxes(boxes: Any, page_size: Optional[Tuple[float, float]]) -> np.ndarray:
    given = _unmasked(boxes, "the array of boxes")
    if given.size == 0:
        return np.empty((0, 4))
    if given.dtype.kind not in "fiub" or given.ndim != 2 or given.shape[1] != 4:
        raise DataError(
            f"the boxes have shape {given.shape} and type {given.dtype}, where numbers of shape (boxes, 4) are "
            "expected: x0, y0, x1, y1 with y downwards"
        )
    found = np.array(given, dtype=np.float64)
    if page_size is not None:
        try:
            width, height = (float(side) for side in page_size)
        except (TypeError, ValueError):
            width = height = 0.0
        if not (0 < width < np.inf and 0 < height < np.inf):
            raise UsageError(f"page_size is {page_size!r}: it must be (width, height), two positive numbers")
        found[:, 0::2] = found[:, 0::2].clip(0, width)
        found[:, 1::2] = found[:, 1::2].clip(0, height)
    return found


def reading_order(
    boxes: Any,
    types: Optional[Sequence[str]] = None,
    page_size: Optional[Tuple[float, float]] = None,
    right_to_left: bool = False,
    model: Optional[OrderNet] = None,
    return_confidence: bool = False,
) -> Any:
    """The order in which the regions of a page are read: boxes (n, 4) in, index array out.

    boxes
        x0, y0, x1, y1 of each region, with y downwards, in any unit.
    types
        what each region is, by the names of docling, PAGE XML and others: "text", "title", "section_header",
        "page_header", "footnote", "caption", "table", "picture", "separator", ...; None: all are text. A
        separator, a line between columns or articles, takes no place in the order, but helps most to find it.
    page_size
        width and height of the page: boxes are cut off at its edges.
    right_to_left
        columns are read from right to left.
    model
        an OrderNet of `ordernet pages train`; None: the shipped one.
    return_confidence
        also how probable it is that the order is right to the last region: (order, confidence). It is 0 where no
        network judged the order, on pages of over 1500 regions. Small pages then take longer.
    """
    found = np.ascontiguousarray(_boxes(boxes, page_size))
    if types is not None and len(types) != len(found):
        raise DataError(f"{len(types)} types for {len(found)} boxes")
    if types is not None and not all(isinstance(t, str) for t in types):
        raise DataError("the types must be texts, such as 'text' or 'title'")
    kinds = np.array(
        [lib.onet_region_of(t.encode("utf-8", "replace")) for t in types] if types is not None else [0] * len(found),
        dtype=np.int32,
    )
    order, count = np.empty(len(found), np.int32), ctypes.c_int()
    confidence = ctypes.c_double(1)  # of a page without boxes
    if not len(found):
        return (order, confidence.value) if return_confidence else order
    engine = fitted(shipped(_shipped, "pages") if model is None else model)
    with _taking:
        mine = [p for p in _idle if p.engine is engine and p.generation == _library.generation]
        pages = mine[0] if mine else None
        if pages:
            _idle.remove(pages)
    pages = pages or _Pages(engine)
    call(
        "onet_pages_order_confidence" if return_confidence else "onet_pages_order",
        pages.handle,
        _address(found),
        _address(kinds),
        len(found),
        int(right_to_left),
        _address(order),
        byref(count),
        *([byref(confidence)] if return_confidence else []),
    )
    with _taking:
        if len(_idle) < 8:
            _idle.append(pages)
    return (order[: count.value], confidence.value) if return_confidence else order[: count.value]
