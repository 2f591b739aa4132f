"""Tests files that ordernet wrote by reading them in Python: safetensors by its specification and with its package, .npz
with zipfile and with NumPy; what a .npz shares with the .safetensors before it must be the same bytes. Skips what is not
installed.
usage: python3 tests/python_reads.py FILE..."""
import ast
import json
import struct
import sys
import zipfile

missing = set()  # the packages that are not installed
SIZES = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "U8": 1}


def no_duplicates(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), "a key stands twice"
    return dict(pairs)


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    assert length % 8 == 0 and data[8:9] == b"{", "header"
    header = json.loads(data[8 : 8 + length].decode("utf-8"), object_pairs_hook=no_duplicates)
    metadata = header.pop("__metadata__")
    assert all(isinstance(value, str) for value in metadata.values()), "metadata"
    at, tensors = 0, {}
    for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = tensor["data_offsets"]
        count = 1
        for size in tensor["shape"]:
            count *= size
        assert begin == at and end - begin == count * SIZES[tensor["dtype"]], name
        assert begin % SIZES[tensor["dtype"]] == 0, name + " is not aligned"
        at, tensors[name] = end, data[8 + length + begin : 8 + length + end]
    assert 8 + length + at == len(data), "size"
    try:
        from safetensors import safe_open
    except ImportError:
        missing.add("safetensors")
    else:
        with safe_open(path, framework="np") as file:
            assert set(file.keys()) == set(header) and file.metadata() == metadata
            for name in header:
                assert list(file.get_tensor(name).shape) == header[name]["shape"]
                assert file.get_tensor(name).tobytes() == tensors[name], name
    return tensors


def read_npz(path, before):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            data = archive.read(name)
            assert data[:8] == b"\x93NUMPY\x01\x00", name
            (length,) = struct.unpack("<H", data[8:10])
            head = ast.literal_eval(data[10 : 10 + length].decode("latin1"))
            count = 1
            for size in head["shape"]:
                count *= size
            assert len(data) == 10 + length + 4 * count and (10 + length) % 64 == 0, name
    try:
        import numpy
    except ImportError:
        missing.add("numpy")
    else:
        arrays = numpy.load(path)
        assert arrays["items"].ndim == 3 and arrays["items"].dtype == numpy.float32
        shared = sorted(set(arrays) & set(before))
        assert shared == ["items", "order"] and all(arrays[name].tobytes() == before[name] for name in shared), shared


last = {}
for file_path in sys.argv[1:]:
    if file_path.endswith(".npz"):
        read_npz(file_path, last)
    else:
        last = read_safetensors(file_path)
for package in sorted(missing):
    print(f"skipped: no Python package {package} here, files were read without it")
print(f"{len(sys.argv) - 1} passed, 0 failed, {len(missing)} skipped")
