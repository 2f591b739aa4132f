"""Makes the .npz files of this folder with NumPy: the same two sets, saved in every way that is read, and in
some that are refused. usage: python3 tests/data/make_npz.py"""
import io
import os
import zipfile

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
items = np.arange(12, dtype=np.float32).reshape(2, 3, 2) / 8
order = np.array([[2, 0, 1], [0, 1, 2]])


def path(name):
    return os.path.join(here, name + ".npz")


np.savez(path("stored"), items=items, order=order.astype(np.int32))
np.savez_compressed(path("deflated"), items=items.astype(np.float64), order=order.astype(np.int64))
np.savez(path("no-order"), items=items)
np.savez(path("fortran"), items=np.asfortranarray(items), order=np.asfortranarray(order.astype(np.int16)))
np.savez(path("half"), items=items.astype(np.float16), order=order.astype(np.uint8))
np.savez(path("big"), items=items.astype(">f8"), order=order.astype(">i8"))
np.savez(path("big-half"), items=np.asfortranarray(items.astype(">f2")), order=order.astype(">u4"))
np.savez(path("complex"), items=items.astype(np.complex64))
np.save(os.path.join(here, "single.npy"), items)
np.savez(path("plane"), items=items[0])

# Sets of 3 and 2 items: one behind the other with their sizes, and filled up with NaN.
np.savez(path("flat"), items=items.reshape(6, 2)[:5], sizes=np.array([3, 2]), order=np.array([2, 0, 1, 1, 0]))
filled = items.copy()
filled[1, 2] = np.nan
np.savez(path("filled"), items=filled, order=np.array([[2, 0, 1], [1, 0, -1]]))
np.savez(path("short"), items=items.reshape(6, 2), sizes=np.array([3, 2]))
np.savez(path("no-sets"), items=items[:0])
np.savez(path("no-items"), items=items[:, :0])
np.savez(path("no-flat"), items=items.reshape(6, 2), sizes=np.array([], dtype=int))
context = np.array([[0, 1, 0], [0, 0, 1]], dtype=bool)
np.savez(path("context"), items=items, order=order.astype(np.int32), context=context)
with zipfile.ZipFile(path("versions"), "w") as archive:
    for name, array, version in (("items.npy", items, (2, 0)), ("order.npy", order, (3, 0))):
        file = io.BytesIO()
        np.lib.format.write_array(file, array, version=version)
        archive.writestr(name, file.getvalue())
