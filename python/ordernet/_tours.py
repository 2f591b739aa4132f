"""Finds tours through points of the plane (by the shipped network or a given one, exactly, and by Christofides'
heuristic) and measures their length."""

from __future__ import annotations

import ctypes
import threading
import warnings
from ctypes import byref, c_void_p
from typing import Any, List, NamedTuple, Optional

import numpy as np

from . import _library
from ._arrays import _address, _double, _unmasked
from ._engine import Engine
from ._library import DataError, Error, OrderOptions, Tsp, TspOptions, TspProof, UsageError, call, lib
from ._model import OrderNet, _whole, load
from ._sets import fitted


class Proof(NamedTuple):
    """How good the tour of the exact solver is proven to be."""

    length: float
    bound: float  #: no tour is shorter
    proven: bool  #: the tour is optimal
    nodes: int  #: of the search tree


class _Points:
    """Holds points as an onet_tsp, with all distances."""

    def __init__(self, points: Any) -> None:
        given = _unmasked(points, "the array of points")
        if given.dtype.kind not in "fiub":
            raise DataError(
                f"the points have values of type {given.dtype}, where numbers of shape (points, 2) are expected"
            )
        xy = np.ascontiguousarray(_double(given, "the array of points", points if isinstance(points, (list, tuple)) else None))
        if xy.ndim != 2 or xy.shape[1] != 2 or not len(xy):
            raise DataError(f"the points have shape {xy.shape}, where (points, 2) is expected")
        if len(xy) > np.iinfo(np.int32).max:
            raise DataError(f"{len(xy)} points are too many")
        self.n, self.struct = len(xy), Tsp()
        call("onet_tsp_points", byref(self.struct), self.n, _address(xy))

    def __del__(self) -> None:
        if hasattr(self, "struct"):
            lib.onet_tsp_free(byref(self.struct))

    def solve(self, method: str, options: TspOptions, proof: Optional[TspProof] = None) -> np.ndarray:
        """Finds a tour by the method; Ctrl-C ends the search."""
        tour, err, stop = np.empty(self.n, np.int32), Error(), ctypes.c_int(0)
        number = _library.choices("tsp_methods")[method]
        options.stop = ctypes.cast(lib.onet_tsp_stop_flag, c_void_p).value
        options.context = ctypes.addressof(stop)

        def work() -> int:
            return lib.onet_tsp_solve(
                byref(self.struct),
                number,
                byref(options),
                _address(tour),
                None if proof is None else byref(proof),
                byref(err),
            )

        def halt() -> None:
            stop.value = 1

        status = _library.interruptible(work, halt)
        if status:
            _library.fail(status, err)
        return tour


def _defaults() -> TspOptions:
    options = TspOptions()
    lib.onet_tsp_defaults(byref(options), ctypes.sizeof(options))
    return options


class _Net:
    """An onet_tsp_net, for one caller at a time."""

    def __init__(self, engine: Engine, beam: int) -> None:
        self.engine, self.beam, self.generation = engine, beam, _library.generation
        self.handle = c_void_p()
        options = OrderOptions(size=ctypes.sizeof(OrderOptions), beam=beam)
        call("onet_tsp_net_new", byref(self.handle), engine.handle, byref(options))

    def __del__(self) -> None:
        if self.handle and self.generation == _library.generation:
            lib.onet_tsp_net_free(self.handle)


_idle: List[_Net] = []
_shipped: List[OrderNet] = []
_loading = threading.Lock()


def shipped(models: List[OrderNet], name: str) -> OrderNet:
    """Returns the shipped model `name`, which is loaded at the first call and kept in `models`."""
    with _loading:
        if not models:
            models.append(load(name))
        return models[0]


def tour(points: Any, symmetries: int = 8, beam: int = 5, model: Optional[OrderNet] = None) -> np.ndarray:
    """A short closed tour by a net: points (n, 2) of any scale in, index array (n,) out.

    symmetries
        8 shows the net the points under the square's 8 symmetries too and takes the shortest tour of all beams;
        1 takes the shortest of one beam.
    model
        an OrderNet that was trained on tours; None: the shipped one, for 5 to 50 points, or so.

    Coordinates are those of a plane: project latitude and longitude first. The tour starts at the point with the
    smallest x + y and runs counter-clockwise.
    """
    if symmetries not in (1, 8):
        raise UsageError(f"symmetries is {symmetries!r}: it must be 1 or 8")
    beam = _whole(beam, "beam", 1, 100000)
    instance = _Points(points)
    engine = fitted(shipped(_shipped, "tours") if model is None else model)
    net = None
    while _idle and net is None:
        try:
            net = _idle.pop()
        except IndexError:  # another thread took it
            break
        if net.engine is not engine or net.beam != beam or net.generation != _library.generation:
            net = None
    net = net or _Net(engine, beam)
    options = _defaults()
    options.net, options.symmetries = net.handle, symmetries
    result = instance.solve("ordernet", options)
    if len(_idle) < 8:
        _idle.append(net)
    return result


def exact_tour(points: Any, seconds: float = 0, return_proof: bool = False) -> Any:
    """The shortest closed tour through points (n, 2), with proof: an index array (n,), or (tour, Proof).

    seconds
        a time limit; 0: none. Where it ends the search, the tour is the best that was found and a RuntimeWarning
        says how far from the optimum it may be.
    """
    instance, options, proof = _Points(points), _defaults(), TspProof()
    try:
        options.seconds = seconds
    except TypeError:
        raise UsageError(f"seconds is {seconds!r}: it must be a number") from None
    result = instance.solve("exact", options, proof)
    found = Proof(proof.length, proof.bound, bool(proof.proven), int(proof.nodes))
    if not found.proven:
        warnings.warn(
            f"the tour is not proven to be the shortest: its length is {found.length:.6g}, and no tour is shorter than "
            f"{found.bound:.6g}; give more seconds",
            RuntimeWarning,
            stacklevel=2,
        )
    return (result, found) if return_proof else result


def christofides(points: Any) -> np.ndarray:
    """A closed tour by Christofides' heuristic, at most half as long again as the shortest: index array (n,)."""
    return _Points(points).solve("christofides", _defaults())


def tour_length(points: Any, tour: Any) -> float:
    """The length of a closed tour, an index array (n,), through points (n, 2)."""
    instance = _Points(points)
    order = _unmasked(tour, "the tour")
    if order.shape != (instance.n,) or order.dtype.kind not in "iu":
        raise DataError(
            f"the tour is of shape {order.shape} and type {order.dtype}, where {instance.n} indices are expected"
        )
    order = np.where((order < 0) | (order >= instance.n), -1, order).astype(np.int32)
    if not lib.onet_tsp_is_tour(instance.n, _address(order)):
        raise DataError(f"the tour does not name each of the {instance.n} points once")
    return float(lib.onet_tsp_length(byref(instance.struct), _address(order)))
