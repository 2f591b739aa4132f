"""Scrambled words in order, by the shipped model."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ._library import DataError
from ._model import OrderNet, _whole
from ._tours import shipped

_shipped: List[OrderNet] = []
MOST_WORDS = 1000


def _repeats(words: Sequence[str]) -> int:
    """How many orders may read like one of them, capped."""
    product = 1
    for i, word in enumerate(words):
        product *= 1 + list(words[:i]).count(word)
        if product > 1000:
            return 1000
    return product


def unscramble(
    words: Union[str, Sequence[str]], top: Optional[int] = None, beam: int = 120, model: Optional[OrderNet] = None
) -> Any:
    """Words in their most probable order.

    words
        a text, whose words stand between spaces, gives a text; a list of str gives a list.
    top
        that many orders, best first, each with its probability: a list of (text or list, probability). Orders
        that read the same count as one.
    model
        an OrderNet that orders words; None: the shipped one, for English.
    """
    text = isinstance(words, str)
    try:
        bag = words.split() if isinstance(words, str) else list(words)
    except TypeError:
        raise DataError(
            f"the words are of type {type(words).__name__}, where a text or a list of str is meant"
        ) from None
    for i, word in enumerate(bag):
        if not isinstance(word, str):
            raise DataError(f"word {i + 1} is of type {type(word).__name__}, where text is meant")
    if not bag:
        raise DataError("there are no words to put in order")
    if len(bag) > MOST_WORDS:
        raise DataError(f"{len(bag)} words: {MOST_WORDS} at most can be put in order here")
    wanted = 1 if top is None else _whole(top, "top", 1, 1000)
    beam = max(_whole(beam, "beam", 1, 100000), wanted)
    net = model or shipped(_shipped, "words")
    net._words()
    orders, answers = net._answers([bag], min(wanted * _repeats(bag), beam), beam)
    probability: Dict[Tuple[str, ...], float] = {}
    for order, logprob in zip(orders[0], answers.logprob[0]):
        read = tuple(bag[i] for i in order)
        probability[read] = probability.get(read, 0.0) + math.exp(logprob)
    best = [(" ".join(read) if text else list(read), p) for read, p in list(probability.items())[:wanted]]
    return best[0][0] if top is None else best
