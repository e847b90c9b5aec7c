import RetintGraph
import RetintLayers
import RetintTensors

/// The weights and inputs of the goldens, drawn as in Goldens/seeded.py.
enum Seeded {
    static let weightSeed: UInt64 = 1
    static let inputSeed: UInt64 = 2

    /// The last layers' ranges: colors that are neither gray nor saturated.
    static let outputs = [
        "model_out.weight": 8.0, "model_out.0.weight": 0.02, "head.0.weight": 0.005,
        "classes.weight": 0.3,
    ]
    /// Normalizations of branches that are added up.
    static let branches = [".norm.weight", ".identity.weight"]

    static func uniform(
        seed: UInt64, _ name: String, _ shape: Shape, _ range: ClosedRange<Double>
    ) -> TensorData {
        var random = RandomStream(seed: seed, name: name)
        let initializer = Initializer.uniform(low: range.lowerBound, high: range.upperBound)
        return initializer.values(shape, &random)
    }

    static func range(_ name: String, _ shape: Shape) -> ClosedRange<Double> {
        if let bound = outputs[name] { return -bound...bound }
        if shape.rank == 4 {
            let bound = (6 / Double(shape[1] * shape[2] * shape[3])).squareRoot()
            return -bound...bound
        }
        if name.hasSuffix("running_var") { return 1...2 }
        if branches.contains(where: name.hasSuffix) { return 0.2...0.6 }
        return name.hasSuffix(".weight") ? 0.5...1.5 : -0.2...0.2
    }

    static func weights(of network: Module) -> [String: TensorData] {
        var values: [String: TensorData] = [:]
        for entry in StateSpec(of: network).tensors {
            let range = range(entry.name, entry.shape)
            values[entry.name] = uniform(seed: weightSeed, entry.name, entry.shape, range)
        }
        return values
    }

    static func input(_ name: String, _ shape: Shape, _ range: ClosedRange<Double>) -> TensorData {
        uniform(seed: inputSeed, name, shape, range)
    }
}
