"""Loads the C library with ctypes: its structs and functions, statuses as exceptions, long calls that Ctrl-C ends.

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
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

FOLDER = Path(__file__).resolve().parent
MODELS = FOLDER / "models"


# ---- Errors ----------------------------------------------------------------------------------------------


class OrderNetError(Exception):
    """The base class of every exception of this package."""


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
        """The library's error message; OSError would make one of errno and filename."""
        return str(self.args[0])


class OutOfMemoryError(OrderNetError, MemoryError):
    """The library found no memory."""


class WrongTypeError(UsageError, TypeError):
    """An argument of the wrong type, or an object that cannot be pickled."""


class UnknownSetError(DataError, IndexError):
    """sets[s] with an index out of range."""


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


_C_TYPES = {
    "char": c_char,
    "double": c_double,
    "int": c_int,
    "pointer": c_void_p,
    "size_t": c_size_t,
    "string": c_char_p,
    "uint64": c_uint64,
}


def _members(text: str) -> List[Tuple[str, Any]]:
    """Members of a struct, declared as in C: "size_t count; int width; char hash[65]"."""
    out = []
    for declaration in text.split("; "):
        kind, names = declaration.split(" ", 1)
        for name, _, count in (name.partition("[") for name in names.split(", ")):
            out.append((name, _C_TYPES[kind] * int(count[:-1]) if count else _C_TYPES[kind]))
    return out


class Error(Structure):
    _fields_ = [("text", c_char * 960), ("field", c_char * 64)]


class Choice(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("value", c_int)]


class PairsStruct(Structure):
    _fields_ = [
        ("width", c_int),
        ("row", c_void_p),
        ("value", c_void_p),
        ("names", c_char_p),
        ("fill", c_void_p),
        ("reserved", c_void_p * 3),
    ]


class LostStruct(Structure):
    _fields_ = [
        ("width", c_int),
        ("feature", c_void_p),
        ("span", c_void_p),
        ("hash", c_void_p),
        ("reserved", c_void_p * 2),
    ]


class SetsStruct(Structure):
    _fields_ = [
        *_members("size_t count; int width; pointer start, items, word, words, order, context, constraints"),
        *_members("size_t constraint_count; char hash[65]; pointer columns, lost, exact, pairs"),
    ]


class ReadOptions(Structure):
    _fields_ = [
        *_members("size_t size; int format; string set_column, rank_column, features; int width; pointer words"),
        *_members("pointer bytes, context, columns; int missing, one_set, delimiter, mixed; string group_column"),
        *_members("string pairs, name_column, relations; pointer relation_fill"),
    ]


class Answer(Structure):
    _fields_ = [
        *_members("int found; pointer order, logprob, step, step_logprob, reserved[3]"),
    ]


class Settings(Structure):
    _fields_ = [
        *_members("int width, encoder_blocks, hidden, encoder_out, pool, decoder_blocks, decoder_out, relative"),
        *_members("int relations, reserved[7]"),
    ]


class OrderOptions(Structure):
    _fields_ = [
        *_members("size_t size; int decode, beam, top; uint64 seed; int threads; string kernels, device"),
        *_members("pointer world; int max_items; pointer progress, context, stop"),
    ]


class ProgressStruct(Structure):
    _fields_ = [
        *_members("int epoch, epochs; uint64 step, steps; double loss, learning_rate, valid_exact"),
        *_members("double examples_per_second, seconds, seconds_left, valid_loglik; int best_epoch"),
        *_members("uint64 steps_before, resumed_at; int ended, model, models"),
    ]


ProgressFunction = CFUNCTYPE(c_int, c_void_p, POINTER(ProgressStruct))


class TrainOptions(Structure):
    _fields_ = [
        *_members("size_t size"),
        ("settings", Settings),
        *_members("int batch, epochs; uint64 max_steps; double learning_rate; int schedule; double warmup, beta1"),
        *_members("double beta2, epsilon, weight_decay, clip, average; int batches, statistics; uint64 seed"),
        *_members("int standardise, train_vectors; double forget, drop, jitter; int threads; string kernels, device"),
        *_members("int precision; string model_path; double checkpoint_seconds; int resume, valid_limit, patience"),
        ("progress", ProgressFunction),
        *_members("pointer context, from_, world; int keep, keep_stopped"),
        ("best", POINTER(c_void_p)),
        *_members("int half, models; double stray; string scale; int within; string relate; int crop"),
        *_members("double dropout; int vary"),
    ]


class Feature(Structure):
    _fields_ = [
        *_members("int scale, within, centred, crowded, exact, reserved[11]"),
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
        ("probability", Measure),
        ("calibration", Measure),
        ("calibration_chance", Measure),
        ("reserved", Measure * 3),
    ]


class Calibration(Structure):
    _fields_ = [("temperature", c_double), ("before", Report), ("after", Report), ("reserved", c_double * 8)]


class SetMeasure(Structure):
    _fields_ = [
        *_members("size_t n, placed; double exact, position, tau, neighbours, loglik, probability, reserved[3]"),
    ]


class ImportanceStruct(Structure):
    _fields_ = [("exact", Measure), ("loglik", Measure), ("reserved", Measure * 2)]


class RankerOptions(Structure):
    _fields_ = [
        *_members("size_t size; double penalty; int relative, standardise; uint64 seed; int threads; string scale"),
        *_members("int within"),
    ]


class ComparisonStruct(Structure):
    _fields_ = [
        ("guess", Report),
        ("column", Report),
        ("ranker", Report),
        ("model", Report),
        *_members("int feature, falling, conclusion, is_ranker, model_failed, model_beaten; char sentence[1000]"),
        *_members("size_t distinct, learned; pointer reserved[2]"),
    ]


class CompareOptions(Structure):
    _fields_ = [
        *_members("size_t size; int folds; uint64 seed; int threads, is_ranker"),
        ("group", POINTER(c_char_p)),
        *_members("size_t learned"),
    ]


class Tried(Structure):
    _fields_ = [
        *_members("char settings[256]; int whole, parts; double exact, neighbours, tau, score, seconds"),
    ]


class TuneProgress(Structure):
    _fields_ = [
        *_members("int trials, most; double seconds, seconds_left; int count"),
        ("tried", POINTER(Tried)),
    ]


TuneFunction = CFUNCTYPE(c_int, c_void_p, POINTER(TuneProgress))


class TuneOptions(Structure):
    _fields_ = [
        *_members("size_t size; double seconds; int trials; pointer group; string path; int resume"),
        ("progress", TuneFunction),
        *_members("pointer context; string keep"),
    ]


class Tuned(Structure):
    _fields_ = [
        *_members("char settings[256]; int trials, stopped, new_trials, ranker; char kernels[32]; double seconds"),
        ("best", Tried),
        ("test", ComparisonStruct),
        ("test_default", Report),
        *_members("int test_models; pointer reserved[8]"),
    ]


class Tsp(Structure):
    _fields_ = [
        *_members("int n, whole; pointer xy, dist; char name[64]; size_t asymmetric; pointer reserved[3]"),
    ]


class TspOptions(Structure):
    _fields_ = [
        *_members("size_t size; double seconds"),
        ("kicks", c_int64),
        *_members("uint64 seed; int farthest; pointer net; int symmetries, shortest; pointer stop, context"),
        *_members("int improve"),
    ]


class TspProof(Structure):
    _fields_ = [
        *_members("double length, bound; int proven"),
        ("nodes", c_int64),
        *_members("double before, reserved[3]"),
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
    "onet_sets_join": (c_int, [POINTER(POINTER(SetsStruct)), c_void_p, c_size_t, _ERR]),
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
    "onet_model_relations": (c_char_p, [c_void_p]),
    "onet_model_relation_fill": (c_void_p, [c_void_p]),
    "onet_model_given_relations": (c_int, [c_void_p]),
    "onet_model_relate": (c_char_p, [c_void_p]),
    "onet_columns_new": (c_int, [POINTER(c_void_p), c_int, POINTER(c_char_p), c_char_p, c_char_p, _ERR]),
    "onet_columns_free": (None, [c_void_p]),
    "onet_columns_width": (c_int, [c_void_p]),
    "onet_columns_inputs": (c_int, [c_void_p]),
    "onet_columns_name": (c_char_p, [c_void_p, c_int]),
    "onet_columns_span": (c_int, [c_void_p, c_int]),
    "onet_columns_kind": (c_char_p, [c_void_p, c_int]),
    "onet_text_spelling": (c_char_p, [c_char_p]),
    "onet_columns_set_kinds": (c_int, [c_void_p, c_char_p, _ERR]),
    "onet_columns_misspelt": (c_char_p, [c_void_p]),
    "onet_columns_unknown": (c_char_p, [c_void_p]),
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
    "onet_text_value": (c_int, [c_char_p, POINTER(c_double)]),
    "onet_sets_oddities": (c_int, [POINTER(SetsStruct), c_char_p, c_size_t, _ERR]),
    "onet_model_calibrate": (
        c_int,
        [c_void_p, POINTER(SetsStruct), POINTER(OrderOptions), POINTER(Calibration), _ERR],
    ),
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
    "onet_pages_order_confidence": (
        c_int,
        [c_void_p, c_void_p, c_void_p, c_int, c_int, c_void_p, POINTER(c_int), POINTER(c_double), _ERR],
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
    "variations",
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


# Fields whose parameter has another name in Python; None: there is no such parameter.
_RENAMED: Dict[str, Optional[str]] = {
    "onet_read_options.set_column": "set",
    "onet_read_options.rank_column": "rank",
    "onet_read_options.name_column": "name",
    "onet_read_options.words": "vectors",
    "onet_read_options.columns": "model",
    "onet_read_options.delimiter": None,
    "onet_write_options.set_column": None,
    "onet_write_options.rank_column": None,
    "onet_write_options.format": None,
    "onet_write_options.made": None,
    "onet_order_options.max_items": None,
    "onet_train.train": None,
    "onet_train.valid": None,
    "onet_train_options.keep": "force",
    "onet_train_options.model_path": "path",
    "onet_settings.width": None,
}


def sentence(err: Error) -> str:
    """The library's error message, with the parameters that it is about: "... or name the features (features=)"."""
    text = err.text.decode("utf-8", "replace")
    fields = err.field.decode().split()
    names = [_RENAMED.get(field, field.partition(".")[2]) for field in fields]
    named = ", ".join(f"{name}=" for name in names if name)
    return f"{text} ({named})" if named else text


def fail(status: int, err: Error, bad: Optional[Type[OrderNetError]] = None, path: Any = None) -> None:
    """Raises the exception that belongs to a status, with the library's error message; bad: the class for ONET_BAD."""
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
    """The names and values of an onet_choice list, such as choices("pools"), as a dict."""
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
    """Encodes a path for the library; "-" is a file of that name here, not standard input."""
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
    """Encodes a name for the library."""
    try:
        text = str(value).encode()
    except UnicodeEncodeError:
        raise UsageError(f"{name} is {value!r}, which is not valid Unicode text") from None
    if b"\0" in text:
        raise UsageError(f"{name} is {value!r}, which has a NUL character in it")
    return text


def whole(value: Any, name: str, low: int, high: int) -> int:
    """Returns a whole number from low to high as an int; else raises UsageError."""
    number = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        raise UsageError(f"{name} is {value!r}: it must be a whole number from {low} to {high}")
    return int(value)


def flag(value: Any, name: str) -> int:
    """Returns a truth value as 0 or 1; else raises UsageError: a text such as "false" would be true."""
    whole_number = isinstance(value, numbers.Integral) or type(value).__name__ in ("bool", "bool_")  # NumPy's
    if not whole_number or value not in (0, 1):
        raise UsageError(f"{name} is {value!r}: it must be True or False")
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
