import Colorizers
import Files
import MIL
import TensorGraph

/// Finds the parameters of a network in a package's program.
///
/// A program keeps the order in which the network computes, but not every name: equal small
/// constants are one, a name may have been changed to be legal. So the convolutions and
/// normalizations of both are gone through side by side.
struct ParameterMatching {
    /// A batch normalization that became a part of the convolution in front of it.
    struct Folding {
        /// The module of the normalization: `stem.1`.
        let normalization: String
        /// The names of what the convolution has in the state dict, and what the normalization has.
        let convolutionNames: [String]
        let normalizationNames: [String]
        let epsilon: Float
        /// The convolution's bias in the package.
        let bias: TensorData
    }

    /// By their names in the state dict.
    private(set) var values: [String: TensorData] = [:]
    private(set) var foldings: [Folding] = []

    private let network: Graph
    private let package: RaisedModel
    /// The package's node for each of the network's.
    private var counterparts: [Int: ParameterNode] = [:]

    init(_ origin: PackageOrigin, _ package: RaisedModel) throws {
        network = Graph(mode: .inference)
        self.package = package
        let side = origin.colorizer.requiredMultiple
        let ab = origin.colorizer(network.input("input", [1, 1, side, side]))
        try network.validate()
        try match(
            ParameterNode.all(for: [ab]), ParameterNode.all(for: package.outputs.map(\.value)))
    }

    private mutating func match(_ nodes: [ParameterNode], _ found: [ParameterNode]) throws {
        var rest = found[...]
        var convolutions: [Int: ParameterNode] = [:]
        for node in nodes {
            if let convolution = convolutions[node.source], isFolded(node, before: rest.first) {
                try fold(node, into: convolution)
                convolutions[node.source] = nil
                continue
            }
            let next = rest.popFirst()
            guard let other = next, node.isLike(other) else {
                throw mismatch("\(node.place) (\(node.text))", next)
            }
            if node.operation is Convolution { convolutions[node.id] = node }
            try take(node, other)
        }
        guard rest.isEmpty else { throw mismatch("nothing more", rest.first) }
        try checkBiases(nodes)
    }

    /// Whether the package has no such normalization behind the convolution's counterpart.
    private func isFolded(_ node: ParameterNode, before next: ParameterNode?) -> Bool {
        guard node.isNormalization, let convolution = counterparts[node.source] else {
            return false
        }
        return !(next.map { $0.isNormalization && $0.source == convolution.id } ?? false)
    }

    private mutating func take(_ node: ParameterNode, _ other: ParameterNode) throws {
        counterparts[node.id] = other
        for (parameter, value) in zip(node.parameters, other.parameters) {
            values[name(parameter)] = try number(value, of: other)
        }
        guard let own = node.operation as? BatchNormInference,
            let written = other.operation as? BatchNormInference, own.epsilon != written.epsilon
        else { return }
        // A float16 package has another ε; what counts is its sum with the variance.
        let change = Double(written.epsilon) - Double(own.epsilon)
        for index in values[name(node.parameters[3])]!.scalars.indices {
            let variance = Double(values[name(node.parameters[3])]!.scalars[index])
            values[name(node.parameters[3])]!.scalars[index] = Float(variance + change)
        }
    }

    private mutating func fold(_ node: ParameterNode, into convolution: ParameterNode) throws {
        guard let own = node.operation as? BatchNormInference,
            let other = counterparts[convolution.id], other.parameters.count == 2
        else { throw mismatch("\(node.place) (\(node.text))", counterparts[convolution.id]) }
        let names = node.parameters.map(name)
        foldings.append(
            Folding(
                normalization: network.nodes[node.id].module,
                convolutionNames: convolution.parameters.map(name), normalizationNames: names,
                epsilon: own.epsilon, bias: try number(other.parameters[1], of: other)))
    }

    /// A bias that the network does not have must come from a normalization.
    private func checkBiases(_ nodes: [ParameterNode]) throws {
        let explained = Set(foldings.flatMap(\.convolutionNames))
        for node in nodes {
            guard let other = counterparts[node.id],
                other.parameters.count > node.parameters.count,
                !explained.contains(name(node.parameters[0]))
            else { continue }
            throw mismatch("\(node.place) without a bias", other)
        }
    }

    private func name(_ id: Int) -> String {
        (network.nodes[id].operation as? Variable)?.variableName ?? ""
    }

    /// The numbers of a constant of the package.
    private func number(_ id: Int, of node: ParameterNode) throws -> TensorData {
        switch package.graph.nodes[id].operation {
        case let constant as Constant: return constant.data
        case let variable as Variable:
            if let data = package.variables[variable.variableName] { return data }
        default: break
        }
        throw mismatch("\(node.place) with constant parameters", node)
    }
}

/// Foldings and refusals.
extension ParameterMatching {
    /// Lets each folded normalization do nothing behind the folded weights.
    mutating func unfold() {
        for folding in foldings {
            let shape = folding.bias.shape
            let biasName = folding.convolutionNames.dropFirst().first
            let zeros = TensorData(shape: shape, repeating: 0)
            if let biasName { values[biasName] = folding.bias }
            let vectors = [
                TensorData(shape: shape, repeating: 1), biasName == nil ? folding.bias : zeros,
                zeros, TensorData(shape: shape, repeating: 1 - folding.epsilon),
            ]
            for (name, vector) in zip(folding.normalizationNames, vectors) { values[name] = vector }
        }
    }

    /// Names what a folding made unrecoverable.
    var refusal: ConversionError {
        let lines = foldings.map {
            "\n  \($0.convolutionNames.joined(separator: ", ")) with "
                + $0.normalizationNames.joined(separator: ", ")
        }
        var error = ConversionError(
            place: "\(foldings.count) convolutions",
            rule: "batch normalizations are folded into their weights and cannot be separated from "
                + "them:\(lines.joined())\nThe checkpoint has both",
            remedy: "Take the weights from it or from a package exported without folding; or allow "
                + "folded weights, with normalizations that do nothing.")
        error.remedies = [Remedy("foldsBatchNorm"), Remedy("allowsFolded")]
        return error
    }

    private func mismatch(_ due: String, _ found: ParameterNode?) -> ConversionError {
        let what = found.map { "has \($0.place) (\($0.text))" } ?? "ends"
        return ConversionError(
            place: "program", rule: "it \(what) where the architecture has \(due)",
            remedy: "The package was changed after retint made it: export it again.")
    }
}
