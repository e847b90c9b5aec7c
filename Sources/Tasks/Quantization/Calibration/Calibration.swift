import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// Runs a package on calibration inputs and accumulates the second moments of the inputs
/// of its convolutions and matrix products.
final class Calibration {
    private let graph: ModelGraph
    private let runs: [[NamedTensor]]
    private let sites: [Site]
    /// Moments by weight name, cached if those of all weights fit into memory.
    private var cache: [String: [WeightInputs.Part]] = [:]
    /// The number of input patches sampled per run and weight.
    private static let patchLimit = 1024
    /// The number of second moments (Float) kept in memory at a time: 512 MiB.
    private static let momentLimit = 1 << 27

    /// A convolution or matrix product, identified by the name of its weight.
    private struct Site {
        let weight: String
        let input: Tensor
        let parts: [WeightPart]

        var momentCount: Int { parts.reduce(0) { $0 + $1.features.count * $1.features.count } }
    }

    /// - Parameter runs: the inputs of each run, at least one; L in 0…100 for lightness.
    /// - Throws: `ModelError` if the model does not run on them.
    init(_ model: Model, on runs: [[NamedTensor]]) throws {
        graph = try model.graph(on: runs[0])
        self.runs = runs
        sites = Self.sites(graph.graph)
    }

    private static func sites(_ graph: Graph) -> [Site] {
        graph.nodes.indices.compactMap { id in
            let node = graph.nodes[id]
            guard node.inputs.count > 1,
                let weight = graph.nodes[node.inputs[1]].operation as? Variable,
                let parts = parts(node.operation, graph.nodes[node.inputs[1]].shape, node.shape)
            else { return nil }
            return Site(
                weight: weight.variableName, input: Tensor(graph: graph, id: node.inputs[0]),
                parts: parts)
        }
    }

    private static func parts(
        _ operation: any Operation, _ weight: Shape, _ output: Shape
    ) -> [WeightPart]? {
        switch operation {
        case let convolution as Convolution:
            WeightPart.parts(convolution, weight, output: output)
        case let transpose as ConvolutionTranspose:
            WeightPart.parts(transpose, weight, output: output)
        case let product as MatMul: WeightPart.parts(product, weight)
        default: nil
        }
    }

    /// Returns nil if there are no inputs.
    convenience init?(_ model: Model, unlessEmpty runs: [[NamedTensor]]) throws {
        guard !runs.isEmpty else { return nil }
        try self.init(model, on: runs)
    }

    /// Calls `body` with the input moments of each weight. If they do not all fit into memory,
    /// computes them for a few weights at a time, with one pass over the inputs for each group.
    func forEachWeight(
        among names: Set<String>, _ body: (String, [WeightInputs.Part]) throws -> Void
    ) throws {
        for group in groups(names) {
            var parts = group.map { cache[$0.weight] }
            if parts.contains(where: { $0 == nil }) { parts = try accumulateMoments(group) }
            for (index, site) in group.enumerated() {
                guard let moments = parts[index] else { continue }
                parts[index] = nil
                if fitsIntoMemory { cache[site.weight] = moments }
                try Task.checkCancellation()
                try body(site.weight, moments)
            }
        }
    }

    private var fitsIntoMemory: Bool {
        sites.reduce(0) { $0 + $1.momentCount } <= Self.momentLimit
    }

    /// Runs the package and accumulates the input moments of these convolutions.
    private func accumulateMoments(_ group: [Site]) throws -> [[WeightInputs.Part]?] {
        let program = try ModelProgram(
            graph.replacingOutputs(
                with: group.enumerated().map { ("\($0.offset)", $0.element.input) }))
        var moments = group.map { site in
            site.parts.map { WeightInputs.Moments(features: $0.features.count) }
        }
        for inputs in runs {
            let values = try program.outputs(of: inputs)
            for (index, site) in group.enumerated() {
                guard let input = values["\(index)"] else { continue }
                for (position, part) in site.parts.enumerated() {
                    moments[index][position].add(part.patches(of: input, limit: Self.patchLimit))
                }
            }
        }
        return zip(group, moments).map { Array(zip($0.parts, $1)).map { ($0, $1) } }
    }

    /// Splits the convolutions into groups whose moments fit into memory together. A weight that
    /// several convolutions share is calibrated on the first one only.
    private func groups(_ names: Set<String>) -> [[Site]] {
        var (groups, seen, count) = ([[Site]](), Set<String>(), 0)
        for site in sites where names.contains(site.weight) && seen.insert(site.weight).inserted {
            if groups.isEmpty || count + site.momentCount > Self.momentLimit {
                groups.append([])
                count = 0
            }
            groups[groups.count - 1].append(site)
            count += site.momentCount
        }
        return groups
    }
}
