import RetintFiles
import RetintGraph
import RetintLayers
import RetintTensors

extension ONNXModel {
    /// The parameters and buffers under the names of their initializers, in the order in which
    /// nodes use them.
    package var namedParameters: [(name: String, parameter: Parameter)] {
        let roles = roles
        var seen: Set<String> = []
        var result: [(name: String, parameter: Parameter)] = []
        for name in nodes.flatMap(\.inputs) {
            guard let role = roles[name], let tensor = initializers[name],
                seen.insert(name).inserted
            else { continue }
            let parameter = Parameter(
                tensor.shape, role: role == .buffer ? .buffer : .parameter,
                initializer: tensor.rank > 1 ? .standardWeight : .zeros)
            result.append((name, parameter))
        }
        return result
    }

    /// Whether an exporter made up a name, which is not that of a module's parameter.
    package static func isMadeUp(_ name: String) -> Bool {
        func isNumbered(by marker: String) -> Bool {
            guard let range = name.ranges(of: marker).last else { return false }
            let number = name[range.upperBound...]
            return !number.isEmpty && number.allSatisfy(\.isNumber)
        }
        return name.hasPrefix("onnx::") || name.hasPrefix("val_") && isNumbered(by: "val_")
            || isNumbered(by: "_output_")
    }

    /// The parameters that several operations use, in the order of their use.
    package var sharedParameters: [String] {
        var uses: [String: Int] = [:]
        for name in nodes.flatMap(\.inputs) { uses[name, default: 0] += 1 }
        return namedParameters.filter { $1.role == .parameter && uses[$0] ?? 0 > 1 }.map(\.name)
    }

    /// The model without the elements of its parameters and buffers, and these elements by name.
    package func separated() -> (model: ONNXModel, weights: [String: TensorData]) {
        var model = self
        var weights: [String: TensorData] = [:]
        for name in roles.keys {
            guard let tensor = initializers[name], let values = tensor.floats else { continue }
            weights[name] = TensorData(shape: tensor.shape, scalars: values)
            model.initializers[name] = tensor.withoutElements
        }
        return (model, weights)
    }

    /// Gives parameters and buffers names that suit a state dict: dotted, of letters, digits and
    /// `_ : -`. `/model1/Conv.weight` becomes `model1.Conv.weight`.
    package mutating func nameParameters() {
        var taken = Set(initializers.keys).union(nodes.flatMap(\.outputs))
            .union(inputs.map(\.name))
        var names: [String: String] = [:]
        for (old, _) in namedParameters {
            let wanted = Self.dotted(old)
            guard wanted != old else { continue }
            names[old] = taken.insertUnused(wanted, from: 2)
        }
        initializers = Dictionary(
            uniqueKeysWithValues: initializers.map { (names[$0.key] ?? $0.key, $0.value) })
        weightForms = Dictionary(
            uniqueKeysWithValues: weightForms.map { (names[$0.key] ?? $0.key, $0.value) })
        for index in nodes.indices {
            nodes[index].inputs = nodes[index].inputs.map { names[$0] ?? $0 }
        }
    }

    /// The reserved groups of a checkpoint's file: no weight's name may start with one.
    private static let reserved = ["optimizer", "retint"]

    private static func dotted(_ name: String) -> String {
        let parts = name.split { $0 == "/" || $0 == "." }.map { part in
            String(
                part.map {
                    $0.isASCII && ($0.isLetter || $0.isNumber || "_:-".contains($0)) ? $0 : "_"
                })
        }
        guard let first = parts.first else { return "parameter" }
        return (reserved.contains(first) ? "_" : "") + parts.joined(separator: ".")
    }
}
