import RetintCoreMLProto
import RetintMLPackage

/// Weights in the forms that the format stores them in.
extension ReadLayer {
    /// Weights as a constant of a shape.
    ///
    /// - Parameter axis: that of the output channels, for which quantized weights may have scales.
    func weights(
        _ proto: ProtoWeightParams, _ shape: [Int], _ name: String, axis: Int = 0
    ) throws -> Blob {
        constant(.floats(try elements(proto, shape, name, axis: axis), shape: shape))
    }

    /// A vector if it is there.
    func bias(_ proto: ProtoWeightParams, _ count: Int, if isThere: Bool) throws -> Blob? {
        isThere ? try weights(proto, [count], "bias") : nil
    }

    /// The elements of weights, row by row.
    func elements(
        _ proto: ProtoWeightParams, _ shape: [Int], _ name: String, axis: Int = 0
    ) throws -> [Float] {
        guard let count = shape.product else { throw error("\(name) of \(shape) are too large") }
        let values = try decoded(proto, shape, count, name, axis: axis)
        guard values.count == count else {
            throw error("\(name): \(values.count) elements, but \(shape) needs \(count)")
        }
        return values
    }

    private func decoded(
        _ proto: ProtoWeightParams, _ shape: [Int], _ count: Int, _ name: String, axis: Int
    ) throws -> [Float] {
        if proto.hasQuantization, !proto.rawValue.isEmpty {
            let quantized = QuantizedWeights(proto, layer: self, name)
            return try quantized.floats(shape, count, axis: axis)
        }
        if !proto.floatValue.isEmpty { return proto.floatValue }
        guard !proto.float16Value.isEmpty else {
            throw error("\(name) are neither float32, float16 nor quantized")
        }
        guard proto.float16Value.count % 2 == 0 else {
            throw error("\(name): \(proto.float16Value.count) bytes of float16")
        }
        return HalfPrecision.floats(LittleEndian.halfs([UInt8](proto.float16Value)))
    }
}

/// Weights of 1 to 8 bits.
private struct QuantizedWeights {
    private let proto: ProtoWeightParams
    private let layer: ReadLayer
    private let name: String
    private let bits: UInt64

    init(_ proto: ProtoWeightParams, layer: ReadLayer, _ name: String) {
        (self.proto, self.layer, self.name) = (proto, layer, name)
        bits = proto.quantization.numberOfBits
    }

    func floats(_ shape: [Int], _ count: Int, axis: Int) throws -> [Float] {
        guard (1...8).contains(bits) else {
            throw layer.error("\(name): \(bits) bits, not 1 to 8")
        }
        let needed = (count * Int(bits) + 7) / 8
        guard proto.rawValue.count == needed else {
            throw layer.error(
                "\(name): \(proto.rawValue.count) bytes, but \(shape) of \(bits) bits need "
                    + "\(needed)")
        }
        let integers = Self.unpacked([UInt8](proto.rawValue), count, bits: Int(bits))
        switch proto.quantization.quantizationType {
        case .lookupTableQuantization(let table):
            return try looked(up: integers, in: table.floatValue)
        case .linearQuantization(let linear):
            return try scaled(integers, linear, shape, axis: axis)
        case nil: throw layer.error("the quantization of \(name) is of an unknown kind")
        }
    }

    private func looked(up integers: [UInt8], in table: [Float]) throws -> [Float] {
        guard table.count == 1 << bits else {
            throw layer.error("the table of \(name) has \(table.count) entries, not \(1 << bits)")
        }
        return integers.map { table[Int($0)] }
    }

    /// With one scale and bias, or one for each channel.
    private func scaled(
        _ integers: [UInt8], _ linear: ProtoLinearQuantizationParams, _ shape: [Int], axis: Int
    ) throws -> [Float] {
        let channels = shape.indices.contains(axis) ? shape[axis] : 1
        let biases = linear.bias.isEmpty ? linear.scale.map { _ in 0 } : linear.bias
        guard [1, channels].contains(linear.scale.count), biases.count == linear.scale.count else {
            throw layer.error(
                "\(name): \(linear.scale.count) scales and \(biases.count) biases for "
                    + "\(channels) channels")
        }
        guard linear.scale.count > 1 else {
            return integers.map { Float($0) * linear.scale[0] + biases[0] }
        }
        let inner = shape[(axis + 1)...].reduce(1, *)
        return integers.indices.map { index in
            let channel = index / inner % channels
            return Float(integers[index]) * linear.scale[channel] + biases[channel]
        }
    }

    /// Integers in a stream of bits, the highest bit of each first.
    private static func unpacked(_ bytes: [UInt8], _ count: Int, bits: Int) -> [UInt8] {
        if bits == 8 { return bytes }
        let mask = UInt16(1) << bits - 1
        return (0..<count).map { index in
            let start = index * bits
            let first = UInt16(bytes[start / 8]) << 8
            let second = start / 8 + 1 < bytes.count ? UInt16(bytes[start / 8 + 1]) : 0
            return UInt8((first | second) >> (16 - bits - start % 8) & mask)
        }
    }
}
