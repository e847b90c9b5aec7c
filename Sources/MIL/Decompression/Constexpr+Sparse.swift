import MLPackage

/// Weights of which only some are stored.
extension RaisedOperation {
    /// `constexpr_sparse_to_dense`: numbers where the mask is 1, zeros elsewhere.
    func sparse() throws -> UnpackedWeights {
        try scattered(try weights("nonzero_data"), try mask("mask"))
    }

    /// A mask as zeros and ones: one bit an element, which before iOS18 stand in plain bytes.
    func mask(_ parameter: String) throws -> UnpackedWeights {
        let stored = try stored(parameter)
        if stored.type.dataType == .uint1 { return try weights(stored) }
        let (shape, count) = try storedShape()
        let bytes = try stored.bytes()
        guard stored.type.dataType == .uint8, bytes.count == (count + 7) / 8 else {
            throw error("a mask of type \(stored.type) does not fit \(count) elements")
        }
        let flags = BitPacking.unpack(bytes, count: count, bits: 1, signed: false)
        return UnpackedWeights(dataType: .uint1, shape: shape, numbers: flags.map { Float($0) })
    }

    /// Elements put to their places under a mask.
    func scattered(
        _ elements: UnpackedWeights, _ mask: UnpackedWeights
    ) throws -> UnpackedWeights {
        guard elements.shape.count == 1, mask.sum == elements.numbers.count else {
            throw error("its mask does not fit \(elements.numbers.count) numbers")
        }
        var next = elements.numbers.makeIterator()
        let numbers = mask.numbers.map { $0 == 1 ? next.next() ?? 0 : 0 }
        return UnpackedWeights(
            dataType: elements.dataType, shape: mask.shape, numbers: numbers)
    }

    /// The elements under a mask, in a row.
    func gathered(_ dense: UnpackedWeights, _ mask: UnpackedWeights) -> UnpackedWeights {
        let numbers = zip(dense.numbers, mask.numbers).compactMap { $1 == 1 ? $0 : nil }
        return UnpackedWeights(
            dataType: dense.dataType, shape: [numbers.count], numbers: numbers)
    }
}

extension UnpackedWeights {
    /// Of a mask: how many elements it lets through.
    fileprivate var sum: Int { numbers.count { $0 == 1 } }
}
