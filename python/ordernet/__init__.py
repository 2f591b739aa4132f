"""OrderNet: learn an order from examples, and put new sets in order.

    import ordernet
    model = ordernet.OrderNet(epochs=20).fit(sets, orders, valid=(valid_sets, valid_orders))
    model.predict(new_sets)
    model.save("mine.safetensors")
    ordernet.load("mine.safetensors").order(items)

A set is an array (items, features); its order is an index array: order[t] is the item at place t. The package
also has Sets (from files and data frames), baselines (compare, Ranker), and, with models that come with it,
reading_order, tour and unscramble. See docs/python.md.
"""

from ._compare import Comparison, Ranker, compare
from ._library import (
    DataError,
    FileError,
    MissingFileError,
    MissingPackageError,
    ModelError,
    NotFittedError,
    OrderNetError,
    OutOfMemoryError,
    TrainingError,
    UnknownSetError,
    UsageError,
    WrongTypeError,
    __version__,
)
from ._model import OrderNet, load, merge
from ._pages import reading_order
from ._progress import Progress
from ._sets import Sets
from ._tours import Proof, christofides, exact_tour, tour, tour_length
from ._unscramble import unscramble

__all__ = [
    "Comparison",
    "DataError",
    "FileError",
    "MissingFileError",
    "MissingPackageError",
    "ModelError",
    "NotFittedError",
    "OrderNet",
    "OrderNetError",
    "OutOfMemoryError",
    "Progress",
    "Proof",
    "Ranker",
    "Sets",
    "TrainingError",
    "UnknownSetError",
    "UsageError",
    "WrongTypeError",
    "__version__",
    "christofides",
    "compare",
    "exact_tour",
    "load",
    "merge",
    "reading_order",
    "tour",
    "tour_length",
    "unscramble",
]
