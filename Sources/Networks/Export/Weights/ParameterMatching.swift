import RetintArchitectures
import RetintFiles
import RetintGraph
import RetintMIL
import RetintTensors

/// Matches the parameters of a network with the constants of a package's program.
///
/// A program keeps the network's order of computation, but not every name: equal small constants
/// are merged, and names may have been changed to be legal. So the convolutions and normalizations
/// of network and program are matched in order.
struct ParameterMatching {
    /// A batch normalization that was folded into the preceding convolution.
    struct Folding {
        /// The module of the normalization: `stem.1`.
        let normalization: String
        /// The names of the convolution's parameters in the state dict.
        let convolutionNames: [String]
        /// The names of the normalization's parameters in the state dict.
        let normalizationNames: [String]
        let epsilon: Float
        /// The convolution's bias in the package.
        let bias: TensorData
    }

    /// The values found so far, by name in the state dict.
    private(set) var values: [String: TensorData] = [:]
    private(set) var foldings: [Folding] = []

    private let network: Graph
    private let package: RaisedModel
    /// The package's node for each of the network's, by id.
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
            try assign(node, from: other)
        }
        guard rest.isEmpty else { throw mismatch("nothing more", rest.first) }
        try checkBiases(nodes)
    }

    /// Whether the package has no normalization after the counterpart of the node's convolution.
    private func isFolded(_ node: ParameterNode, before next: ParameterNode?) -> Bool {
        guard node.isNormalization, let convolution = counterparts[node.source] else {
            return false
        }
        return !(next.map { $0.isNormalization && $0.source == convolution.id } ?? false)
    }

    private mutating func assign(_ node: ParameterNode, from other: ParameterNode) throws {
        counterparts[node.id] = other
        for (parameter, value) in zip(node.parameters, other.parameters) {
            values[name(parameter)] = try data(value, of: other)
        }
        guard let own = node.operation as? BatchNormInference,
            let written = other.operation as? BatchNormInference, own.epsilon != written.epsilon
        else { return }
        // A float16 package has another ε. Adjust the variance so that their sum stays the same.
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
                epsilon: own.epsilon, bias: try data(other.parameters[1], of: other)))
    }

    /// Refuses a bias that the network does not have, unless it results from folding.
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

    /// The value of a constant of the package.
    private func data(_ id: Int, of node: ParameterNode) throws -> TensorData {
        switch package.graph.nodes[id].operation {
        case let constant as Constant: return constant.data
        case let variable as Variable:
            if let data = package.variables[variable.variableName] { return data }
        default: break
        }
        throw mismatch("\(node.place) with constant parameters", node)
    }
}

/// Folded normalizations and errors.
extension ParameterMatching {
    /// Makes each folded normalization an identity after the folded weights.
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

    /// The error that lists the parameters that folding made unrecoverable.
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
        error.remedies = [Remedy(.foldsBatchNorm), Remedy(.allowsFolded)]
        return error
    }

    private func mismatch(_ expected: String, _ found: ParameterNode?) -> ConversionError {
        let actual = found.map { "has \($0.place) (\($0.text))" } ?? "ends"
        return ConversionError(
            place: "program", rule: "it \(actual) where the architecture has \(expected)",
            remedy: "The package was changed after retint exported it: export it again.")
    }
}
