import RetintTensors

/// A sequence of elements that tensors share, as described by a pickle.
final class PyTorchStorage: Equatable, Sendable {
    /// Its name: `0`, `1`, … in an archive, an address in the old format.
    let key: String
    let type: PyTorchElements
    /// The number of elements.
    let count: Int

    init(key: String, type: PyTorchElements, count: Int) {
        (self.key, self.type, self.count) = (key, type, count)
    }

    static func == (one: PyTorchStorage, other: PyTorchStorage) -> Bool {
        one.key == other.key && one.type == other.type && one.count == other.count
    }

    /// Its size; nil if it does not fit an `Int`.
    var byteCount: Int? {
        let (bytes, overflow) = count.multipliedReportingOverflow(by: type.byteCount)
        return overflow ? nil : bytes
    }
}

/// A tensor as described by a pickle: a strided view of a storage, unchecked.
final class PyTorchTensor: Sendable {
    let storage: PyTorchStorage
    let type: PyTorchElements
    /// The first element in the storage.
    let offset: Int
    let extents: [Int]
    let strides: [Int]

    init(
        storage: PyTorchStorage, type: PyTorchElements, offset: Int, extents: [Int], strides: [Int]
    ) {
        (self.storage, self.type, self.offset) = (storage, type, offset)
        (self.extents, self.strides) = (extents, strides)
    }

    /// The view, checked to be within the storage.
    func view(
        _ place: FilePlace, _ limits: TensorFileLimits
    ) throws(TensorFileError) -> StridedView {
        guard extents.count <= limits.rank else {
            throw place.error(
                .refused, "has \(extents.count) dimensions; the limit is \(limits.rank)")
        }
        guard strides.count == extents.count, offset >= 0,
            (extents + strides).allSatisfy({ $0 >= 0 })
        else {
            throw place.error(
                .damaged, "its offset, shape \(extents) and strides \(strides) are inconsistent")
        }
        let view = StridedView(
            shape: try Shape(checked: extents.map(UInt64.init), place), strides: strides,
            offset: offset, elementBytes: type.byteCount)
        guard let end = view.end, let storageBytes = storage.byteCount, end <= storageBytes else {
            throw place.error(
                .damaged,
                "its shape \(extents), strides \(strides) and offset \(offset) exceed the "
                    + "\(storage.count) elements of its storage")
        }
        return view
    }
}
