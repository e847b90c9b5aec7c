import ColorizerExport
import Engine
import MIL
import MLPackage
import TensorGraph

/// Runs photos through a package and gathers what its weights are multiplied by.
final class Calibration {
    private let raised: RaisedModel
    private let photos: [TensorData]
    private let sites: [Site]
    /// What was gathered, by the weight's name, where all of it fits into memory.
    private var gathered: [String: [WeightInputs.Part]] = [:]
    /// Patches of one photo that are looked at, for each weight.
    private static let patchLimit = 1024
    /// Numbers of second moments that are kept at a time: 512 MiB.
    private static let momentLimit = 1 << 27

    /// A convolution, by the weight that it takes.
    private struct Site {
        let weight: String
        let input: Tensor
        let parts: [WeightPart]

        var momentCount: Int { parts.reduce(0) { $0 + $1.features.count * $1.features.count } }
    }

    /// - Parameter photos: lightness [1, 1, H, W] in 0…100, of the size that the package takes.
    init(_ package: MLPackage, photos: [TensorData]) throws {
        let opened = try RaisedPackage(package)
        guard let interface = opened.interface else {
            throw ConversionError(
                place: "interface", rule: "the package is no colorizer and takes no lightness",
                remedy: "Make its weights smaller without photos.")
        }
        raised = opened.model
        self.photos = photos.map { interface.input($0) }
        sites = Self.sites(raised.graph)
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
        default: nil
        }
    }

    /// - Returns: nil where there are no photos.
    convenience init?(_ package: MLPackage, unlessEmpty photos: [TensorData]) throws {
        guard !photos.isEmpty else { return nil }
        try self.init(package, photos: photos)
    }

    /// Calls with what each weight is multiplied by, a few weights at a time where all of it does
    /// not fit into memory.
    func forEachWeight(
        among names: Set<String>, _ body: (String, [WeightInputs.Part]) throws -> Void
    ) throws {
        for group in groups(names) {
            var parts = group.map { gathered[$0.weight] }
            if parts.contains(where: { $0 == nil }) { parts = try gather(group) }
            for (index, site) in group.enumerated() {
                guard let known = parts[index] else { continue }
                parts[index] = nil
                if fitsIntoMemory { gathered[site.weight] = known }
                try body(site.weight, known)
            }
        }
    }

    private var fitsIntoMemory: Bool {
        sites.reduce(0) { $0 + $1.momentCount } <= Self.momentLimit
    }

    /// Runs the photos and looks at what goes into the convolutions of these weights.
    private func gather(_ group: [Site]) throws -> [[WeightInputs.Part]?] {
        let program = try Program(
            outputs: group.enumerated().map { ("\($0.offset)", $0.element.input) })
        try program.load(raised.variables)
        var moments = group.map { site in
            site.parts.map { WeightInputs.Moments(features: $0.features.count) }
        }
        for photo in photos {
            let values = try program.run([raised.inputs[0].name: photo])
            for (index, site) in group.enumerated() {
                guard let input = values["\(index)"] else { continue }
                for (place, part) in site.parts.enumerated() {
                    moments[index][place].add(part.patches(of: input, limit: Self.patchLimit))
                }
            }
        }
        return zip(group, moments).map { Array(zip($0.parts, $1)).map { ($0, $1) } }
    }

    /// Weights that go together; one that is used twice is looked at where it is used first.
    private func groups(_ names: Set<String>) -> [[Site]] {
        var (groups, known, count) = ([[Site]](), Set<String>(), 0)
        for site in sites where names.contains(site.weight) && known.insert(site.weight).inserted {
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

extension ColorizerInterface {
    /// What the model takes for lightness in 0…100.
    func input(_ lightness: TensorData) -> TensorData {
        TensorData(
            shape: lightness.shape, scalars: lightness.scalars.map { $0 * lightnessScale })
    }
}
