"""Draws with matplotlib: learning curves, tours, position matrices.

Each function draws into `ax`, matplotlib's current axes when that is None, and returns it.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from ._library import DataError, MissingPackageError
from ._model import OrderNet
from ._tours import tour_length


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise MissingPackageError("pictures need matplotlib (Debian: python3-matplotlib)") from None
    return pyplot.gca()


def learning_curve(model: OrderNet, ax: Any = None) -> Any:
    """Loss and, where there was validation, exact match of each epoch of a fitted model."""
    if not hasattr(model, "history_"):
        raise DataError("the model has no history: it was not fitted here, but loaded from a file")
    ax, history = _axes(ax), model.history_
    ax.plot(history["epoch"], history["loss"], color="tab:blue", label="loss")
    ax.set_xlabel("epoch")
    ax.set_ylabel("loss per step")
    if model.best_epoch_:
        right = ax.twinx()
        right.plot(history["epoch"], history["valid_exact"], color="tab:orange", label="exact match")
        right.set_ylabel("exact match on the validation sets")
        right.set_ylim(0, 1)
        ax.axvline(model.best_epoch_, color="gray", linestyle=":")
    return ax


def tour(points: Any, tour: Any, ax: Any = None) -> Any:
    """Points (n, 2) and a closed tour through them, with its length above."""
    length = tour_length(points, tour)
    xy, ax = np.asarray(points, dtype=float), _axes(ax)
    around = xy[np.append(tour, tour[0])]
    ax.plot(around[:, 0], around[:, 1], "-o", color="tab:blue", markersize=4)
    ax.set_aspect("equal")
    ax.set_title(f"{len(xy)} points, length {length:.4g}")
    return ax


def positions(matrix: Any, labels: Optional[Sequence[str]] = None, ax: Any = None) -> Any:
    """A matrix of OrderNet.positions, (n, n): items down, places across."""
    matrix = np.asarray(matrix, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"the matrix has shape {matrix.shape}, where (n, n) is expected")
    ax = _axes(ax)
    image = ax.imshow(matrix, vmin=0, vmax=1, cmap="Blues")
    ax.figure.colorbar(image, ax=ax, label="probability")
    ax.set_xlabel("place")
    ax.set_ylabel("item")
    if labels is not None:
        ax.set_yticks(range(len(matrix)))
        ax.set_yticklabels(labels)
    return ax
