import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// The largest magnitudes that a package's values reach on calibration inputs, for each channel of
/// ``ChannelClasses``.
struct ChannelMaxima {
    /// One maximum per channel, or one for the whole value, by the value's name.
    private(set) var maxima: [String: [Float]] = [:]
    /// The same for the sums inside operations, by the name of the operation's result; the channels
    /// are those of the value that is summed.
    private(set) var sums: [String: (sum: InnerSum, bounds: [Float])] = [:]

    /// - Parameters:
    ///   - runs: the inputs of each run, at least one; L in 0…100 for lightness.
    ///   - hasSums: whether sums inside operations are looked at, too.
    /// - Throws: `ModelError` if the model does not run on them; `ConversionError` if a value is
    ///   not finite.
    init(
        _ model: Model, _ classes: ChannelClasses, on runs: [[NamedTensor]], hasSums: Bool = false
    ) throws {
        let names = classes.values.keys.filter { classes.types[$0]?.dataType.isFloat == true }
        let graph = try model.graph(on: runs[0], folds: false).observing(names.sorted())
        let program = try ModelProgram(graph, observes: true)
        let innerSums = hasSums ? classes.innerSums : [:]
        for inputs in runs {
            var run = try program.start(inputs)
            while let values = run.next() {
                for value in values {
                    let name = program.values[value.index].name
                    guard let channels = classes.values[name] else { continue }
                    let found = value.data.maxima(along: channels)
                    guard found.allSatisfy(\.isFinite) else {
                        throw ConversionError.notFinite(value: name)
                    }
                    maxima[name] = maxima[name].map { zip($0, found).map(max) } ?? found
                    for sum in innerSums[name] ?? [] {
                        let bounds = sum.bounds(value.data, channels, found)
                        let known = sums[sum.result]?.bounds
                        sums[sum.result] = (sum, known.map { zip($0, bounds).map(max) } ?? bounds)
                    }
                }
            }
        }
    }
}

extension ChannelMaxima {
    /// The largest magnitude of each class, by its root.
    func byClass(_ classes: ChannelClasses) -> [Int: Float] {
        largest(classes, classes.values.keys.map { ($0, maxima[$0] ?? []) })
    }

    /// The largest sum inside operations of each class that is summed, by its root.
    func sumsByClass(_ classes: ChannelClasses) -> [Int: Float] {
        largest(classes, sums.values.map { ($0.sum.value, $0.bounds) })
    }

    private func largest(
        _ classes: ChannelClasses, _ found: [(name: String, maxima: [Float])]
    ) -> [Int: Float] {
        var result: [Int: Float] = [:]
        for (name, maxima) in found {
            for (id, maximum) in zip(classes.values[name]?.ids ?? [], maxima) {
                let root = classes.root(id)
                result[root] = max(result[root] ?? 0, maximum)
            }
        }
        return result
    }
}

extension TensorData {
    /// The largest magnitude of each channel; infinite if one of its elements is not finite.
    fileprivate func maxima(along channels: ChannelClasses.Channels) -> [Float] {
        func largest(_ range: Range<Int>, _ start: Float) -> Float {
            var result = start
            for value in scalars[range] {
                let magnitude = value.magnitude
                result = magnitude <= .greatestFiniteMagnitude ? max(result, magnitude) : .infinity
            }
            return result
        }
        guard let axis = channels.axis, axis < shape.rank, shape[axis] == channels.ids.count else {
            return [Float](repeating: largest(scalars.indices, 0), count: channels.ids.count)
        }
        let inner = shape.dimensions[(axis + 1)...].reduce(1, *)
        var result = [Float](repeating: 0, count: channels.ids.count)
        guard inner > 0 else { return result }
        for start in stride(from: 0, to: scalars.count, by: inner) {
            let channel = start / inner % result.count
            result[channel] = largest(start..<start + inner, result[channel])
        }
        return result
    }
}
