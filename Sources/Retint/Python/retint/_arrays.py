"""Arrays of other libraries, without copies: numpy's interface and DLPack in both directions."""

from __future__ import annotations

import ctypes
import typing

from retint import _errors, _library

# numpy's and DLPack's types of elements, as retint.h numbers them.
_INTERFACE_TYPES = {"f4": 0, "f8": 1, "f2": 2, "i8": 4, "i4": 5, "i2": 6, "i1": 7, "u1": 8, "b1": 9}
_DLPACK_TYPES = {
    (2, 32): 0, (2, 64): 1, (2, 16): 2, (4, 16): 3, (0, 64): 4, (0, 32): 5, (0, 16): 6, (0, 8): 7,
    (1, 8): 8, (6, 8): 9,
}
_FLOAT32_BYTES = 4


class _DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", _DLDevice), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_CPU = 1


class Borrowed:
    """Tensors as the library takes them; what they are in is kept for as long as this is."""

    def __init__(self, values: typing.Mapping[str, object]) -> None:
        self._kept: list[object] = []
        self.tensors = (_library.Tensor * max(len(values), 1))()
        self.count = len(values)
        for tensor, (name, value) in zip(self.tensors, values.items()):
            if not isinstance(name, str):
                raise TypeError("the name of an array must be a string")
            tensor.name = name.encode()
            self._fill(tensor, name, value)

    def _fill(self, tensor: _library.Tensor, name: str, value: object) -> None:
        value = _array(value)
        interface = getattr(value, "__array_interface__", None)
        if interface is not None:
            self._from_interface(tensor, name, value, interface)
        elif hasattr(value, "__dlpack__"):
            self._from_dlpack(tensor, name, value)
        else:
            raise TypeError(f"{name} is {type(value).__name__}; pass an array or a tensor")

    def _from_interface(self, tensor: _library.Tensor, name: str, value: object,
                        interface: dict[str, typing.Any]) -> None:
        order, kind = interface["typestr"][0], interface["typestr"][1:]
        if kind not in _INTERFACE_TYPES or order == ">":
            raise _errors.UsageError(
                f"{name} has elements of type {interface['typestr']}; convert it to float32",
                status=64)
        data, shape, strides = interface.get("data"), interface["shape"], interface.get("strides")
        if isinstance(data, tuple):
            address = data[0]
        else:
            raise TypeError(f"{name} does not say where its elements are")
        # Not the value alone: a scalar of numpy has its memory kept by the interface.
        self._kept += [value, interface]
        self._set(tensor, address, _INTERFACE_TYPES[kind], shape, strides)

    def _from_dlpack(self, tensor: _library.Tensor, name: str, value: typing.Any) -> None:
        if value.__dlpack_device__()[0] != _CPU:
            raise _errors.UsageError(
                f"{name} is in the memory of a device; pass a copy on the CPU", status=64)
        # The capsule frees its memory, because it stays unused.
        capsule = value.__dlpack__()
        pointer = _capsule_pointer(capsule, b"dltensor")
        source = ctypes.cast(pointer, ctypes.POINTER(_DLManagedTensor)).contents.tensor
        kind = _DLPACK_TYPES.get((source.code, source.bits))
        if kind is None or source.lanes != 1:
            raise _errors.UsageError(
                f"{name} has elements that retint does not read; convert it to float32", status=64)
        shape = [source.shape[axis] for axis in range(source.ndim)]
        strides = None
        if source.strides:
            strides = [source.strides[axis] * source.bits // 8 for axis in range(source.ndim)]
        self._kept += [value, capsule]
        self._set(tensor, (source.data or 0) + source.byte_offset, kind, shape, strides)

    def _set(self, tensor: _library.Tensor, address: int, kind: int,
             shape: typing.Sequence[int], strides: typing.Sequence[int] | None) -> None:
        rank = len(shape)
        numbers = ctypes.c_int64 * max(rank, 1)
        tensor.data, tensor.type, tensor.rank = address, kind, rank
        tensor.shape = numbers(*shape)
        if strides is not None:
            tensor.strides = numbers(*strides)


def _array(value: object) -> object:
    """A torch tensor without its gradient and on the CPU; numbers and lists as numpy's array."""
    if hasattr(value, "detach") and hasattr(value, "__dlpack__"):
        return typing.cast(typing.Any, value).detach().cpu()
    if isinstance(value, (int, float, list, tuple)):
        import numpy

        return numpy.asarray(value, dtype=numpy.float32)
    return value


def _capsule_pointer(capsule: object, name: bytes) -> int:
    function = ctypes.pythonapi.PyCapsule_GetPointer
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    pointer: int = function(capsule, name)
    return pointer


class Array:
    """An output of a model: float32 in memory of the library, which lives as long as any view.

    ``numpy.asarray(array)`` and ``torch.from_dlpack(array)`` share its memory.
    """

    def __init__(self, call: _library.Call, tensor: _library.Tensor) -> None:
        self._call = call
        self._address: int = tensor.data or 0
        self.shape: tuple[int, ...] = tuple(tensor.shape[axis] for axis in range(tensor.rank))

    def __repr__(self) -> str:
        return f"retint.Array(shape={self.shape}, dtype=float32)"

    @property
    def __array_interface__(self) -> dict[str, typing.Any]:
        return {"version": 3, "typestr": "<f4", "shape": self.shape, "strides": None,
                "data": (self._address, False)}

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_CPU, 0)

    def __dlpack__(self, *, stream: object = None, max_version: object = None,
                   dl_device: object = None, copy: bool | None = None) -> object:
        if copy:
            raise BufferError("retint.Array is not copied; copy what you make of it")
        if dl_device is not None and tuple(typing.cast(typing.Any, dl_device)) != (_CPU, 0):
            raise BufferError("retint.Array is in the memory of the CPU")
        return _capsule(self)

    def tolist(self) -> list[typing.Any]:
        """The elements as nested lists, as numpy's `tolist`."""
        count = 1
        for extent in self.shape:
            count *= extent
        if not self.shape:
            return [ctypes.c_float.from_address(self._address).value]
        flat: list[typing.Any] = list((ctypes.c_float * count).from_address(self._address))
        for extent in reversed(self.shape[1:]):
            flat = [flat[start:start + extent] for start in range(0, len(flat), extent)]
        return flat


# What capsules refer to, until their users delete them.
_exported: dict[int, tuple[_DLManagedTensor, object, object]] = {}


def _delete(pointer: int) -> None:
    _exported.pop(pointer, None)


def _destroy(capsule: int) -> None:
    """Deletes the tensor of a capsule that nobody used: its name changes when it is."""
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.restype, is_valid.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]
    if is_valid(capsule, b"dltensor"):
        get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", ctypes.pythonapi))
        _delete(get(capsule, b"dltensor"))


_callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_DELETER, _DESTRUCTOR = _callback(_delete), _callback(_destroy)


def _capsule(array: Array) -> object:
    rank = len(array.shape)
    shape = (ctypes.c_int64 * max(rank, 1))(*array.shape)
    managed = _DLManagedTensor()
    tensor = managed.tensor
    tensor.data, tensor.ndim, tensor.shape = array._address, rank, shape
    tensor.device.type, tensor.device.id = _CPU, 0
    tensor.code, tensor.bits, tensor.lanes = 2, 8 * _FLOAT32_BYTES, 1
    managed.deleter = ctypes.cast(_DELETER, ctypes.c_void_p)
    address = ctypes.addressof(managed)
    _exported[address] = (managed, shape, array)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [
        ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule: object = new(address, _CAPSULE_NAME, ctypes.cast(_DESTRUCTOR, ctypes.c_void_p))
    return capsule


# Capsules keep the pointer to their name, so it lives as long as they may.
_CAPSULE_NAME = b"dltensor"


def outputs(call: _library.Call, count: int) -> dict[str, typing.Any]:
    """The outputs of a call by name: numpy's arrays where numpy is installed."""
    result: dict[str, typing.Any] = {}
    for index in range(count):
        tensor = _library.Tensor()
        if not _library.library().retint_output(call.number, index, ctypes.byref(tensor)):
            break
        result[tensor.name.decode()] = _numpy(Array(call, tensor))
    return result


def _numpy(array: Array) -> typing.Any:
    try:
        import numpy
    except ImportError:
        return array
    return numpy.asarray(array)


def write(path: str, values: typing.Mapping[str, object]) -> None:
    """Writes arrays to an HDF5 file by their names, which may have groups."""
    borrowed = Borrowed(values)
    _library.Call(
        _library.library().retint_write(path.encode(), borrowed.tensors, borrowed.count)).values()
