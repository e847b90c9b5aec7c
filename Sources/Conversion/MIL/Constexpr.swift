import MLPackage
import TensorGraph

/// Compressed weights, unpacked to floats while the package is read.
extension RaisedOperation {
    func decompressed() throws -> MILValue {
        let shape = operation.outputs[0].type.shape ?? []
        let scalars: [Float]
        switch type {
        case "constexpr_affine_dequantize": scalars = try affine(shape)
        case "constexpr_blockwise_shift_scale": scalars = try blockwise(shape)
        case "constexpr_lut_to_dense":
            scalars = try stored("lut").type.rank == 1 ? plainLookUp(shape) : groupedLookUp(shape)
        case "constexpr_cast": scalars = try stored("source_val").floats()
        case "constexpr_sparse_to_dense": scalars = try sparse(shape)
        default: throw error("weights compressed by \(type) are not supported")
        }
        let count = shape.reduce(1, *)
        guard scalars.count == count else {
            throw error("it has \(scalars.count) elements where \(shape) needs \(count)")
        }
        return .floats(scalars, shape: shape)
    }

    /// A parameter, which is an attribute before iOS18 and an input from then on.
    private func stored(_ parameter: String) throws -> MILValue {
        guard let value = try optionallyStored(parameter) else {
            throw error("its parameter \(parameter) is missing")
        }
        return value
    }

    private func optionallyStored(_ parameter: String) throws -> MILValue? {
        try operation.attributes[parameter] ?? constant(parameter)
    }

    /// Numbers of any type.
    private func numbers(_ value: MILValue) throws -> [Float] {
        value.type.dataType.isFloat ? try value.floats() : try value.integers().map { Float($0) }
    }

    /// w = scale·(q − zero point), vectors along one axis.
    private func affine(_ shape: [Int]) throws -> [Float] {
        let data = try numbers(try stored("quantized_data"))
        let scales = try numbers(try stored("scale"))
        let zeros = try numbers(try stored("zero_point"))
        let axis = try axes(try stored("axis").integers().map(Int.init), rank: shape.count)
        guard let axis = axis.first, data.count == shape.reduce(1, *) else {
            throw error("its data does not fit the shape \(shape)")
        }
        let fits = { (count: Int) in count == 1 || count == shape[axis] }
        guard fits(scales.count), fits(zeros.count) else {
            throw error("\(scales.count) scales do not fit axis \(axis) of \(shape)")
        }
        let inner = shape[(axis + 1)...].reduce(1, *)
        return data.indices.map { index in
            let channel = index / inner % shape[axis]
            let scale = scales[scales.count == 1 ? 0 : channel]
            return scale * (data[index] - zeros[zeros.count == 1 ? 0 : channel])
        }
    }

    /// w = scale[block]·(q − offset[block]), blocks along any axes.
    private func blockwise(_ shape: [Int]) throws -> [Float] {
        let data = try numbers(try stored("data"))
        let scale = try stored("scale")
        let scales = try numbers(scale)
        let offsets = try optionallyStored("offset").map(numbers)
        let blocks = try Blocks(shape, groups: scale.type.shape ?? [], self)
        guard data.count == shape.reduce(1, *), offsets.map({ $0.count == scales.count }) ?? true
        else { throw error("its data does not fit the shape \(shape)") }
        return data.indices.map { index in
            let block = blocks.block(of: index)
            return scales[block] * (data[index] - (offsets?[block] ?? 0))
        }
    }

    /// One table for all, indices packed in bytes (before iOS18).
    private func plainLookUp(_ shape: [Int]) throws -> [Float] {
        let table = try numbers(try stored("lut"))
        let bits = table.count.trailingZeroBitCount
        guard table.count == 1 << bits, (1...8).contains(bits) else {
            throw error("a table of \(table.count) numbers is not supported")
        }
        let bytes = try stored("indices").bytes()
        let count = shape.reduce(1, *)
        guard bytes.count == (count * bits + 7) / 8 else {
            throw error("\(bytes.count) bytes of indices do not fit \(count) elements")
        }
        return BitPacking.unpack(bytes, count: count, bits: bits, signed: false).map {
            table[Int($0)]
        }
    }

    /// A table for each group (from iOS18 on): [groups of each axis..., entries, 1].
    private func groupedLookUp(_ shape: [Int]) throws -> [Float] {
        let lut = try stored("lut")
        let extents = lut.type.shape ?? []
        guard extents.count == shape.count + 2, extents[extents.count - 1] == 1 else {
            throw error("a table of shape \(extents) is not supported")
        }
        let table = try numbers(lut)
        let entries = extents[extents.count - 2]
        let indices = try stored("indices").integers()
        let blocks = try Blocks(shape, groups: Array(extents.dropLast(2)), self)
        guard indices.count == shape.reduce(1, *),
            indices.allSatisfy({ (0..<entries).contains(Int($0)) })
        else { throw error("its indices do not fit the table") }
        return indices.indices.map { table[blocks.block(of: $0) * entries + Int(indices[$0])] }
    }

    /// Numbers where the mask is 1, zeros elsewhere.
    private func sparse(_ shape: [Int]) throws -> [Float] {
        let count = shape.reduce(1, *)
        let (data, mask) = try (numbers(try stored("nonzero_data")), stored("mask"))
        let bytes = try mask.bytes()
        guard bytes.count == (count + 7) / 8 else {
            throw error("\(bytes.count) bytes of mask do not fit \(count) elements")
        }
        let flags = BitPacking.unpack(bytes, count: count, bits: 1, signed: false)
        guard flags.reduce(0, +) == data.count else {
            throw error("its mask does not fit \(data.count) numbers")
        }
        var next = data.makeIterator()
        return flags.map { $0 == 1 ? next.next() ?? 0 : 0 }
    }
}

/// A tensor in blocks: each axis is divided into equal runs.
private struct Blocks {
    /// For each axis: elements behind one step, extent, run, blocks behind one step.
    private var steps: [(inner: Int, extent: Int, run: Int, stride: Int)] = []

    init(_ shape: [Int], groups: [Int], _ operation: RaisedOperation) throws {
        guard groups.count == shape.count,
            zip(shape, groups).allSatisfy({ $1 > 0 && $0 % $1 == 0 })
        else { throw operation.error("groups \(groups) do not divide the shape \(shape)") }
        let (inner, stride) = (Shape(shape).strides, Shape(groups).strides)
        for axis in shape.indices {
            steps.append((inner[axis], shape[axis], shape[axis] / groups[axis], stride[axis]))
        }
    }

    func block(of index: Int) -> Int {
        steps.reduce(0) { $0 + index / $1.inner % $1.extent / $1.run * $1.stride }
    }
}
