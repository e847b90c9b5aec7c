import Glibc
import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime

extension MLPackage {
    /// The package with powers of two moved from values into the weights that use them, so that the
    /// channels of a value have similar ranges and share one scale with less error.
    ///
    /// A channel with the largest magnitude x, whose weights have the largest magnitude w, gets
    /// the factor w^(1−α) ÷ x^α, rounded to a power of two, so that nothing is lost in float32
    /// (Xiao et al., "SmoothQuant", 2023; for depthwise convolutions, whose weights have a scale of
    /// their own per channel, α is 1, as in Nagel et al., "Data-Free Quantization", 2019).
    ///
    /// - Parameters:
    ///   - strength: α, from 0 to 1.
    ///   - runs: the inputs of each run, at least one.
    /// - Throws: the errors of `ChannelMaxima`; `ConversionError` if a bit of the outputs changes.
    func smoothed(
        _ strength: Double, on runs: [[NamedTensor]], _ execution: Execution
    ) throws -> MLPackage {
        let classes = ChannelClasses(program)
        let maxima = try ChannelMaxima(Model(self, execution: execution), classes, on: runs)
        var smoothing = try ActivationSmoothing(classes, maxima, strength)
        var result = self
        result.program = try smoothing.scaling.scaledProgram()
        guard try hasOutputs(of: result, on: runs, execution) else {
            throw ConversionError(
                place: "smoothing",
                rule: "the factors would change bits of the outputs in float32, because numbers "
                    + "become too small or too large",
                remedy: "Quantize without smoothing.")
        }
        return result
    }
}

private struct ActivationSmoothing {
    var scaling: ChannelScaling
    private let classes: ChannelClasses
    /// The largest magnitudes of classes, by their roots: of values, and of the weights that use
    /// them.
    private let activations: [Int: Float]
    private var weights: [Int: Float] = [:]
    /// The classes that only depthwise convolutions use.
    private var depthwise: Set<Int> = []

    init(_ classes: ChannelClasses, _ maxima: ChannelMaxima, _ strength: Double) throws {
        (self.classes, scaling) = (classes, ChannelScaling(classes))
        activations = maxima.byClass(classes)
        try findWeights()
        let wishes = wishes(strength)
        for component in components() {
            // The largest channel keeps its range, so that only others grow.
            let kept = component.compactMap { id -> Double? in
                guard let wish = wishes[id], let own = activations[id], own > 0 else { return nil }
                return wish + log2(Double(own))
            }.max()
            let largest = component.compactMap { activations[$0] }.max() ?? 0
            guard let kept, largest > 0 else { continue }
            let offset = log2(Double(largest)) - kept
            for id in component {
                if let wish = wishes[id] { scaling.set(id, to: Int((wish + offset).rounded())) }
            }
        }
    }

    /// The exponents that channels would have, but for one number for all channels of a value.
    private func wishes(_ strength: Double) -> [Int: Double] {
        var wishes: [Int: Double] = [:]
        for (id, maximum) in activations where maximum > 0 && !classes.isFixed(id) {
            guard let weight = weights[id], weight > 0 else { continue }
            let share = depthwise.contains(id) ? 1 : strength
            wishes[id] = (1 - share) * log2(Double(weight)) - share * log2(Double(maximum))
        }
        return wishes
    }

    /// The largest magnitude of the weights that use each class.
    private mutating func findWeights() throws {
        var dense: Set<Int> = []
        for constant in classes.constants {
            guard constant.isWeight, let channels = constant.divided.first,
                let axis = channels.axis, let value = classes.value(of: constant)
            else { continue }
            let shape = value.type.shape ?? []
            let isDepthwise = constant.groups > 1 && shape[axis] == 1
            let roots = channels.ids.map(classes.root)
            let elements = try value.floats()
            constant.forEachElement(of: shape, along: axis, channels: roots.count) {
                weights[roots[$1]] = max(weights[roots[$1]] ?? 0, elements[$0].magnitude)
            }
            if isDepthwise { depthwise.formUnion(roots) } else { dense.formUnion(roots) }
        }
        depthwise.subtract(dense)
    }

    /// The classes that appear together in values.
    private func components() -> [[Int]] {
        var sets = DisjointSets(count: classes.count)
        var free: Set<Int> = []
        for channels in classes.values.values {
            let own = channels.ids.map(classes.root).filter { !classes.isFixed($0) }
            free.formUnion(own)
            guard let first = own.first else { continue }
            for id in own { sets.unite(first, id) }
        }
        return Array(Dictionary(grouping: free, by: sets.root).values)
    }
}
