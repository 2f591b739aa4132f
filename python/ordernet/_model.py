"""Defines the estimator class OrderNet (fit, predict, evaluate, save, ...), which follows scikit-learn's conventions, and the
functions load and merge.
"""

from __future__ import annotations

import ctypes
import inspect
import math
import os
import re
import threading
import warnings
from collections import deque
from ctypes import byref, c_void_p
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Union

import numpy as np

from . import _library
from ._arrays import _address, _is_frame, _listed, _numbers, _rounded
from ._frames import need_frame
from ._engine import BEAM, SAMPLE, Answers, Engine, Orderer, order_key
from ._library import (
    DataError,
    ModelError,
    NotFittedError,
    ProgressFunction,
    Report,
    SetMeasure,
    TrainOptions,
    UsageError,
    WrongTypeError,
    call,
    lib,
)
from ._library import whole as _whole
from ._progress import Progress, SearchLine, bar, search_text, shows
from ._sets import Sets, as_sets, names_of

#: What a report has, each as (mean, low, high): low and high are the ends of its 95% interval.
MEASURES = ("exact", "position", "tau", "loglik", "neighbours", "loglik_all", "probability", "calibration",
            "calibration_chance")

_NETS = ("encoder_blocks", "hidden", "encoder_out", "decoder_blocks", "decoder_out")
_PLAIN = (
    "batch",
    "epochs",
    "max_steps",
    "learning_rate",
    "warmup",
    "beta1",
    "beta2",
    "epsilon",
    "weight_decay",
    "clip",
    "average",
    "seed",
    "standardise",
    "train_vectors",
    "forget",
    "drop",
    "jitter",
    "stray",
    "crop",
    "dropout",
    "threads",
    "valid_limit",
    "patience",
    "half",
    "models",
    "checkpoint_seconds",
)
_DECAY_AUTO = -1.0  # ONET_DECAY_AUTO
#: What a search may change, beside the net.
_TUNED = ("epochs", "batch", "learning_rate", "weight_decay", "drop", "jitter", "stray", "crop", "models")
_CHOSEN = {
    "schedule": "schedules",
    "batches": "batch_kinds",
    "statistics": "norm_statistics",
    "precision": "precisions",
    "vary": "variations",
}


def _scale_text(feature: _library.Feature) -> str:
    """How the model scales a feature, in the words of ``ordernet inspect``."""
    name = next(choice for choice, value in _library.choices("scales").items() if value == feature.scale)
    return name + (", centred in double" if feature.centred else "") + (", rank within the set" if feature.within else "")


class _Start:
    """Wraps a fitted model's weights as a constructor parameter, so that scikit-learn's clone() copies them; cloning the model
    itself would drop them."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def __deepcopy__(self, _: Any) -> "_Start":
        return self  # an Engine never changes

    def __reduce__(self) -> Any:
        return _start_of, (self.engine.to_bytes(),)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Start) and other.engine.checksum() == self.engine.checksum()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<the weights of a fitted model, {self.engine.checksum()[:8]}>"


def _start_of(data: bytes) -> _Start:
    return _Start(Engine.from_bytes(data))


class OrderNet:
    """A neural network that learns an order from examples, and puts new sets in order.

    Every parameter has the name, the meaning and the default of the program's option (``ordernet train
    --help``).

    Parameters
    ----------
    epochs, batch, max_steps
        passes over the training sets; sets per step; steps at most, 0: no limit but the epochs.
    learning_rate, schedule, warmup, beta1, beta2, epsilon, weight_decay, clip, average
        of Adam: "cosine" or "constant" schedule, share of the steps with a rising rate, decoupled weight decay
        ("auto": the stronger, the fewer the training sets), largest norm of the gradient, decay of the average of the
        weights.
    preset, encoder_blocks, hidden, encoder_out, pool, decoder_blocks, decoder_out, relative
        the net: "default", "tsp" or "words", and what differs from it (None: as the preset says). relative=True
        gives each feature a second time, relative to the set.
    scale, within
        how features are scaled: "auto" looks at each, "standard" is mean 0 and variance 1, "quantile" the share of the
        training data that is smaller, "none" as it is; single features by name, or by number from 1, as in
        "quantile:price,standard:x". within=True gives each feature's rank within the set too. ``scales_`` says what was
        chosen.
    relate
        relations between items that are made from their features, beside those of the sets: a list such as
        "distance:x+y,difference:age,equal:type" of distance (Euclidean), difference (the second less the first, for each
        column), product (summed over the columns) and equal (1 or 0), with columns by name, or by number from 1; all
        where none is named. The model keeps the list and makes them itself.
    standardise, train_vectors
        standardise=False: features are not scaled, unless ``scale`` says so; train_vectors=True: word vectors are trained too.
    drop, jitter, stray, crop, dropout, forget
        augmentation, drawn anew in each epoch. drop: up to this share of a set's items is left out; jitter: noise on features,
        in standard deviations of each; stray: at this share of the steps a random item is placed, not the right one; crop:
        larger sets are trained on this many consecutive items of their order, 0: whole; dropout: this share of the encoder's
        pooled features is set to 0; forget: this share of the words is taken for unknown.
    batches, statistics, precision, half
        "mixed" or "one-size"; "running" or "measured"; "float32", "tf32" or "bf16" (both on a GPU); half=True rounds
        the weights of the model to half precision, which halves its file.
    holdout
        where ``fit`` is given no validation sets: take some out of the data, drawn by the seed; a share as "10%"
        or 0.1, or a number of sets. Equal sets, and those of one group, stay together.
    missing
        what becomes of NaN in the arrays that ``fit`` is given, as for Sets; a Sets has its own setting.
    patience, valid_limit, keep
        stop when validation has not improved for so many epochs, 0: never; validation sets looked at, 0: all;
        "last" keeps the weights of the last epoch, as the program does, "best" those of the best by validation.
    models, vary
        train so many, with the seeds seed, seed + 1, ..., and merge them into one (see ``merge``), which is right
        more often than one of them; in scikit-learn's words the number of estimators of an ensemble. vary: what else
        differs: "nothing", or "within" or "relative", which is switched in the second of every four models.
    tune
        look for the best parameters first, as ``--tune`` does: a time ("5m", "90s", "2h"; True: 5 minutes) or a
        number of trials (40), which gives the same model wherever the same kernels run. Parameters that differ from their
        defaults stay as they are. ``tuned_`` has what came out.
    pretrained
        fine-tuning (``--from``): a path, or a fitted OrderNet, whose weights the training starts with. In the grid of a
        search give paths: scikit-learn clones models there without what they were fitted to.
    checkpoint_seconds
        time between two checkpoints, where ``fit`` is given a path.
    beam
        width of the search when sets are ordered; 1: greedy.
    seed, threads, kernels, device
        threads 0: one for each CPU; device "auto", "cpu", "cuda" or "cuda:N".
    progress
        "auto" shows a bar in a terminal or notebook, True always, False never.

    Attributes, after ``fit``
    -------------------------
    history_
        lists by name, one entry per epoch of each model: model, epoch, loss, learning_rate, valid_exact,
        valid_loglik, seconds.
    best_epoch_
        the epoch with the highest log-likelihood of the validation sets, 0 without validation; of the last model.
    report_
        with validation sets, or after a search (tune) on test sets unused in it: what the model is worth, beside
        guessing, the best single feature and a linear ranker: a dict of guessing, column, ranker and model, each with
        exact and tau as (mean, low, high); best, which of them is enough; model_failed, whether the model is no better
        than guessing; conclusion, a sentence; oddities, where the model failed or a simple rule is better, what is odd
        about the data; sets, distinct_sets and learned_sets, how many were measured, and how many of these are
        distinct and equal to a training set.
    scales_
        what is done with each feature, a dict of text by its name, or by its number from 0.
    kind_
        "network", or "ranker" for the model of a Ranker.
    tuned_
        after a search (tune): "params", the parameters chosen, "ranker", whether the linear ranker is the model,
        "trials", "seconds", and on test sets that the search does not use "exact", "exact_default" (the parameters as
        they were), each as (mean, low, high), and "guess".
    n_features_in_, feature_names_in_ (where the sets had names), n_parameters_, record_, checksum_
        features per item; trained parameters; the training record of the model file; its SHA-256.
    """

    def __init__(
        self,
        *,
        epochs: int = 20,
        batch: int = 32,
        max_steps: int = 0,
        learning_rate: float = 5e-3,
        schedule: str = "cosine",
        warmup: float = 0.02,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: Union[float, str] = "auto",
        clip: float = 1.0,
        average: float = 0.999,
        preset: str = "default",
        encoder_blocks: Optional[int] = None,
        hidden: Optional[int] = None,
        encoder_out: Optional[int] = None,
        pool: Optional[str] = None,
        decoder_blocks: Optional[int] = None,
        decoder_out: Optional[int] = None,
        relative: bool = False,
        standardise: bool = True,
        scale: str = "auto",
        within: bool = False,
        relate: Optional[str] = None,
        drop: float = 0.0,
        jitter: float = 0.0,
        stray: float = 0.0,
        crop: int = 0,
        dropout: float = 0.0,
        train_vectors: bool = False,
        forget: float = 0.0,
        batches: str = "mixed",
        statistics: str = "running",
        precision: str = "float32",
        half: bool = False,
        holdout: Union[str, float, None] = None,
        missing: str = "error",
        patience: int = 0,
        valid_limit: int = 2000,
        keep: str = "last",
        models: int = 1,
        vary: str = "nothing",
        tune: Union[None, bool, int, str] = None,
        pretrained: Any = None,
        checkpoint_seconds: float = 60,
        beam: int = 5,
        seed: int = 1,
        threads: int = 0,
        kernels: str = "auto",
        device: str = "auto",
        progress: Union[bool, str] = "auto",
    ) -> None:
        self.epochs = epochs
        self.batch = batch
        self.max_steps = max_steps
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.warmup = warmup
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.clip = clip
        self.average = average
        self.preset = preset
        self.encoder_blocks = encoder_blocks
        self.hidden = hidden
        self.encoder_out = encoder_out
        self.pool = pool
        self.decoder_blocks = decoder_blocks
        self.decoder_out = decoder_out
        self.relative = relative
        self.standardise = standardise
        self.scale = scale
        self.within = within
        self.relate = relate
        self.drop = drop
        self.jitter = jitter
        self.stray = stray
        self.crop = crop
        self.dropout = dropout
        self.train_vectors = train_vectors
        self.forget = forget
        self.batches = batches
        self.statistics = statistics
        self.precision = precision
        self.half = half
        self.holdout = holdout
        self.missing = missing
        self.patience = patience
        self.valid_limit = valid_limit
        self.keep = keep
        self.models = models
        self.vary = vary
        self.tune = tune
        self.pretrained = pretrained
        self.checkpoint_seconds = checkpoint_seconds
        self.beam = beam
        self.seed = seed
        self.threads = threads
        self.kernels = kernels
        self.device = device
        self.progress = progress

    # ---- scikit-learn ----

    @classmethod
    def _names(cls) -> List[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The parameters by name. deep=False, as in scikit-learn's clone(): a fitted model in ``pretrained`` is replaced by its
        weights (_Start)."""
        params = {name: getattr(self, name) for name in self._names()}
        model = params.get("pretrained")
        if not deep and isinstance(model, OrderNet) and model.__sklearn_is_fitted__():
            params["pretrained"] = _Start(model._fitted())
        return params

    def set_params(self, **params: Any) -> "OrderNet":
        """Sets parameters by name; returns self."""
        known = self._names()
        for name, value in params.items():
            if name not in known:
                raise UsageError(f"there is no parameter {name!r}: it must be one of {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        plain = inspect.signature(type(self).__init__).parameters
        own = [
            f"{n}={v!r}" for n, v in self.get_params().items() if v is not plain[n].default and v != plain[n].default
        ]
        return f"{type(self).__name__}({', '.join(own)})"

    def __sklearn_is_fitted__(self) -> bool:
        return "_engine" in self.__dict__

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 and later ask for it
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True))

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(self.__dict__)
        engine = state.pop("_engine", None)
        if engine is not None:
            state["_bytes"] = engine.to_bytes()
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        data = state.pop("_bytes", None)
        self.__dict__.update(state)
        if data is not None:
            self._engine = Engine.from_bytes(data)

    # ---- Models from files ----

    @classmethod
    def from_pretrained(cls, path: Any, **params: Any) -> "OrderNet":
        """A fitted model from a file; ``fit`` then fine-tunes it. params: those of OrderNet, for ``fit``."""
        model = cls(pretrained=path, **params)
        model._take(Engine.load(path))
        return model

    def save(self, path: Any) -> None:
        """Writes the model file (.safetensors), which the program and the library read too."""
        self._fitted().save(path)

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        return self._fitted().to_bytes()

    def state_dict(self) -> Dict[str, np.ndarray]:
        """The tensors of the model file by name, as NumPy arrays; the twin in reference/ loads them (ordernet.torch)."""
        return self._fitted().tensors()

    def _fitted(self) -> Engine:
        try:
            return self.__dict__["_engine"]
        except KeyError:
            raise NotFittedError("this OrderNet is not fitted yet: call fit, or load a model") from None

    def _words(self) -> int:
        words = self._fitted().words
        if not words:
            raise ModelError("the model's items are numbers, not words")
        return words

    def _take(self, engine: Engine) -> None:
        self._engine = engine
        self.n_features_in_ = engine.features
        self.__dict__.pop("feature_names_in_", None)
        if engine.names is not None:
            self.feature_names_in_ = np.array(engine.names, dtype=object)
        self.kind_ = engine.kind
        names = names_of(engine.columns) or list(range(engine.width))
        self.scales_ = dict(zip(names, map(_scale_text, engine.scales())))
        self.n_parameters_ = int(lib.onet_model_parameters(engine.handle, 1))
        self.record_ = engine.record()
        self.checksum_ = engine.checksum()

    # ---- Training ----

    def _options(self) -> Tuple[TrainOptions, Optional[Engine]]:
        """The parameters as the library takes them, and the model that they start with."""
        options = TrainOptions()
        lib.onet_train_defaults(byref(options), ctypes.sizeof(options))
        call("onet_settings_preset", byref(options.settings), _library.text_bytes(self.preset, "preset"))
        options.settings.width = 0
        for name in _NETS:
            if getattr(self, name) is not None:
                _set(options.settings, name, getattr(self, name))
        if self.pool is not None:
            options.settings.pool = _library.choose("pools", self.pool, "pool")
        options.settings.relative = _library.flag(self.relative, "relative")
        for name in _PLAIN:
            value = getattr(self, name)
            _set(options, name, _DECAY_AUTO if name == "weight_decay" and value == "auto" else value)
        for name, names in _CHOSEN.items():
            setattr(options, name, _library.choose(names, getattr(self, name), name))
        options.scale = _library.text_bytes(self.scale, "scale")
        options.within = _library.flag(self.within, "within")
        options.relate = None if self.relate is None else _library.text_bytes(self.relate, "relate")
        options.kernels = _library.text_bytes(self.kernels, "kernels")
        options.device = _library.text_bytes(self.device, "device")
        if self.keep not in ("last", "best"):
            raise UsageError(f"keep is {self.keep!r}: it must be 'last' or 'best'")
        start = None
        if isinstance(self.pretrained, _Start):
            start = self.pretrained.engine
        elif isinstance(self.pretrained, OrderNet):
            if not self.pretrained.__sklearn_is_fitted__():
                raise NotFittedError(
                    "pretrained is a model that is not fitted: fit it first, or give the path of its file, which a grid of "
                    "scikit-learn's needs: it clones models without what they were fitted to"
                )
            start = self.pretrained._fitted()
        elif self.pretrained is not None:
            start = Engine.load(self.pretrained)
        if start is not None:
            options.from_ = start.handle
        return options, start

    def fit(
        self,
        sets: Any,
        orders: Any = None,
        valid: Any = None,
        callbacks: Union[Callable[[Progress], Any], Iterable[Callable[[Progress], Any]], None] = None,
        *,
        groups: Any = None,
        path: Any = None,
        resume: bool = False,
        force: bool = False,
    ) -> "OrderNet":
        """Trains on sets and their right orders; returns self.

        sets, orders
            as for Sets; or a Sets that has orders.
        valid
            sets to validate with after each epoch: (sets, orders), or a Sets that has orders.
        callbacks
            functions of a Progress, called a few times a second and at the end of each epoch, in this thread; the
            training waits for them. One that returns True ends the training there.
        groups
            for holdout and tune: the group of each set, as a document or a day, whose sets stay in one part; None or NaN for
            a set of its own.
        path
            where the model is written, as ``--model`` does: the checkpoint, the CSV log and the best model by
            validation stand beside it.
        resume, force
            go on from the checkpoint beside `path`, to the same model as an unbroken training; or replace what
            stands there, which is else refused.

        A UserWarning says where the orders look like ranks. Ctrl-C raises KeyboardInterrupt and leaves the model as trained so far.
        """
        options, start = self._options()
        if path is not None:
            options.model_path = _library.path_bytes(path)
            options.resume, options.keep = _library.flag(resume, "resume"), int(not _library.flag(force, "force"))
        elif resume or force:
            raise UsageError("resume and force are about the files of a training: give path too")
        words = start if start is not None and start.words else None
        by = start.columns if start is not None and start.fills else None
        train = as_sets(sets, orders, words, by, self.missing, start.columns if start is not None else None)
        _check_orders(train)
        self.__dict__.pop("tuned_", None)
        valid_sets, searched = None, self.tune is not None and self.tune is not False
        if self.holdout is not None:
            if valid is not None:
                raise UsageError("holdout takes validation sets out of the data: leave out valid")
            train, valid_sets, groups = train._hold_out(self.holdout, groups, _whole(self.seed, "seed", 0, 2**64 - 1))
        elif groups is not None and not searched:
            raise UsageError("groups say how holdout and tune divide the data: give one of them too")
        if valid is not None:
            pair = valid if isinstance(valid, tuple) else (valid, None)
            if len(pair) != 2:
                raise DataError("valid is a pair (sets, orders), or a Sets that has orders")
            by = train._struct.columns
            by = by if by and lib.onet_columns_missing(by) and not isinstance(pair[0], Sets) else None
            valid_sets = as_sets(pair[0], pair[1], words, by, like=train._struct.columns)
        if self.keep == "best" and valid_sets is None:
            raise UsageError("keep='best' needs validation sets: give some as valid=(sets, orders), or holdout='10%'")
        functions = [callbacks] if callable(callbacks) else _listed(callbacks or [], "callbacks", UsageError)
        if not all(map(callable, functions)):
            raise WrongTypeError("callbacks has what cannot be called: expected functions of a Progress")
        tuned = self._tune(options, train, groups, resume) if searched else None
        if tuned is not None and tuned.ranker:
            self._rank(options, train)
        else:
            self._run(options, train, valid_sets, functions)
        self._report(train, valid_sets, None if tuned is None else tuned.test)
        return self

    def _report(self, train: Sets, valid: Optional[Sets], tested: Any = None) -> None:
        """Sets report_: from a comparison on valid, else from tested, that of a search; without either there is none."""
        from ._compare import found_by, report

        self.__dict__.pop("report_", None)
        if valid is not None and valid._order is not None:
            self.report_ = report(self, train, valid, _whole(self.valid_limit, "valid_limit", 0, 2**31 - 1))
        elif tested is not None and tested.model.sets:
            self.report_ = found_by(tested, train.features, train)
        else:
            return
        learned, measured = self.report_["learned_sets"], self.report_["sets"]
        if learned:
            which = "these sets" if learned == measured else f"{learned} of the {measured} validation sets"
            warnings.warn(
                f"the model was trained on {which}: the figures say nothing about new data", UserWarning, stacklevel=3
            )
        if self.report_["model_failed"]:
            warnings.warn(self.report_["conclusion"], UserWarning, stacklevel=3)

    def _run(
        self, options: TrainOptions, train: Sets, valid: Optional[Sets], functions: List[Callable[[Progress], Any]]
    ) -> None:
        wake, waiting = threading.Event(), deque()  # type: ignore[var-annotated]
        heard, stop = threading.Semaphore(0), [0]

        def told(_: Any, now: Any) -> int:
            waiting.append(Progress(*(getattr(now.contents, name) for name in Progress._fields)))
            wake.set()
            if functions and not stop[0]:  # the training waits, so that it ends where a function says so
                heard.acquire()
            return stop[0]

        ended: Dict[Tuple[int, int], Progress] = {}  # of models that are trained at once the epochs end in any order
        last: List[Optional[Progress]] = [None]
        shown = bar(self.progress)

        def watch() -> None:
            while waiting:
                last[0] = now = waiting.popleft()
                if now.ended:
                    ended.setdefault((now.model, now.ended), now)
                if shown is not None:
                    shown.show(now)
                for function in functions:
                    if function(now) is True:
                        stop[0] = 1
                heard.release()

        model, best, err = c_void_p(), c_void_p(), _library.Error()
        options.progress = ProgressFunction(told)
        options.keep_stopped = 1
        if self.keep == "best":
            options.best = ctypes.pointer(best)

        def work() -> int:
            return lib.onet_train(
                byref(model),
                byref(train._struct),
                None if valid is None else byref(valid._struct),
                byref(options),
                byref(err),
            )

        def halt() -> None:
            stop[0] = 1
            heard.release()

        status = _library.INTERRUPTED
        try:
            status = _library.interruptible(work, halt, watch, wake)
        finally:
            if shown is not None:
                shown.close(last[0])
            last_engine = Engine(model) if model else None
            best_engine = Engine(best) if best else None
            engine = best_engine or last_engine
            if engine is not None:
                self._take(engine)
                names = ("model", "epoch", "loss", "learning_rate", "valid_exact", "valid_loglik", "seconds")
                self.history_ = {name: [getattr(ended[k]._replace(epoch=k[1]), name) for k in sorted(ended)] for name in names}
                self.best_epoch_ = last[0].best_epoch if last[0] else 0
        if status and not (status == _library.INTERRUPTED and engine is not None):
            _library.fail(status, err)

    # ---- The best parameters ----

    def _budget(self) -> Tuple[float, int]:
        """Seconds and trials; one of them is 0."""
        text = "5m" if self.tune is True else str(self.tune)
        found = re.fullmatch(r"(\d+(?:\.\d*)?)([smh]?)", text)
        if found is None or not float(found[1]) or (not found[2] and (not found[1].isdigit() or int(found[1]) < 4)):
            raise UsageError(
                f"tune is {self.tune!r}: it must be a time, as in '90s', '5m' or '2h', or a number of trials of 4 or more"
            )
        if not found[2]:
            return 0.0, int(found[1])
        return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]], 0

    def _tune(self, options: TrainOptions, train: Sets, groups: Any, resume: bool) -> Any:
        """Searches parameters, writes the best into options and returns the library's onet_tuned."""
        if options.patience:
            raise UsageError("tune divides the sets itself: leave out patience")
        how, result, err, stop = _library.TuneOptions(), _library.Tuned(), _library.Error(), [0]
        lib.onet_tune_defaults(byref(how), ctypes.sizeof(how))
        how.seconds, how.trials = self._budget()
        if options.model_path:
            how.path = re.sub(rb"\.safetensors$", b"", options.model_path) + b".trials.csv"
            how.resume = int(bool(resume))
            if options.keep and not resume and os.path.exists(how.path):
                raise UsageError(f"{os.fsdecode(how.path)} is there already: go on with resume=True, or replace it with force=True")
        if groups is not None:
            known: Dict[Any, int] = {}
            number = np.array(
                [known.setdefault((s,) if one is None else one, len(known)) for s, one in enumerate(train._groups(groups))],
                np.uintp,
            )
            how.group = _address(number)
        line, text, wake = SearchLine() if shows(self.progress) else None, [""], threading.Event()

        def told(_: Any, now: Any) -> int:
            if line is not None:
                text[0] = search_text(now.contents)
                wake.set()
            return stop[0]

        def watch() -> None:
            if line is not None and text[0]:
                line.show(text[0])

        how.progress = _library.TuneFunction(told)

        def work() -> int:
            return lib.onet_tune(byref(options), byref(result), byref(train._struct), byref(how), byref(err))

        def halt() -> None:
            stop[0] = 1

        try:
            status = _library.interruptible(work, halt, watch, wake)
        finally:
            if line is not None and text[0]:
                line.show(text[0], "\n")
        if status:
            _library.fail(status, err)
        params = {name: getattr(options.settings, name) for name in _NETS}
        params.update((name, getattr(options, name)) for name in _TUNED)
        if params["weight_decay"] == _DECAY_AUTO:
            params["weight_decay"] = "auto"
        params["relative"], params["within"] = bool(options.settings.relative), bool(options.within)
        params["scale"] = (options.scale or b"auto").decode()
        params["vary"] = next(name for name, value in _library.choices("variations").items() if value == options.vary)
        params["pool"] = next(name for name, value in _library.choices("pools").items() if value == options.settings.pool)
        interval = lambda measure: (measure.mean, measure.low, measure.high)  # noqa: E731
        self.tuned_ = {
            "params": params,
            "settings": result.settings.decode(),
            "ranker": bool(result.ranker),
            "trials": result.trials,
            "seconds": result.seconds,
            "exact": interval(result.test.model.exact),
            "exact_default": interval(result.test_default.exact),
            "guess": result.test.guess.exact.mean,
        }
        options.resume = int(bool(options.resume) and not result.new_trials)
        options.keep = int(options.keep and not resume)
        return result

    def _rank(self, options: TrainOptions, train: Sets) -> None:
        """Trains the linear ranker, which the search chose in place of the net, and takes it as the model."""
        model, ranker = c_void_p(), _library.RankerOptions(size=ctypes.sizeof(_library.RankerOptions))
        ranker.relative, ranker.standardise = options.settings.relative, options.standardise
        ranker.seed, ranker.threads = options.seed, options.threads
        ranker.scale, ranker.within = options.scale, options.within
        call("onet_ranker_train", byref(model), byref(train._struct), byref(ranker))
        self._take(Engine(model))
        self.history_, self.best_epoch_ = {}, 0
        if options.model_path:
            self.save(os.fsdecode(options.model_path))

    # ---- Ordering ----

    def _orderer(
        self, engine: Engine, top: int = 1, beam: Optional[int] = None, threads: Optional[int] = None
    ) -> Orderer:
        width = _whole(self.beam if beam is None else beam, "beam", 1, 100000)
        threads = _whole(self.threads if threads is None else threads, "threads", 0, 65536)
        return engine.take(BEAM, max(width, top), top, threads, str(self.kernels), str(self.device))

    def _given(self, sets: Any, orders: Any = None) -> Sets:
        engine = self._fitted()
        by = engine.columns if engine.fills else None
        given = as_sets(sets, orders, engine if engine.words else None, by, like=engine.columns)
        if given.width != engine.width:
            raise DataError(
                f"the sets have items of {given.width} features, but the model was trained on {engine.features}"
            )
        return given

    def predict(self, sets: Any, top: Optional[int] = None, beam: Optional[int] = None) -> List[np.ndarray]:
        """The most probable order of each set: a list of index arrays (items,), without context items.

        top
            that many orders of each set, best first: a list of arrays (found, items); a set of few items may
            have fewer.
        """
        return self._answers(sets, top, beam)[0]

    def _answers(self, sets: Any, top: Optional[int], beam: Optional[int]) -> Tuple[List[np.ndarray], Answers]:
        given, engine = self._given(sets), self._fitted()
        orderer = self._orderer(engine, top=1 if top is None else _whole(top, "top", 1, 100000), beam=beam)
        try:
            answers = engine.order_all(orderer, given)
        finally:
            engine.give(orderer)
        return answers.best() if top is None else answers.all(), answers

    def order(self, items: Any, top: Optional[int] = None) -> np.ndarray:
        """The order of one set, items (n, features) or a list of words: an index array (n,), or (found, n) with top."""
        engine = self._fitted()
        if isinstance(items, Sets):
            raise DataError("order takes the items of one set; predict takes Sets")
        if engine.words or engine.fills or (type(items) is not np.ndarray and _is_frame(items)):
            return self.predict([items], top)[0]
        if type(items) is not np.ndarray or items.dtype != np.float32:
            items, exact = _rounded(_numbers(items, "the set"))
            if exact is not None and engine.exact:
                return self.predict([exact], top)[0]
        if items.ndim != 2 or items.shape[1] != engine.width or not items.shape[0]:
            raise DataError(f"the set has shape {items.shape}, where (items, {engine.width}) is expected")
        orderer = self._orderer(engine, 1 if top is None else _whole(top, "top", 1, 100000), None, 1)
        try:
            order, found = engine.order_one(orderer, np.ascontiguousarray(items))
        finally:
            engine.give(orderer)
        return order[0] if top is None else order[:found]

    def predict_log_proba(self, sets: Any, orders: Any = None) -> np.ndarray:
        """The log-probability, (sets,), that the model gives to orders; to its own (predict) where there are none.

        sets, orders: as for Sets. Orders that a Sets has already count too.
        """
        given, engine = self._given(sets, orders), self._fitted()
        if given._order is None:
            return self._answers(given, None, None)[1].logprob[:, 0].copy()
        orderer = self._orderer(engine)
        try:
            return engine.score(orderer, given)
        finally:
            engine.give(orderer)

    def positions(self, items: Any, samples: int = 2000, seed: int = 1) -> np.ndarray:
        """How probable each item of one set is at each place: an array (n, n), ``[item, place]``. Context items (in a data frame
        those that the column ``context`` marks) are not placed: their rows are 0, and there are fewer places.

        Where the set has no more than `samples` orders, the probabilities of all are added up, and the matrix
        is exact. Else that many orders are drawn at random from the model: an entry p is within
        ``2 * sqrt(p * (1 - p) / samples)`` of the exact one in 19 cases of 20.
        """
        engine = self._fitted()
        one = self._given([items])
        n, placed = int(one.sizes[0]), int(one._placed()[0])
        samples = _whole(samples, "samples", 1, 10**7)
        exact = placed <= 10 and math.factorial(placed) <= samples
        top = math.factorial(placed) if exact else samples
        key = order_key(
            BEAM if exact else SAMPLE, top, top, _whole(seed, "seed", 0, 2**64 - 1), 1, str(self.kernels), "cpu"
        )
        orderer = Orderer(engine, key)  # its own: what it draws depends on what it drew before
        try:
            answers = engine.order_all(orderer, one)
        finally:
            orderer.free()
        orders = answers.all()[0]
        weight = np.exp(answers.logprob[0][: len(orders)]) if exact else np.full(len(orders), 1 / len(orders))
        matrix = np.zeros((n, orders.shape[1]))
        for place in range(orders.shape[1]):
            matrix[:, place] = np.bincount(orders[:, place], weight, n)
        return matrix

    # ---- Measures ----

    def score(self, sets: Any, orders: Any = None) -> float:
        """The share of sets that ``predict`` puts in exactly the right order."""
        return self.evaluate(sets, orders)["exact"][0]

    def evaluate(self, sets: Any, orders: Any = None) -> Dict[str, Tuple[float, float, float]]:
        """How well the answers agree with the right orders: each measure as (mean, low, high of its 95% interval).

        exact: share of sets in exactly the right order; position: of items at the right place; tau: Kendall's;
        neighbours: share of right neighbours; loglik: log-likelihood of the right order per step, the mean over
        sets; loglik_all: over all steps; probability: of the answers, by the model; calibration: expected calibration
        error; calibration_chance: what it would be by chance if the probabilities were right.
        """
        given = self._with_orders(sets, orders)
        each = self._each_of(given)
        report = Report()
        lib.onet_measure_mean(byref(report), each, None, len(given))
        return _measures(report)

    def calibrate(self, sets: Any, orders: Any = None) -> Dict[str, Any]:
        """Calibrates the model: divides its logits by the temperature at which the probabilities of its answers to these sets fit
        best. Give sets that it was not trained on, and measure the result on others.

        Returns temperature; before, after: the measures of ``evaluate`` on these sets, without the likelihoods.
        """
        given, engine = self._with_orders(sets, orders), self._fitted()
        width, threads = _whole(self.beam, "beam", 1, 100000), _whole(self.threads, "threads", 0, 65536)
        key = order_key(BEAM, width, 1, 0, threads, str(self.kernels), str(self.device))
        calibrated, found = engine.calibrated(given, key)
        self._take(calibrated)
        return {
            "temperature": found.temperature,
            "before": _measures(found.before, "loglik"),
            "after": _measures(found.after, "loglik"),
        }

    def importance(self, sets: Any, orders: Any = None, repeats: int = 5, seed: int = 1) -> List[Dict[str, Any]]:
        """Permutation importance: one dict per feature in column order (a text column counts as one feature), then one per
        relation, shuffled among all pairs of a set.

        feature: its name, or number; exact, loglik: by how much the measure falls when the feature's values are shuffled among
        the items of each set, the mean of `repeats` shuffles as (mean, low, high).
        """
        given, engine = self._with_orders(sets, orders), self._fitted()
        names = names_of(engine.columns) or given.features or [str(j) for j in range(engine.width)]
        related = lib.onet_model_relations(engine.handle)
        count = lib.onet_model_given_relations(engine.handle)
        names = names + (related.decode().split("\n") if related else [f"relation {r + 1}" for r in range(count)])
        orderer, found = self._orderer(engine), []
        try:
            each = self._each(engine, orderer, given)
            j = given.width if engine.words else 0  # words have no features to shuffle
            while j < len(names):
                span, name = lib.onet_columns_span(engine.columns, j) if j < given.width else 1, names[j]
                one = _library.ImportanceStruct()
                orderer.ask(
                    "onet_measure_importance",
                    byref(one),
                    orderer.handle,
                    byref(given._struct),
                    each,
                    j,
                    _whole(repeats, "repeats", 1, 10**6),
                    _whole(seed, "seed", 0, 2**64 - 1),
                )
                name = name if span == 1 else name.partition("=")[0]
                found.append({"feature": name, "exact": _triple(one.exact), "loglik": _triple(one.loglik)})
                j += span
        finally:
            engine.give(orderer)
        return found

    def _with_orders(self, sets: Any, orders: Any) -> Sets:
        given = self._given(sets, orders)
        if given._order is None:
            raise DataError("there are no right orders to compare with: give them, or Sets that have them")
        return given

    def _each_of(self, sets: Sets) -> Any:
        engine = self._fitted()
        orderer = self._orderer(engine)
        try:
            return self._each(engine, orderer, sets)
        finally:
            engine.give(orderer)

    @staticmethod
    def _each(engine: Engine, orderer: Orderer, sets: Sets) -> Any:
        answers = engine.order_all(orderer, sets)
        logprob = engine.score(orderer, sets)
        each = (SetMeasure * len(sets))()
        call("onet_measure_each", each, byref(sets._struct), _address(answers.raw), _address(logprob))
        return each

    # ---- Data frames ----

    def predict_frame(
        self, frame: Any, set: Any = None, features: Optional[List[Any]] = None, pairs: Any = None, name: Any = None
    ) -> Any:
        """A copy of a pandas DataFrame with two columns more: rank and probability.

        set, features
            the columns, as for Sets.from_frame; by default those of the data that the model was trained on.
        pairs, name
            a DataFrame with the relations between the items, and the column with the items' names that it uses, as for
            Sets.from_frame. A model that knows the names of its relations takes their columns, in any order.

        rank is the place, from 0, of the row in its set; probability that of choosing it for this place, once
        the places before it are filled. A column of that name is replaced. Rows that the column ``context`` marks with 1 or
        True are seen but not placed: their rank is NA and their probability NaN.
        """
        engine = self._fitted()
        need_frame(frame)
        called = {str(column): column for column in frame.columns}  # the model has text
        if set is None and engine.columns and lib.onet_columns_set(engine.columns):
            known = lib.onet_columns_set(engine.columns).decode()
            set = called.get(known, known)
        if features is None and hasattr(self, "feature_names_in_"):
            features = [called.get(known, known) for known in self.feature_names_in_]
        if set is None:
            raise UsageError(
                "predict_frame needs the column that says the set: set=..., as this model knows no columns"
            )
        by = engine.columns if engine.fills else None
        related = lib.onet_model_relations(engine.handle)
        if pairs is not None and related:
            need_frame(pairs)
            wanted = [c for c in (set, "from", "to", *related.decode().split("\n")) if c is not None]
            lacking = [c for c in wanted if c not in pairs.columns]
            if lacking:
                raise DataError(f"the frame of pairs has no column {lacking[0]!r}; it has {list(pairs.columns)}")
            pairs = pairs[wanted]
        if pairs is None and lib.onet_model_given_relations(engine.handle):
            raise DataError("the model was trained on relations between the items: give them as pairs=...")
        given = Sets._of_frame(frame, set, None, features, "error", by, pairs, name, like=engine.columns)
        if given.width != engine.width:
            raise DataError(
                f"there are {given.width} features, but the model was trained on {engine.features}; name them: features=[...]"
            )
        orderer = self._orderer(engine)
        try:
            answers = engine.order_all(orderer, given, steps=True)
        finally:
            engine.give(orderer)
        place = np.arange(len(frame)) - np.repeat(given._start[:-1].astype(np.int64), given.sizes)
        row = given._frame.rows[answers.order + np.repeat(given._start[:-1].astype(np.int64), given.sizes)]  # type: ignore[union-attr]
        rank, probability = np.empty(len(frame), np.int64), np.empty(len(frame))
        rank[row], probability[row] = place, answers.step
        if given._context is None:
            return frame.assign(rank=rank, probability=probability)
        import pandas

        seen = np.empty(len(frame), bool)
        seen[given._frame.rows] = given._context != 0  # type: ignore[union-attr]
        probability[seen] = np.nan
        return frame.assign(rank=pandas.arrays.IntegerArray(rank, seen), probability=probability)


def load(path: Any) -> OrderNet:
    """Loads a model file that ``save`` or the program wrote, or a shipped model: "pages", "tours", "tsp" or "words"."""
    if isinstance(path, str) and path in ("pages", "tours", "tsp", "words"):
        path = _library.MODELS / f"{path}.safetensors"
    model = OrderNet()
    model._take(Engine.load(path))
    return model


def merge(models: Iterable[Any]) -> OrderNet:
    """One model from several, OrderNets or paths: its logits are the mean of theirs, so that it is right more often.

    They must be trained on the same data with the same net, for example with other seeds; widths, ``relative`` and
    ``within`` may differ. ``OrderNet(models=4)`` trains and merges at once.
    """
    if isinstance(models, (str, bytes, OrderNet)) or not isinstance(models, Iterable):
        raise UsageError("merge takes a list of models or paths")
    engines = [one._fitted() if isinstance(one, OrderNet) else Engine.load(one) for one in models]
    handles, merged = (c_void_p * max(len(engines), 1))(*(one.handle for one in engines)), c_void_p()
    call("onet_model_merge", byref(merged), handles, len(engines), bad=ModelError)
    model = OrderNet()
    model._take(Engine(merged))
    return model


def _check_orders(train: Sets) -> None:
    """Raises DataError if the sets given to fit() have no orders; warns if these look like ranks."""
    if train._order is None:
        raise DataError("training needs the right orders: give them as the second argument, or Sets that have them")
    if lib.onet_sets_look_like_ranks(byref(train._struct)):
        warnings.warn(
            "the orders look like ranks: the features correlate with the inverse of the orders. order[t] is the index "
            "of the item at place t; where rank[i] is the place of item i, give np.argsort(rank)",
            UserWarning,
            stacklevel=3,
        )


def _triple(measure: Any) -> Tuple[float, float, float]:
    return measure.mean, measure.low, measure.high


def _measures(report: Report, without: str = " ") -> Dict[str, Tuple[float, float, float]]:
    """All measures except those whose names begin with `without`."""
    return {name: _triple(getattr(report, name)) for name in MEASURES if not name.startswith(without)}


def _set(struct: Any, name: str, value: Any) -> None:
    """Sets a field of a struct from a parameter, which must be a number in the field's range."""
    kind = dict((field[0], field[1]) for field in struct._fields_)[name]
    if kind is ctypes.c_double:
        if not isinstance(value, (int, float, np.number)) or isinstance(value, (complex, np.complexfloating)):
            raise UsageError(f"{name} is {value!r}: it must be a number")
        setattr(struct, name, float(value))
        return
    if isinstance(value, (bool, np.bool_)):
        value = int(value)
    setattr(struct, name, _whole(value, name, 0, 2**64 - 1 if kind is ctypes.c_uint64 else 2**31 - 1))
