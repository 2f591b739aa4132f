"""Converts between model files and PyTorch: state dicts of reference/twin.py become model files, and vice
versa.

    state, settings = ordernet.torch.load("mine.safetensors")
    ordernet.torch.save(net.state_dict(), "mine.safetensors", pool=settings["pool"])

The program runs what the settings can say: blocks, widths, pool, features relative to the set, relations between items. A twin with
any other layer, nonlinearity or norm can be trained, but not saved for the program. The vocabulary of a model of words is among the
tensors; the training record and the names of columns are not.
"""

import json
import os
import struct
import tempfile
from typing import Dict, Tuple

import numpy as np

from ._library import ModelError, UsageError, choices
from ._model import load as load_model

try:
    import torch
except ImportError as error:  # pragma: no cover
    from ._library import MissingPackageError

    raise MissingPackageError("ordernet.torch needs PyTorch (Debian: python3-torch)") from error

SETTINGS = ("width", "relations", "encoder_blocks", "hidden", "encoder_out", "decoder_blocks", "decoder_out")
TYPES = {"float32": "F32", "float16": "F16", "uint8": "U8"}  # of tensors, in a model file


def load(path) -> Tuple[Dict[str, "torch.Tensor"], dict]:
    """The tensors of a model file by name, and its settings: those of Settings in reference/generated.py.

    Beside the twin's own tensors there are input.mean and input.scale: the net is given (x - mean) * scale.
    """
    model = load_model(path)
    found = model._fitted().settings
    pools = {value: name for name, value in choices("pools").items()}
    settings = {name: int(getattr(found, name)) for name in SETTINGS}
    settings.update(pool=pools[found.pool], relative=bool(found.relative), relations=int(found.relations))
    return {name: torch.from_numpy(np.array(t)) for name, t in model.state_dict().items()}, settings


def save(state, path, *, pool: str, relative: bool = False, relations: int = 0) -> None:
    """Writes a model file that the program, the library and this package read.

    state: the twin's state_dict(). Settings that its shapes do not tell are arguments; pool has no default, since a net that was
    trained with the mean and runs with the maximum gives orders all the same, wrong ones. input.mean and input.scale, if they
    are there, are what the items were standardised with.
    """
    if pool not in choices("pools"):
        raise UsageError(f"pool is {pool!r}: it must be {' or '.join(repr(name) for name in choices('pools') if name != 'auto')}")
    if not hasattr(state, "items"):
        raise UsageError(f"the state is a {type(state).__name__}: give the state dict of the twin, net.state_dict()")
    arrays = {}
    for name, tensor in state.items():
        if isinstance(tensor, torch.Tensor) and tensor.dtype == torch.bfloat16:
            tensor = tensor.float()  # NumPy has no such type
        if not name.endswith("num_batches_tracked"):
            array = tensor.detach().cpu().numpy() if isinstance(tensor, torch.Tensor) else np.asarray(tensor)
            # Words are text, and their vectors may be half-precision numbers; all else is computed with as float32.
            kept = name.startswith("words.") and array.dtype.name in TYPES
            arrays[name] = np.ascontiguousarray(array, None if kept else "<f4")
    try:
        hidden, inputs = arrays["encoder.0.conv1.weight"].shape
        metadata = {
            "format": "ordernet",
            "format_version": "4" if relations else "2",
            "settings.width": (inputs - 2 * relations) // (4 if relative else 2),
            "settings.encoder_blocks": sum(n.startswith("encoder.") and n.endswith("conv1.weight") for n in arrays),
            "settings.hidden": hidden,
            "settings.encoder_out": len(arrays["encoder.0.conv2.bias"]),
            "settings.decoder_blocks": sum(n.startswith("decoder.") and n.endswith("conv.weight") for n in arrays),
            "settings.decoder_out": len(arrays["decoder.0.conv.bias"]),
            "settings.pool": pool,
            "settings.relative": int(relative),
        }
    except (KeyError, ValueError) as error:
        raise ModelError(f"this is not a state dict of reference/twin.py: {error}") from None
    if relations:
        metadata["settings.relations"] = relations
    width = metadata["settings.width"] + relations
    arrays.setdefault("input.mean", np.zeros(width, "<f4"))
    arrays.setdefault("input.scale", np.ones(width, "<f4"))
    header, at = {"__metadata__": {key: str(value) for key, value in metadata.items()}}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": TYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    # The library checks every tensor and writes the file, with its checksum.
    with tempfile.TemporaryDirectory() as folder:
        draft = os.path.join(folder, "twin.safetensors")
        with open(draft, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + b"".join(array.tobytes() for array in arrays.values()))
        try:
            model = load_model(draft)
        except ModelError as error:
            raise ModelError(f"the state dict is not that of a twin with these settings: {str(error).replace(draft + ': ', '')}") from None
    unknown = set(arrays) - set(model.state_dict())
    if unknown:
        raise ModelError(f"the program has no tensor {min(unknown)!r}: it cannot run a twin with other layers")
    model.save(path)
