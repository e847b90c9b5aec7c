import RetintMLPackage
import RetintTensors

/// A sum inside an operation, such as the one that a mean divides: it is not a value of the
/// package, but in float16 it overflows like one.
struct InnerSum {
    /// The name of the value that is summed.
    let value: String
    /// The operation's result.
    let result: String
    let operation: String
    /// Axes over which all elements are summed; nil for windows.
    private let axes: Set<Int>?
    /// The elements of a window.
    private let windowElements: Int

    fileprivate init?(_ operation: MILOperation, _ classes: ChannelClasses) {
        guard let value = operation.inputs["x"]?.first?.name, let result = operation.outputs.first,
            let rank = classes.types[value]?.shape?.count
        else { return nil }
        switch operation.type {
        case "reduce_mean", "reduce_sum":
            let listed = classes.integers(operation, "axes") ?? Array(0..<rank)
            (axes, windowElements) = (Set(listed.map { $0 < 0 ? $0 + rank : $0 }), 0)
        case "avg_pool":
            let count = (classes.integers(operation, "kernel_sizes") ?? []).reduce(1) {
                $0.multipliedReportingOverflow(by: max($1, 0)).partialValue
            }
            (axes, windowElements) = (nil, count)
        default: return nil
        }
        (self.value, self.result, self.operation) = (value, result.name, operation.type)
    }

    /// A bound on the magnitude of the sum in whatever order it is computed, for each channel: the
    /// largest sum of magnitudes; for windows, as many times the largest element.
    ///
    /// - Parameters:
    ///   - data: the value that is summed.
    ///   - channels: those of the value.
    ///   - maxima: the largest magnitude of each channel.
    func bounds(
        _ data: TensorData, _ channels: ChannelClasses.Channels, _ maxima: [Float]
    ) -> [Float] {
        guard let axes else { return maxima.map { Self.finite($0 * Float(windowElements)) } }
        let shape = data.shape.dimensions
        // The place of an element's sum, and its channel, from its coordinates.
        var (count, strides) = (1, [Int](repeating: 0, count: shape.count))
        for axis in shape.indices.reversed() where !axes.contains(axis) {
            strides[axis] = count
            count *= shape[axis]
        }
        var sums = [Float](repeating: 0, count: count)
        var (place, coordinates) = (0, [Int](repeating: 0, count: shape.count))
        for scalar in data.scalars {
            sums[place] += scalar.magnitude
            for axis in shape.indices.reversed() {
                coordinates[axis] += 1
                place += strides[axis]
                if coordinates[axis] < shape[axis] { break }
                place -= strides[axis] * shape[axis]
                coordinates[axis] = 0
            }
        }
        guard let axis = channels.axis, shape.indices.contains(axis), strides[axis] > 0,
            shape[axis] == channels.ids.count
        else { return channels.ids.map { _ in Self.finite(sums.max() ?? 0) } }
        var result = channels.ids.map { _ in Float(0) }
        for (index, sum) in sums.enumerated() {
            let channel = index / strides[axis] % shape[axis]
            result[channel] = max(result[channel], Self.finite(sum))
        }
        return result
    }

    /// Elements are finite; their sum may not be.
    private static func finite(_ sum: Float) -> Float { min(sum, .greatestFiniteMagnitude) }
}

extension ChannelClasses {
    /// The sums inside operations, by the name of the value that is summed.
    var innerSums: [String: [InnerSum]] {
        Dictionary(grouping: program.operations.compactMap { InnerSum($0, self) }, by: \.value)
    }
}
