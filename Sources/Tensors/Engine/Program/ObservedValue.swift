import RetintCompiler
import RetintGraph
import RetintTensors

/// An observed value in the memory of its program.
public struct ObservedValue {
    /// The index among the values that the program was asked to observe.
    public let index: Int
    let buffer: Buffer

    /// The extents of the value.
    public var shape: Shape { buffer.shape }

    /// The value, row-major.
    public var data: TensorData { TensorData(shape: shape, scalars: buffer.scalars()) }

    /// Copies the scalars in the engine's order, which is the same for equal shapes: faster than
    /// ``data`` for comparing two values element by element.
    ///
    /// - Parameter scalars: replaced; its memory is reused.
    public func copyScalars(to scalars: inout [Float]) {
        scalars.removeAll(keepingCapacity: true)
        scalars.append(
            contentsOf: UnsafeBufferPointer(start: buffer.pointer, count: buffer.count))
    }

    /// The largest magnitude of an element; infinite or NaN if any element is.
    public var largestMagnitude: Float {
        let scalars = UnsafeBufferPointer(start: buffer.pointer, count: buffer.count)
        return Float(bitPattern: largestMagnitudeBits(scalars))
    }
}

/// Without their signs, bit patterns are in the order of the magnitudes, infinity after all finite
/// values and NaN after infinity.
private func largestMagnitudeBits(_ scalars: UnsafeBufferPointer<Float>) -> UInt32 {
    typealias Lanes = SIMD16<Int32>
    let bytes = UnsafeRawBufferPointer(scalars)
    let mask = Lanes(repeating: .max)
    var largest = Lanes()
    let whole = scalars.count - scalars.count % Lanes.scalarCount
    for start in stride(from: 0, to: whole, by: Lanes.scalarCount) {
        let lanes = bytes.loadUnaligned(fromByteOffset: 4 * start, as: Lanes.self) & mask
        largest.replace(with: lanes, where: lanes .> largest)
    }
    let rest = scalars[whole...].reduce(0) { max($0, $1.magnitude.bitPattern) }
    return max(UInt32(largest.max()), rest)
}
