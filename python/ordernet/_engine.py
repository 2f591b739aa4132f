"""Defines class Engine, a model of the C library: loads, saves and calibrates it, finds words in its vocabulary, orders
and scores sets with it. It caches orderers (class Orderer, which runs the search), so that each thread and each choice
of search options has its own. Class Answers holds the orders that are found."""

from __future__ import annotations

import ctypes
import json
import threading
from ctypes import byref, c_char, c_size_t, c_void_p
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _library
from ._arrays import SIZE, _Lost, _address, _listed, lost_hash
from ._library import Answer, DataError, Error, ModelError, OrderOptions, SetsStruct, UsageError, call, lib
from ._sets import Sets, own_names_of

# The fields of onet_answer, for arrays of them.
ANSWER = np.dtype(
    [
        ("found", "i4"),
        ("_", "i4"),
        ("order", SIZE),
        ("logprob", SIZE),
        ("step", SIZE),
        ("step_logprob", SIZE),
        ("reserved", SIZE, (3,)),
    ]
)
BEAM, SAMPLE = 0, 2
KEPT = 8  # idle orderers of a model
SHORT = 20000  # sum of beam * items^2: less takes a few milliseconds, and is not worth a thread


def order_options(key: tuple, flag: ctypes.c_int) -> OrderOptions:
    """The onet_order_options of a key that order_key made; flag: set to 1, it stops the work."""
    decode, beam, top, seed, threads, kernels, device = key
    return OrderOptions(
        size=ctypes.sizeof(OrderOptions),
        decode=decode,
        beam=beam,
        top=top,
        seed=seed,
        threads=threads,
        kernels=kernels,
        device=device,
        stop=ctypes.cast(lib.onet_tsp_stop_flag, c_void_p).value,
        context=ctypes.addressof(flag),
    )


class Orderer:
    """An orderer, which serves one caller at a time, and the structs for one set, filled in anew for each."""

    def __init__(self, model: "Engine", key: tuple) -> None:
        _, beam, top, *_ = key
        self.key, self.top = key, top
        self.generation = _library.generation
        self.handle: Any = c_void_p()
        self.beam, self.flag = beam, ctypes.c_int(0)
        call("onet_orderer_new", byref(self.handle), model.handle, byref(order_options(key, self.flag)))
        self.err = Error()
        self.start = (c_size_t * 2)()
        self.sets = SetsStruct(count=1, width=model.width, start=ctypes.addressof(self.start))
        self.logprob = np.empty(top, np.float64)
        self.answer = Answer(logprob=_address(self.logprob))
        self.by_sets, self.by_answer, self.by_err = byref(self.sets), byref(self.answer), byref(self.err)

    def halt(self) -> None:
        self.flag.value = 1

    def ask(self, name: str, *arguments: Any, squares: float = SHORT) -> None:
        """Calls a function of the library's that orders or scores; raises where it fails. Ctrl-C ends it, where
        it may take long: `squares` is the sum of the squared sizes of the sets."""
        err = Error()

        def work() -> int:
            return getattr(lib, name)(*arguments, byref(err))

        # Signals reach the main thread alone.
        if squares * self.beam < SHORT or threading.current_thread() is not threading.main_thread():
            status = work()
        else:
            try:
                status = _library.interruptible(work, self.halt)
            finally:
                self.flag.value = 0
        if status:
            _library.fail(status, err)

    def free(self) -> None:
        handle, self.handle = self.handle, None
        # Its threads are not in this process if it was made before a fork: they cannot be waited for.
        if handle and self.generation == _library.generation:
            lib.onet_orderer_free(handle)


class Engine:
    """A trained model. Any number of threads may order with it."""

    def __init__(self, handle: c_void_p) -> None:
        self.handle = handle
        self.settings = lib.onet_model_settings(handle).contents
        self.width: int = lib.onet_model_width(handle)  # of an item in sets; the net may have more
        self.words: Optional[int] = lib.onet_model_words(handle)
        self.columns: Optional[int] = lib.onet_model_columns(handle)
        self.fills = bool(self.columns) and lib.onet_columns_missing(self.columns) != 0
        # Features of an item as a user has them; the net has more where some tell of missing values.
        self.features: int = lib.onet_columns_width(self.columns) if self.columns else self.width
        self.names = own_names_of(self.columns)
        self.exact = any(feature.exact for feature in self.scales())
        self.kind: str = lib.onet_model_kind(handle).decode()
        self.idle: List[Orderer] = []

    def __del__(self) -> None:
        for orderer in self.idle:
            orderer.free()
        lib.onet_model_free(self.handle)

    @classmethod
    def load(cls, path: Any) -> "Engine":
        handle, where = c_void_p(), _library.path_bytes(path)
        call("onet_model_load", byref(handle), where, bad=ModelError, path=where)
        return cls(handle)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Engine":
        handle = c_void_p()
        call("onet_model_from_bytes", byref(handle), data, len(data), bad=ModelError)
        return cls(handle)

    def to_bytes(self) -> bytes:
        data, size = c_void_p(), c_size_t()
        call("onet_model_to_bytes", self.handle, byref(data), byref(size))
        try:
            return ctypes.string_at(data, size.value)
        finally:
            lib.onet_bytes_free(data)

    def save(self, path: Any) -> None:
        call("onet_model_save", self.handle, _library.path_bytes(path))

    def record(self) -> Dict[str, str]:
        key, i = ctypes.c_char_p(), 0
        found: Dict[str, str] = {}
        while True:
            value = lib.onet_model_record_at(self.handle, i, byref(key))
            if value is None:
                return found
            found[(key.value or b"").decode("utf-8", "replace")] = value.decode("utf-8", "replace")
            i += 1

    def scales(self) -> List[_library.Feature]:
        """The onet_feature of each feature: how it is scaled; empty for words."""
        found: List[_library.Feature] = []
        while True:
            feature = _library.Feature()
            if not lib.onet_model_feature(self.handle, len(found), byref(feature)):
                return found
            found.append(feature)

    def checksum(self) -> str:
        text = (c_char * 65)()
        lib.onet_model_checksum(self.handle, text)
        return text.value.decode()

    def tensors(self) -> Dict[str, np.ndarray]:
        """The tensors of the model's file by name (copies)."""
        data = self.to_bytes()
        length = int.from_bytes(data[:8], "little")
        types = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I32": np.int32, "U8": np.uint8}
        found = {}
        for name, entry in json.loads(data[8 : 8 + length]).items():
            if name == "__metadata__":
                continue
            begin, end = (8 + length + at for at in entry["data_offsets"])
            found[name] = np.frombuffer(data[begin:end], types[entry["dtype"]]).reshape(entry["shape"]).copy()
        return found

    # ---- Orderers ----

    def take(
        self,
        decode: int = BEAM,
        beam: int = 0,
        top: int = 1,
        threads: int = 0,
        kernels: Optional[str] = None,
        device: Optional[str] = None,
    ) -> Orderer:
        """Takes an idle orderer, or makes one, for this caller alone; give() returns it."""
        key = order_key(decode, beam, top, 0, threads, kernels, device)
        idle = self.idle
        for i in range(len(idle) - 1, -1, -1):
            try:
                orderer = idle.pop(i)
            except IndexError:  # another thread took some
                break
            if orderer.key == key and orderer.generation == _library.generation:
                return orderer
            idle.append(orderer)
        return Orderer(self, key)

    def give(self, orderer: Orderer) -> None:
        self.idle.append(orderer)
        if len(self.idle) > KEPT:
            try:
                self.idle.pop(0).free()
            except IndexError:
                pass

    # ---- Calibration ----

    def calibrated(self, sets: Sets, key: tuple) -> Tuple["Engine", _library.Calibration]:
        """A copy with the temperature at which the probabilities of its answers to the sets fit best."""
        copy, found, err, flag = Engine.from_bytes(self.to_bytes()), _library.Calibration(), Error(), ctypes.c_int(0)
        options = order_options(key, flag)

        def work() -> int:
            return lib.onet_model_calibrate(
                copy.handle, byref(sets._struct), byref(options), byref(found), byref(err)
            )

        def halt() -> None:
            flag.value = 1

        main = threading.current_thread() is threading.main_thread()
        status = _library.interruptible(work, halt) if main else work()
        if status:
            _library.fail(status, err)
        return copy, found

    # ---- Ordering ----

    def order_one(self, orderer: Orderer, items: np.ndarray) -> Tuple[np.ndarray, int]:
        """The orders [top, n] of one set of numbers, items (n, width) float32, and how many were found."""
        n = items.shape[0]
        order = np.empty((orderer.top, n), np.int32)
        sets, err = orderer.sets, orderer.err
        orderer.start[1] = n
        sets.items = items.__array_interface__["data"][0]
        orderer.answer.order = order.__array_interface__["data"][0]
        if n * n * orderer.beam >= SHORT:
            orderer.ask("onet_orderer_run", orderer.handle, orderer.by_sets, orderer.by_answer)
            return order, orderer.answer.found
        status = lib.onet_orderer_run(orderer.handle, orderer.by_sets, orderer.by_answer, orderer.by_err)
        if status:
            _library.fail(status, err)
        return order, orderer.answer.found

    def order_all(self, orderer: Orderer, sets: Sets, steps: bool = False) -> "Answers":
        answers = Answers(sets, orderer.top, steps)
        orderer.ask(
            "onet_orderer_run", orderer.handle, byref(sets._struct), _address(answers.raw), squares=_squares(sets)
        )
        return answers

    def score(self, orderer: Orderer, sets: Sets) -> np.ndarray:
        logprob = np.empty(len(sets), np.float64)
        orderer.ask(
            "onet_orderer_score_steps",
            orderer.handle,
            byref(sets._struct),
            _address(logprob),
            None,
            squares=_squares(sets),
        )
        return logprob

    # ---- Words ----

    def rows(self, words: Sequence[str], lost: Optional[List[int]] = None) -> np.ndarray:
        """The vocabulary row of each word. lost: gets what the row does not tell, the hash of a word without one, else 0."""
        if isinstance(words, str):
            raise DataError("a set of words is a list of str, not one text; text.split() makes a list")
        words = _listed(words, "a set of words")
        found, known = np.empty(len(words), np.int32), ctypes.c_int()
        for i, word in enumerate(words):
            if not isinstance(word, str):
                raise DataError(f"word {i + 1} of a set is of type {type(word).__name__}, where text is expected")
            text = word.encode("utf-8", "surrogatepass")
            try:
                text.decode("utf-8")
            except UnicodeDecodeError:
                raise DataError(f"word {i + 1} of a set, {word!r}, is not valid Unicode text") from None
            found[i] = lib.onet_words_find(self.words, text, len(text), byref(known))
            if lost is not None:
                lost.append(0 if known.value else lost_hash(word))
        return found

    def word_sets(self, sets: Any) -> Sets:
        hashes: List[int] = []
        each = [self.rows(words, hashes) for words in _listed(sets, "sets of words")]
        if not each:
            raise DataError("there are no sets: the list is empty")
        sizes = np.array([len(rows) for rows in each])
        new = Sets.__new__(Sets)
        rows = np.concatenate(each)
        new._held, new._items, new._order, new._frame, new._context = (self, rows), None, None, None, None
        new._start = np.zeros(len(each) + 1, SIZE)
        np.cumsum(sizes, out=new._start[1:])
        new._struct = SetsStruct(
            count=len(each), width=self.width, start=_address(new._start), word=_address(rows), words=self.words
        )
        if any(hashes):
            lost = _Lost([(0, 0, np.array(hashes, np.uint64))])
            new._held = (self, rows, lost)
            new._struct.lost = ctypes.addressof(lost.struct)
        call("onet_sets_check", byref(new._struct))
        return new


def _squares(sets: Sets) -> float:
    sizes = sets.sizes.astype(np.float64)
    return float(sizes @ sizes)


def order_key(
    decode: int, beam: int, top: int, seed: int, threads: int, kernels: Optional[str], device: Optional[str]
) -> tuple:
    return (
        decode,
        beam,
        top,
        seed,
        threads,
        kernels and _library.text_bytes(kernels, "kernels"),
        device and _library.text_bytes(device, "device"),
    )


class Answers:
    """Memory for the answers to sets: orders, their log-probabilities and, where wanted, those of the steps."""

    def __init__(self, sets: Sets, top: int, steps: bool) -> None:
        self.sets, self.top = sets, top
        count, total = len(sets), int(sets._start[-1])
        if top > np.iinfo(np.int32).max // max(total, 1) and top * total > 2**40:
            raise UsageError(f"{top} orders of {total} items are more than memory can hold; ask for fewer")
        self.order = np.empty(top * total, np.int32)
        self.logprob = np.empty((count, top), np.float64)
        self.step = np.empty(top * total, np.float32) if steps else None
        self.raw = np.zeros(count, ANSWER)
        self.raw["order"] = _address(self.order) + sets._start[:-1] * SIZE.type(4 * top)
        self.raw["logprob"] = _address(self.logprob) + np.arange(count, dtype=SIZE) * SIZE.type(8 * top)
        if self.step is not None:
            self.raw["step"] = _address(self.step) + sets._start[:-1] * SIZE.type(4 * top)

    def best(self) -> List[np.ndarray]:
        """The first order of each set, of its placed items."""
        sizes = self.sets.sizes
        if self.top == 1 and self.sets._context is None:
            if len(sizes) and (sizes == sizes[0]).all():
                return list(self.order.reshape(len(sizes), -1))
            return self.sets._parts(self.order)
        return [rows[0] for rows in self.all()]

    def all(self) -> List[np.ndarray]:
        """All orders of each set: arrays (found, placed items)."""
        start, top = (self.sets._start * SIZE.type(self.top)).tolist(), self.top
        found, placed = self.raw["found"].tolist(), self.sets._placed().tolist()
        parts = (self.order[start[s] : start[s + 1]].reshape(top, -1) for s in range(len(found)))
        return [part[: found[s], : placed[s]] for s, part in enumerate(parts)]
