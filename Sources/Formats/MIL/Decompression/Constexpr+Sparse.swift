import RetintMLPackage

/// Sparse weights: a mask and the nonzero elements.
extension RaisedOperation {
    /// `constexpr_sparse_to_dense`: the stored values where the mask is 1, zeros elsewhere.
    func sparse() throws -> UnpackedWeights {
        try scattered(try weights("nonzero_data"), try mask("mask"))
    }

    /// A mask as zeros and ones. It has one bit per element, packed into uint8 before iOS18.
    func mask(_ parameter: String) throws -> UnpackedWeights {
        let stored = try stored(parameter)
        if stored.type.dataType == .uint1 { return try weights(stored) }
        let (shape, count) = try storedShape()
        let bytes = try stored.bytes()
        guard stored.type.dataType == .uint8, bytes.count == (count + 7) / 8 else {
            throw error("a mask of type \(stored.type) does not fit \(count) elements")
        }
        let flags = BitPacking.unpack(bytes, count: count, bits: 1, signed: false)
        return UnpackedWeights(dataType: .uint1, shape: shape, scalars: flags.map { Float($0) })
    }

    /// Scatters elements to the positions where the mask is 1; the rest is 0.
    func scattered(
        _ elements: UnpackedWeights, _ mask: UnpackedWeights
    ) throws -> UnpackedWeights {
        guard elements.shape.count == 1, mask.maskedCount == elements.scalars.count else {
            throw error("its mask does not fit \(elements.scalars.count) nonzero elements")
        }
        var next = elements.scalars.makeIterator()
        let scalars = mask.scalars.map { $0 == 1 ? next.next() ?? 0 : 0 }
        return UnpackedWeights(
            dataType: elements.dataType, shape: mask.shape, scalars: scalars)
    }

    /// The elements where the mask is 1, as a vector.
    func gathered(_ dense: UnpackedWeights, _ mask: UnpackedWeights) -> UnpackedWeights {
        let scalars = zip(dense.scalars, mask.scalars).compactMap { $1 == 1 ? $0 : nil }
        return UnpackedWeights(
            dataType: dense.dataType, shape: [scalars.count], scalars: scalars)
    }
}

extension UnpackedWeights {
    /// For a mask: the number of ones.
    fileprivate var maskedCount: Int { scalars.count { $0 == 1 } }
}
