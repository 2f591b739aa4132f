"""The C library: its structs and functions as ctypes has them, and its statuses as exceptions.

The structs follow the headers in include/ field by field; python/tests/test_engine.py compares them with
the headers.
"""

from __future__ import annotations

import ctypes
import errno
import numbers
import os
import threading
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Type

FOLDER = Path(__file__).resolve().parent
MODELS = FOLDER / "models"


# ---- Errors ----------------------------------------------------------------------------------------------


class OrderNetError(Exception):
    """What every exception of this package is."""


class DataError(OrderNetError, ValueError):
    """Sets or orders that are wrong: shapes, widths, numbers, permutations."""


class ModelError(OrderNetError, ValueError):
    """A file or bytes that are not a model, or a model that does not fit what is asked of it."""


class UsageError(OrderNetError, ValueError):
    """A parameter out of range, or parameters that exclude each other."""


class TrainingError(OrderNetError, RuntimeError):
    """A training that failed: the loss became NaN, a device was not there."""


class FileError(OrderNetError, OSError):
    """A file that cannot be opened, read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that is not there."""

    def __str__(self) -> str:
        """The library's sentence; OSError would make one of errno and filename."""
        return str(self.args[0])


class OutOfMemoryError(OrderNetError, MemoryError):
    """The library found no memory."""


class WrongTypeError(UsageError, TypeError):
    """An argument of a type that is not meant there, or an object that cannot be pickled."""


class UnknownSetError(DataError, IndexError):
    """sets[s] of a set that is not there."""


class MissingPackageError(OrderNetError, ImportError):
    """A package that is needed for this alone, as matplotlib is for pictures, is not installed."""


class NotFittedError(OrderNetError, ValueError, AttributeError):
    """A model that was neither trained nor loaded."""


OK, FAILED, USAGE, BAD, IO, MEMORY, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

_EXCEPTIONS: Dict[int, Type[OrderNetError]] = {
    FAILED: TrainingError,
    USAGE: UsageError,
    BAD: DataError,
    IO: FileError,
    MEMORY: OutOfMemoryError,
}

# ---- Structs ---------------------------------------------------------------------------------------------


class Error(Structure):
    _fields_ = [("text", c_char * 960), ("field", c_char * 64)]


class Choice(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("value", c_int)]


class SetsStruct(Structure):
    _fields_ = [
        ("count", c_size_t),
        ("width", c_int),
        ("start", c_void_p),
        ("items", c_void_p),
        ("word", c_void_p),
        ("words", c_void_p),
        ("order", c_void_p),
        ("context", c_void_p),
        ("constraints", c_void_p),
        ("constraint_count", c_size_t),
        ("hash", c_char * 65),
        ("columns", c_void_p),
        ("words_lent", c_size_t),
        ("exact", c_void_p),
        ("reserved", c_void_p * 1),
    ]


class ReadOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("format", c_int),
        ("set_column", c_char_p),
        ("rank_column", c_char_p),
        ("features", c_char_p),
        ("width", c_int),
        ("words", c_void_p),
        ("bytes", c_void_p),
        ("context", c_void_p),
        ("columns", c_void_p),
        ("missing", c_int),
        ("one_set", c_int),
        ("delimiter", c_int),
        ("mixed", c_int),
        ("group_column", c_char_p),
    ]


class Answer(Structure):
    _fields_ = [
        ("found", c_int),
        ("order", c_void_p),
        ("logprob", c_void_p),
        ("step", c_void_p),
        ("step_logprob", c_void_p),
        ("reserved", c_void_p * 3),
    ]


class Settings(Structure):
    _fields_ = [
        ("width", c_int),
        ("encoder_blocks", c_int),
        ("hidden", c_int),
        ("encoder_out", c_int),
        ("pool", c_int),
        ("decoder_blocks", c_int),
        ("decoder_out", c_int),
        ("relative", c_int),
        ("reserved", c_int * 8),
    ]


class OrderOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("decode", c_int),
        ("beam", c_int),
        ("top", c_int),
        ("seed", c_uint64),
        ("threads", c_int),
        ("kernels", c_char_p),
        ("device", c_char_p),
        ("world", c_void_p),
        ("max_items", c_int),
        ("progress", c_void_p),
        ("context", c_void_p),
        ("stop", c_void_p),
    ]


class ProgressStruct(Structure):
    _fields_ = [
        ("epoch", c_int),
        ("epochs", c_int),
        ("step", c_uint64),
        ("steps", c_uint64),
        ("loss", c_double),
        ("learning_rate", c_double),
        ("valid_exact", c_double),
        ("examples_per_second", c_double),
        ("seconds", c_double),
        ("seconds_left", c_double),
        ("valid_loglik", c_double),
        ("best_epoch", c_int),
        ("steps_before", c_uint64),
        ("resumed_at", c_uint64),
        ("ended", c_int),
        ("model", c_int),
        ("models", c_int),
    ]


ProgressFunction = CFUNCTYPE(c_int, c_void_p, POINTER(ProgressStruct))


class TrainOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("settings", Settings),
        ("batch", c_int),
        ("epochs", c_int),
        ("max_steps", c_uint64),
        ("learning_rate", c_double),
        ("schedule", c_int),
        ("warmup", c_double),
        ("beta1", c_double),
        ("beta2", c_double),
        ("epsilon", c_double),
        ("weight_decay", c_double),
        ("clip", c_double),
        ("average", c_double),
        ("batches", c_int),
        ("statistics", c_int),
        ("seed", c_uint64),
        ("standardise", c_int),
        ("train_vectors", c_int),
        ("forget", c_double),
        ("drop", c_double),
        ("jitter", c_double),
        ("threads", c_int),
        ("kernels", c_char_p),
        ("device", c_char_p),
        ("precision", c_int),
        ("model_path", c_char_p),
        ("checkpoint_seconds", c_double),
        ("resume", c_int),
        ("valid_limit", c_int),
        ("patience", c_int),
        ("progress", ProgressFunction),
        ("context", c_void_p),
        ("from_", c_void_p),
        ("world", c_void_p),
        ("keep", c_int),
        ("keep_stopped", c_int),
        ("best", POINTER(c_void_p)),
        ("half", c_int),
        ("models", c_int),
        ("stray", c_double),
        ("scale", c_char_p),
        ("within", c_int),
    ]


class Feature(Structure):
    _fields_ = [
        ("scale", c_int),
        ("within", c_int),
        ("centred", c_int),
        ("crowded", c_int),
        ("exact", c_int),
        ("reserved", c_int * 11),
    ]


class Measure(Structure):
    _fields_ = [("mean", c_double), ("low", c_double), ("high", c_double)]


class Report(Structure):
    _fields_ = [
        ("sets", c_size_t),
        ("exact", Measure),
        ("position", Measure),
        ("tau", Measure),
        ("loglik", Measure),
        ("neighbours", Measure),
        ("loglik_all", Measure),
        ("reserved", Measure * 6),
    ]


class SetMeasure(Structure):
    _fields_ = [
        ("n", c_size_t),
        ("placed", c_size_t),
        ("exact", c_double),
        ("position", c_double),
        ("tau", c_double),
        ("neighbours", c_double),
        ("loglik", c_double),
        ("reserved", c_double * 4),
    ]


class ImportanceStruct(Structure):
    _fields_ = [("exact", Measure), ("loglik", Measure), ("reserved", Measure * 2)]


class RankerOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("penalty", c_double),
        ("relative", c_int),
        ("standardise", c_int),
        ("seed", c_uint64),
        ("threads", c_int),
        ("scale", c_char_p),
        ("within", c_int),
    ]


class ComparisonStruct(Structure):
    _fields_ = [
        ("guess", Report),
        ("column", Report),
        ("ranker", Report),
        ("model", Report),
        ("feature", c_int),
        ("falling", c_int),
        ("conclusion", c_int),
        ("is_ranker", c_int),
        ("model_failed", c_int),
        ("model_beaten", c_int),
        ("sentence", c_char * 1000),
        ("reserved", c_void_p * 4),
    ]


class CompareOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("folds", c_int),
        ("seed", c_uint64),
        ("threads", c_int),
        ("is_ranker", c_int),
        ("group", POINTER(c_char_p)),
    ]


class Tried(Structure):
    _fields_ = [
        ("settings", c_char * 256),
        ("whole", c_int),
        ("parts", c_int),
        ("exact", c_double),
        ("neighbours", c_double),
        ("tau", c_double),
        ("score", c_double),
        ("seconds", c_double),
    ]


class TuneProgress(Structure):
    _fields_ = [
        ("trials", c_int),
        ("most", c_int),
        ("seconds", c_double),
        ("seconds_left", c_double),
        ("count", c_int),
        ("tried", POINTER(Tried)),
    ]


TuneFunction = CFUNCTYPE(c_int, c_void_p, POINTER(TuneProgress))


class TuneOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("seconds", c_double),
        ("trials", c_int),
        ("group", c_void_p),
        ("path", c_char_p),
        ("resume", c_int),
        ("progress", TuneFunction),
        ("context", c_void_p),
    ]


class Tuned(Structure):
    _fields_ = [
        ("settings", c_char * 256),
        ("trials", c_int),
        ("stopped", c_int),
        ("new_trials", c_int),
        ("ranker", c_int),
        ("seconds", c_double),
        ("best", Tried),
        ("test", Report),
        ("test_default", Report),
        ("guess", c_double),
        ("reserved", c_void_p * 8),
    ]


class Tsp(Structure):
    _fields_ = [
        ("n", c_int),
        ("whole", c_int),
        ("xy", c_void_p),
        ("dist", c_void_p),
        ("name", c_char * 64),
        ("reserved", c_void_p * 4),
    ]


class TspOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("seconds", c_double),
        ("kicks", c_int64),
        ("seed", c_uint64),
        ("farthest", c_int),
        ("net", c_void_p),
        ("symmetries", c_int),
        ("shortest", c_int),
        ("stop", c_void_p),
        ("context", c_void_p),
        ("improve", c_int),
    ]


class TspProof(Structure):
    _fields_ = [
        ("length", c_double),
        ("bound", c_double),
        ("proven", c_int),
        ("nodes", c_int64),
        ("before", c_double),
        ("reserved", c_double * 3),
    ]


# ---- Functions -------------------------------------------------------------------------------------------

_PATH = FOLDER / "libordernet.so"
try:
    lib = ctypes.CDLL(str(_PATH))
except OSError as error:
    raise ImportError(
        f"the library of OrderNet cannot be loaded: {error}; install the package again (pip install . from a "
        "clone), rather than importing it from its source folder"
    ) from None

_ERR = POINTER(Error)
_SIGNATURES = {  # result, arguments; those of a missing result give a status
    "onet_version": (c_char_p, []),
    "onet_sets_read": (c_int, [POINTER(POINTER(SetsStruct)), c_char_p, POINTER(ReadOptions), _ERR]),
    "onet_sets_write": (c_int, [POINTER(SetsStruct), c_char_p, c_int, _ERR]),
    "onet_sets_pick": (c_int, [POINTER(POINTER(SetsStruct)), POINTER(SetsStruct), c_void_p, _ERR]),
    "onet_sets_hold_out": (c_int, [c_void_p, POINTER(SetsStruct), POINTER(c_char_p), c_size_t, c_uint64, _ERR]),
    "onet_sets_look_like_ranks": (c_int, [POINTER(SetsStruct)]),
    "onet_sets_check": (c_int, [POINTER(SetsStruct), _ERR]),
    "onet_sets_free": (None, [POINTER(SetsStruct)]),
    "onet_read_defaults": (None, [POINTER(ReadOptions), c_size_t]),
    "onet_words_read": (c_int, [POINTER(c_void_p), c_char_p, _ERR]),
    "onet_words_free": (None, [c_void_p]),
    "onet_words_find": (ctypes.c_int32, [c_void_p, c_char_p, c_size_t, POINTER(c_int)]),
    "onet_words_text": (c_void_p, [c_void_p, ctypes.c_int32, POINTER(c_size_t)]),
    "onet_words_width": (c_int, [c_void_p]),
    "onet_bag_new": (c_int, [POINTER(c_void_p), c_void_p, _ERR]),
    "onet_bag_free": (None, [c_void_p]),
    "onet_bag_add": (c_int, [c_void_p, c_char_p, c_int, _ERR]),
    "onet_bag_count": (c_int, [c_void_p]),
    "onet_bag_word": (c_char_p, [c_void_p, c_int, POINTER(c_int)]),
    "onet_bag_set": (POINTER(SetsStruct), [c_void_p]),
    "onet_bag_write": (c_size_t, [c_void_p, c_void_p, c_int, c_char_p, c_size_t]),
    "onet_model_load": (c_int, [POINTER(c_void_p), c_char_p, _ERR]),
    "onet_model_save": (c_int, [c_void_p, c_char_p, _ERR]),
    "onet_model_free": (None, [c_void_p]),
    "onet_model_to_bytes": (c_int, [c_void_p, POINTER(c_void_p), POINTER(c_size_t), _ERR]),
    "onet_model_from_bytes": (c_int, [POINTER(c_void_p), c_char_p, c_size_t, _ERR]),
    "onet_bytes_free": (None, [c_void_p]),
    "onet_model_settings": (POINTER(Settings), [c_void_p]),
    "onet_model_width": (c_int, [c_void_p]),
    "onet_model_feature": (c_int, [c_void_p, c_int, POINTER(Feature)]),
    "onet_model_parameters": (c_size_t, [c_void_p, c_int]),
    "onet_model_record_at": (c_char_p, [c_void_p, c_size_t, POINTER(c_char_p)]),
    "onet_model_checksum": (None, [c_void_p, c_char * 65]),
    "onet_model_words": (c_void_p, [c_void_p]),
    "onet_model_columns": (c_void_p, [c_void_p]),
    "onet_columns_new": (c_int, [POINTER(c_void_p), c_int, POINTER(c_char_p), c_char_p, c_char_p, _ERR]),
    "onet_columns_free": (None, [c_void_p]),
    "onet_columns_width": (c_int, [c_void_p]),
    "onet_columns_inputs": (c_int, [c_void_p]),
    "onet_columns_name": (c_char_p, [c_void_p, c_int]),
    "onet_columns_set": (c_char_p, [c_void_p]),
    "onet_columns_missing": (c_int, [c_void_p]),
    "onet_sets_fill": (c_int, [POINTER(POINTER(SetsStruct)), POINTER(SetsStruct), c_void_p, c_int, _ERR]),
    "onet_settings_preset": (c_int, [POINTER(Settings), c_char_p, _ERR]),
    "onet_orderer_new": (c_int, [POINTER(c_void_p), c_void_p, POINTER(OrderOptions), _ERR]),
    "onet_orderer_free": (None, [c_void_p]),
    "onet_orderer_run": (c_int, [c_void_p, POINTER(SetsStruct), c_void_p, _ERR]),
    "onet_orderer_score_steps": (c_int, [c_void_p, POINTER(SetsStruct), c_void_p, c_void_p, _ERR]),
    "onet_model_merge": (c_int, [POINTER(c_void_p), POINTER(c_void_p), c_size_t, _ERR]),
    "onet_tune_defaults": (None, [POINTER(TuneOptions), c_size_t]),
    "onet_tune": (c_int, [POINTER(TrainOptions), POINTER(Tuned), POINTER(SetsStruct), POINTER(TuneOptions), _ERR]),
    "onet_train_defaults": (None, [POINTER(TrainOptions), c_size_t]),
    "onet_train": (c_int, [POINTER(c_void_p), POINTER(SetsStruct), POINTER(SetsStruct), POINTER(TrainOptions), _ERR]),
    "onet_measure_each": (c_int, [c_void_p, POINTER(SetsStruct), c_void_p, c_void_p, _ERR]),
    "onet_measure_mean": (None, [POINTER(Report), c_void_p, c_void_p, c_size_t]),
    "onet_measure_importance": (
        c_int,
        [POINTER(ImportanceStruct), c_void_p, POINTER(SetsStruct), c_void_p, c_int, c_int, c_uint64, _ERR],
    ),
    "onet_model_kind": (c_char_p, [c_void_p]),
    "onet_ranker_train": (c_int, [POINTER(c_void_p), POINTER(SetsStruct), POINTER(RankerOptions), _ERR]),
    "onet_compare": (
        c_int,
        [POINTER(ComparisonStruct), POINTER(SetsStruct), POINTER(SetsStruct), c_void_p, POINTER(CompareOptions), _ERR],
    ),
    "onet_region_of": (c_int, [c_char_p]),
    "onet_pages_new": (c_int, [POINTER(c_void_p), c_void_p, POINTER(OrderOptions), _ERR]),
    "onet_pages_free": (None, [c_void_p]),
    "onet_pages_order": (
        c_int,
        [c_void_p, c_void_p, c_void_p, c_int, c_int, c_void_p, POINTER(c_int), _ERR],
    ),
    "onet_tsp_points": (c_int, [POINTER(Tsp), c_int, c_void_p, _ERR]),
    "onet_tsp_free": (None, [POINTER(Tsp)]),
    "onet_tsp_length": (c_double, [POINTER(Tsp), c_void_p]),
    "onet_tsp_is_tour": (c_int, [c_int, c_void_p]),
    "onet_tsp_net_new": (c_int, [POINTER(c_void_p), c_void_p, POINTER(OrderOptions), _ERR]),
    "onet_tsp_net_free": (None, [c_void_p]),
    "onet_tsp_defaults": (None, [POINTER(TspOptions), c_size_t]),
    "onet_tsp_stop_flag": (c_int, [c_void_p]),
    "onet_tsp_solve": (c_int, [POINTER(Tsp), c_int, POINTER(TspOptions), c_void_p, POINTER(TspProof), _ERR]),
}
_CHOICES = (
    "formats",
    "missings",
    "pools",
    "decodes",
    "schedules",
    "batch_kinds",
    "norm_statistics",
    "precisions",
    "scales",
    "letter_cases",
    "tsp_methods",
)
for _name, (_result, _arguments) in _SIGNATURES.items():
    _function = getattr(lib, _name)
    _function.restype = _result
    _function.argtypes = _arguments
for _name in _CHOICES:
    _function = getattr(lib, f"onet_{_name}")
    _function.restype = POINTER(Choice)
    _function.argtypes = []

__version__: str = lib.onet_version().decode()


# What Python calls fields that have another name here; None: nothing.
_RENAMED: Dict[str, Optional[str]] = {
    "onet_read_options.set_column": "set",
    "onet_read_options.rank_column": "rank",
    "onet_read_options.words": "vectors",
    "onet_read_options.columns": "model",
    "onet_read_options.delimiter": None,
    "onet_write_options.set_column": None,
    "onet_write_options.rank_column": None,
    "onet_write_options.format": None,
    "onet_write_options.made": None,
    "onet_order_options.max_items": None,
    "onet_train_options.keep": "force",
    "onet_train_options.model_path": "path",
    "onet_settings.width": None,
}


def sentence(err: Error) -> str:
    """The library's sentence, and the parameters that it is about: "... or name the features (features=)"."""
    text = err.text.decode("utf-8", "replace")
    fields = err.field.decode().split()
    names = [_RENAMED.get(field, field.partition(".")[2]) for field in fields]
    named = ", ".join(f"{name}=" for name in names if name)
    return f"{text} ({named})" if named else text


def fail(status: int, err: Error, bad: Optional[Type[OrderNetError]] = None, path: Any = None) -> None:
    """Raises the exception of a status, with the library's sentence; `bad` stands for that of ONET_BAD."""
    text = sentence(err)
    if status == IO and path is not None and not os.path.exists(path):
        missing = MissingFileError(text)
        missing.errno, missing.strerror = errno.ENOENT, os.strerror(errno.ENOENT)
        missing.filename = os.fsdecode(path)
        raise missing
    kind = bad if bad and status == BAD else _EXCEPTIONS.get(status, OrderNetError)
    raise kind(text)


def call(name: str, *arguments: Any, bad: Optional[Type[OrderNetError]] = None, path: Any = None) -> None:
    """Calls a function that takes an onet_error last; raises where its status is not 0. path: what it reads."""
    err = Error()
    status = getattr(lib, name)(*arguments, byref(err))
    if status:
        fail(status, err, bad, path)


def choices(name: str) -> Dict[str, int]:
    """Names and values of a list of choices: choices("pools")."""
    entry, found, i = getattr(lib, f"onet_{name}")(), {}, 0
    while entry[i].name:
        found[entry[i].name.decode()] = entry[i].value
        i += 1
    return found


def choose(name: str, value: Any, parameter: str) -> int:
    known = choices(name)
    if not isinstance(value, str) or value not in known:
        raise UsageError(f"{parameter} is {value!r}: it must be one of {', '.join(map(repr, known))}")
    return known[value]


def path_bytes(path: Any) -> bytes:
    """A path as the library takes it; "-" is a file of that name here, not standard input."""
    try:
        text = os.fsencode(path)
    except TypeError:
        raise WrongTypeError(f"the path is of type {type(path).__name__}, where a text or a Path is expected") from None
    except UnicodeEncodeError:
        raise UsageError(f"the path {path!r} is not valid Unicode text") from None
    if b"\0" in text:
        raise UsageError("the path has a NUL byte in it")
    return b"./-" if text == b"-" else text


def text_bytes(value: Any, name: str) -> bytes:
    """A name as the library takes it."""
    try:
        text = str(value).encode()
    except UnicodeEncodeError:
        raise UsageError(f"{name} is {value!r}, which is not valid Unicode text") from None
    if b"\0" in text:
        raise UsageError(f"{name} is {value!r}, which has a NUL character in it")
    return text


def whole(value: Any, name: str, low: int, high: int) -> int:
    """A whole number from low to high, or UsageError."""
    number = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        raise UsageError(f"{name} is {value!r}: it must be a whole number from {low} to {high}")
    return int(value)


# Threads do not survive a fork: what holds some was made in the generation of its process alone.
generation = 0


def _forked() -> None:
    global generation
    generation += 1


os.register_at_fork(after_in_child=_forked)


def interruptible(
    work: Callable[[], int],
    stop: Callable[[], None],
    watch: Optional[Callable[[], None]] = None,
    wake: Optional[threading.Event] = None,
) -> int:
    """Runs work(), a long call of the library, in a thread, so that Ctrl-C reaches this one at once.

    watch() is called whenever `wake` is set, and at the end. What it raises, as KeyboardInterrupt, calls
    stop(), waits for the work to end and is then raised.
    """
    signal = wake or threading.Event()
    result: list = []

    def run() -> None:
        try:
            result.append(work())
        finally:
            result.append(None)  # also where work() raised: threading shows why
            signal.set()

    thread = threading.Thread(target=run, name="ordernet", daemon=True)
    thread.start()
    try:
        while not result:
            signal.wait()
            signal.clear()
            if watch:
                watch()
        thread.join()
        if watch:
            watch()
    except BaseException:
        stop()
        while thread.is_alive():
            try:
                thread.join()
            except KeyboardInterrupt:  # once is enough
                pass
        raise
    return result[0]
