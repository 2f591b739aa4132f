"""Reports progress: the class Progress, which callbacks are given, and bars or lines for a training or a search for
parameters.
"""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple, Optional


class Progress(NamedTuple):
    """The state of a training, which callbacks of ``fit`` are given."""

    epoch: int  #: from 1
    epochs: int
    step: int
    steps: int  #: of the whole training
    loss: float  #: mean per step of an order, smoothed; NaN before the first step
    learning_rate: float
    valid_exact: float  #: share of validation sets in exactly the right order; NaN before the first validation
    examples_per_second: float
    seconds: float
    seconds_left: float
    valid_loglik: float  #: log-likelihood of the validation sets' orders, mean per step
    best_epoch: int  #: with the highest valid_loglik so far; 0 before the first validation
    ended: int  #: the epoch that has just ended, or 0
    model: int  #: from 1; epochs, steps and measures are its own, seconds those of all models
    models: int


def _numbers(now: Progress) -> str:
    text = "" if math.isnan(now.loss) else f"loss {now.loss:.4f}"
    if not math.isnan(now.valid_exact):
        text += f", valid {100 * now.valid_exact:.1f}%"
    return text


def _epoch(now: Progress) -> str:
    model = f"model {now.model}/{now.models}, " if now.models > 1 else ""
    return f"{model}epoch {now.epoch}/{now.epochs}"


class _Line:
    """A bar in one line on standard error, redrawn in place; used where tqdm is not installed."""

    def __init__(self) -> None:
        self.width = 0

    def show(self, now: Progress, end: str = "") -> None:
        done = (now.model - 1 + (now.step / now.steps if now.steps else 1)) / now.models
        bar = "#" * int(30 * done)
        text = f"{_epoch(now)} |{bar:<30}| {100 * done:3.0f}% {_numbers(now)}, {now.examples_per_second:.0f} sets/s"
        sys.stderr.write("\r" + text.ljust(self.width) + end)
        sys.stderr.flush()
        self.width = len(text)

    def close(self, now: Optional[Progress]) -> None:
        if now is not None:
            self.show(now, "\n")


def search_text(now: Any) -> str:
    """Formats an onet_tune_progress as one line of text."""
    text = f"{now.trials}{f' of {now.most}' if now.most else ''} trials, {now.seconds:.0f} s"
    if not math.isnan(now.seconds_left):
        text += f", {now.seconds_left:.0f} s left"
    if now.count:
        best = now.tried[0]
        text += f"; best {100 * best.exact:.2f}% exact{'' if best.whole else ' (short)'}: {best.settings.decode()}"
    return text


class SearchLine:
    """Shows the progress of a search as one line on standard error, redrawn in place."""

    def __init__(self) -> None:
        self.shown = ""

    def show(self, text: str, end: str = "") -> None:
        if text != self.shown or end:
            sys.stderr.write("\r" + text.ljust(len(self.shown)) + end)
            sys.stderr.flush()
            self.shown = text


class _Tqdm:
    """tqdm's bar, in a notebook its widget where that is possible."""

    def __init__(self, tqdm: Any) -> None:
        self.tqdm: Any = tqdm
        self.bar: Any = None

    def show(self, now: Progress) -> None:
        if self.bar is None:
            self.bar = self.tqdm(total=now.steps * now.models, unit="step", desc="fit")
        self.bar.set_postfix_str(_numbers(now), refresh=False)
        self.bar.set_description(_epoch(now), refresh=False)
        self.bar.update((now.model - 1) * now.steps + now.step - self.bar.n)

    def close(self, now: Optional[Progress]) -> None:
        if self.bar is not None:
            self.bar.close()


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    try:
        return shell is not None and "IPKernelApp" in shell.get_ipython().config
    except AttributeError:
        return False


def shows(wanted: Any) -> bool:
    """Whether progress is shown. wanted: "auto" shows it in a terminal or notebook, True always, False never."""
    return bool(wanted) and (wanted != "auto" or _in_notebook() or (sys.stderr is not None and sys.stderr.isatty()))


def bar(wanted: Any) -> Any:
    """A new progress bar, or None where none is shown; wanted: as for shows."""
    if not shows(wanted):
        return None
    try:
        import warnings

        with warnings.catch_warnings():  # tqdm says so where a notebook has no widgets
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm

            return _Tqdm(tqdm)
    except ImportError:
        return _Line()
