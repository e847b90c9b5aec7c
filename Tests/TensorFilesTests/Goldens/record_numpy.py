"""Writes the .npy files that the tests read, with NumPy: python record_numpy.py

Plain tensors hold (index - 3) / 4 in row-major order, so the tests know the values without a file.
"""

import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent


def ramp(*shape, dtype="<f4"):
    return ((np.arange(np.prod(shape, dtype=int)) - 3) / 4).reshape(shape).astype(dtype)


def save(name, array, version=(1, 0)):
    with open(HERE / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)


def main():
    for code in ("f2", "f4", "f8"):
        save(f"ramp-{code}", ramp(2, 3, 4, dtype=f"<{code}"))
    save("ramp-big-endian", ramp(2, 3, 4, dtype=">f8"))
    save("ramp-fortran", np.asfortranarray(ramp(2, 3, 4)))
    save("ramp-version-2", ramp(2, 3, 4), (2, 0))
    save("ramp-version-3", np.asfortranarray(ramp(2, 3, 4, dtype="<f2")), (3, 0))
    for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        limits = np.iinfo(code)
        save(f"limits-{code}", np.array([limits.min, 7, min(limits.max, 2**63 - 1)], code))
    save("scalar", np.float32(0.25))
    save("one", ramp(5))
    save("none", ramp(0, 3))
    save("booleans", np.array([True, False]))
    save("complex", np.array([1j], "complex64"))
    save("text", np.array(["a"]))
    with (HERE / "pair.npz").open("wb") as file:
        np.savez(file, x=ramp(2, 3, 4), ids=np.array([3, 1, 4]))
    with (HERE / "deflated.npz").open("wb") as file:
        np.savez_compressed(file, x=ramp(64))
    save("records", np.zeros(2, [("x", "<f4"), ("ü", "<i4")]), (3, 0))


if __name__ == "__main__":
    main()
