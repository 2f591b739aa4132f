"""Puts scrambled words, a text or a list, in order with the shipped model or a given one (ordernet.unscramble)."""

from __future__ import annotations

import collections
import ctypes
import math
from ctypes import byref, c_void_p
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._library import Answer, DataError, call, choose, lib
from ._model import OrderNet, _whole
from ._sets import fitted
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


def _beam(n: int) -> int:
    """The default width for n words, that of the program: all orders of five words, less for more than 20."""
    return min(120, max(5, 50000 // (n * n)))


def _log_repeats(words: Sequence[Any]) -> float:
    """log of how many orders have the same words at the same places. The network gives them one probability."""
    return sum(math.lgamma(1 + count) for count in collections.Counter(words).values())


def _sentences(net: OrderNet, text: str, wanted: int, beam: Optional[int], letters: int) -> Dict[str, float]:
    """The orders of the words of a text, each as a sentence with its probability, best first."""
    engine, bag = net._fitted(), c_void_p()
    data = text.encode("utf-8", "surrogatepass")
    if b"\0" in data:
        raise DataError("the words hold a NUL character; leave it out")
    call("onet_bag_new", byref(bag), engine.words)
    try:
        call("onet_bag_add", bag, data, MOST_WORDS)
        n = lib.onet_bag_count(bag)
        if not n:
            raise DataError("there are no words to put in order")
        words = [lib.onet_bag_word(bag, i, None) for i in range(n)]
        beam = max(beam or _beam(n), wanted)
        top = min(wanted * _repeats(words), beam)
        order, logprob = np.empty((top, n), np.int32), np.empty(top)
        answer = Answer(order=order.ctypes.data, logprob=logprob.ctypes.data)
        orderer = net._orderer(engine, top, beam)
        try:
            orderer.ask("onet_orderer_run", orderer.handle, lib.onet_bag_set(bag), byref(answer), squares=n * n)
        finally:
            engine.give(orderer)
        found: Dict[str, float] = {}
        seen = set()
        for k in range(answer.found):
            one = order[k].ctypes.data
            room = ctypes.create_string_buffer(lib.onet_bag_write(bag, one, letters, None, 0) + 1)
            lib.onet_bag_write(bag, one, letters, room, len(room))
            read = room.value.decode("utf-8")
            found.setdefault(read, 0.0)
            placed = tuple(words[i] for i in order[k])
            if placed not in seen:
                found[read] = min(1.0, found[read] + math.exp(logprob[k] + _log_repeats(words)))
            seen.add(placed)
        return found
    finally:
        lib.onet_bag_free(bag)


def _lists(net: OrderNet, words: Any, wanted: int, beam: Optional[int]) -> Dict[Tuple[str, ...], float]:
    """The orders of a list of words, which stay as they are, each with its probability, best first."""
    try:
        bag = list(words)
    except TypeError:
        raise DataError(
            f"the words are of type {type(words).__name__}, where a text or a list of str is expected"
        ) from None
    for i, word in enumerate(bag):
        if not isinstance(word, str):
            raise DataError(f"word {i + 1} is of type {type(word).__name__}, where text is expected")
    if not bag:
        raise DataError("there are no words to put in order")
    if len(bag) > MOST_WORDS:
        raise DataError(f"{len(bag)} words: {MOST_WORDS} at most can be put in order here")
    beam = max(beam or _beam(len(bag)), wanted)
    orders, answers = net._answers([bag], min(wanted * _repeats(bag), beam), beam)
    found: Dict[Tuple[str, ...], float] = {}
    for order, logprob in zip(orders[0], answers.logprob[0]):
        read = tuple(bag[i] for i in order)
        found.setdefault(read, min(1.0, math.exp(logprob + _log_repeats(bag))))
    return found


def unscramble(
    words: Union[str, Sequence[str]],
    top: Optional[int] = None,
    beam: Optional[int] = None,
    model: Optional[OrderNet] = None,
    case: str = "sentence",
) -> Any:
    """Words in their most probable order.

    words
        a text gives a sentence: its words are those of the vocabulary, "born," is two and "don't" too, but what
        was typed as one stays together, and a final . ! or ? stays last. A list of str gives a list of the same
        words.
    top
        that many orders, best first, each with its probability: a list of (text or list, probability). Orders
        that read the same count as one.
    beam
        the width of the search; None: 120, which covers all orders of five words, and less for more than 20 words
    model
        an OrderNet that orders words; None: the shipped one, for English.
    case
        of a sentence: "sentence" gives the first word a capital and takes it from common words elsewhere, "keep"
        leaves all as typed, "lower" has no capitals.
    """
    wanted = 1 if top is None else _whole(top, "top", 1, 1000)
    beam = None if beam is None else _whole(beam, "beam", 1, 100000)
    letters = choose("letter_cases", case, "case")
    net = shipped(_shipped, "words") if model is None else model
    fitted(net)
    net._words()
    if isinstance(words, str):
        best: List[Tuple[Any, float]] = list(_sentences(net, words, wanted, beam, letters).items())
    else:
        best = [(list(read), p) for read, p in _lists(net, words, wanted, beam).items()]
    return best[0][0] if top is None else best[:wanted]
