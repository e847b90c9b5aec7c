"""Writes the HDF5 files that the tests read, with h5py: python make_goldens.py

Every tensor holds (index - 3) / 4 in row-major order, so the tests know the values without a file.
"""

import pathlib

import h5py
import numpy as np

HERE = pathlib.Path(__file__).parent


def ramp(*shape, dtype="f4"):
    return ((np.arange(np.prod(shape, dtype=int)) - 3) / 4).reshape(shape).astype(dtype)


def create(name, **options):
    return h5py.File(HERE / f"{name}.h5", "w", **options)


def good():
    with create("flat", track_order=True) as file:
        file["model1.2.weight"] = ramp(4, 2, 3, 3)
        file["model1.0.bias"] = ramp(4)
        file["model1.4.num_batches_tracked"] = np.int64(1234)
    with create("nested") as file:
        file["model1/0/weight"] = ramp(2, 3)
        file["model1/0/bias"] = ramp(2)
        file["out.bias"] = ramp(5)
    with create("types") as file:
        for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
            values = ramp(6) * (1 if kind[0] == "f" else 4)
            values = np.abs(values) if kind[0] == "u" else values
            for order, name in (("<", "little"), (">", "big")):
                file[f"{kind}.{name}"] = values.astype(order + kind)
        file["half.special"] = np.array(
            [0x0000, 0x8000, 0x0001, 0x83FF, 0x3C00, 0x7BFF, 0x7C00, 0xFC00, 0x7E00], "u2"
        ).view("f2")
        file["none"] = np.zeros((0, 3), "f4")
    with create("chunked") as file:
        data = ramp(7, 5, 9)
        file.create_dataset("plain", data=data, chunks=(3, 5, 4))
        file.create_dataset("gzip", data=data, chunks=(3, 2, 4), compression="gzip")
        file.create_dataset("shuffled", data=data, chunks=(7, 5, 9), compression=9, shuffle=True)
        file.create_dataset(
            "checked", data=data, chunks=(2, 5, 9), compression=1, shuffle=True, fletcher32=True
        )
        file.create_dataset("odd", data=ramp(11, dtype="i1") , chunks=(11,), fletcher32=True)
        file.create_dataset("half", data=ramp(40, dtype="f2"), chunks=(16,), compression=4)
        file.create_dataset("resizable", data=ramp(3, 2), maxshape=(None, 2), chunks=(8, 2))
    with create("user-block", userblock_size=1024) as file:
        file["contiguous"] = ramp(7, 5)
        file.create_dataset("chunked", data=ramp(7, 5), chunks=(3, 2), compression="gzip")
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((7, 5))
        compact = h5py.h5d.create(file.id, b"compact", h5py.h5t.IEEE_F32LE, space, properties)
        compact.write(h5py.h5s.ALL, h5py.h5s.ALL, ramp(7, 5))
    with create("reference") as file:
        file["inputs/input"] = ramp(1, 1, 2, 2)
        file["outputs/output"] = ramp(1, 2, 2, 2)
        file["activations/model1.0"] = ramp(1, 1, 2, 2)
        file.attrs["torch"] = np.bytes_("2.x é".encode())
        file.attrs["seed"] = 7
        file.attrs["tolerance"] = 0.25
        file.attrs["size"] = np.array([1, 1, 2, 2])
        file.attrs["names"] = np.array([b"a", b"bc"])
        file.attrs["varying"] = "text"
        file.attrs["flag"] = True


def refused():
    with create("keras") as file:
        file.attrs["layer_names"] = np.array([b"conv"])
        file["conv/conv/kernel:0"] = ramp(3)
    with create("external-link") as file:
        file["weight"] = h5py.ExternalLink("flat.h5", "/model1.0.bias")
    with create("soft-link") as file:
        file["bias"] = ramp(4)
        file["weight"] = h5py.SoftLink("/bias")
    with create("external-storage") as file:
        file.create_dataset("weight", (4,), "u1", external=[("/etc/hostname", 0, 4)])
    with create("virtual") as file:
        layout = h5py.VirtualLayout((4,), "f4")
        layout[:] = h5py.VirtualSource("flat.h5", "model1.0.bias", (4,))
        file.create_virtual_dataset("weight", layout)
    with create("rank-9") as file:
        file["weight"] = ramp(*[1] * 9)
    with create("huge") as file:
        file.create_dataset("weight", (1 << 32,), "f4", chunks=(1 << 20,), compression="gzip")
    with create("sparse") as file:
        file.create_dataset("weight", (1 << 26,), "f4", chunks=(1 << 20,), compression="gzip")
    with create("tiny-chunks") as file:
        file.create_dataset("weight", (1 << 22,), "f4", chunks=(1,), compression="gzip")
    with create("overflow") as file:
        file.create_dataset(
            "weight", (1 << 40, 0, 1 << 40), "f4", maxshape=(None,) * 3, chunks=(1, 1, 1))
    with create("cycle") as file:
        file["a/b/weight"] = ramp(2)
        file["a/b/c"] = file["a"]
    with create("compound") as file:
        file["weight"] = np.zeros(2, [("re", "f4"), ("im", "f4")])
    with create("strings") as file:
        file["weight"] = "text"
    with create("booleans") as file:
        file["weight"] = np.array([True, False])
    with create("filter") as file:
        file.create_dataset("weight", data=ramp(64), chunks=(64,), compression="lzf")
    with create("unwritten") as file:
        file.create_dataset("weight", (8,), "f4")
    with create("twice") as file:
        file["a.weight"] = ramp(2)
        file["a/weight"] = ramp(2)
    with create("named-type") as file:
        file["weight"] = np.dtype("f4")
    with create("null") as file:
        file["weight"] = h5py.Empty("f4")


if __name__ == "__main__":
    good()
    refused()
