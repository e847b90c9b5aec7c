import RetintTensors

/// How a weight of a network was made of the one that its file holds, such as by a transposition.
///
/// A network is run with the result, which is trained; a state dict needs the weight as the file
/// has it, where PyTorch put it.
package struct WeightForm: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// Axis `i` of the result is axis `order[i]` of the weight.
        case transposed([Int])
        /// The weight had these dimensions.
        case reshaped([Int])
        /// An operation that is not undone.
        case computed(String)
    }

    package private(set) var steps: [Step] = []

    /// The operation that makes it impossible to undo the changes; nil if they can be undone.
    package var irreversible: String? {
        steps.lazy.compactMap { if case .computed(let operation) = $0 { operation } else { nil } }
            .first
    }

    /// Adds what a node does to a weight.
    mutating func add(_ node: ONNXNode, _ weight: ONNXTensor, _ result: ONNXTensor) {
        switch node.operation {
        case "Cast": break
        case "Transpose":
            var order = Array((0..<weight.rank).reversed())
            if case .integers(let given)? = node.attributes["perm"] {
                order = given.map { Int($0) }
            }
            steps.append(.transposed(order))
        case "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Identity":
            if weight.dimensions != result.dimensions { steps.append(.reshaped(weight.dimensions)) }
        default: steps.append(.computed(node.operation))
        }
    }

    /// The weight of the file that gives a weight of the network.
    ///
    /// - Returns: nil if the changes cannot be undone, or do not fit the shape.
    package func original(of weight: TensorData) -> TensorData? {
        var result = ONNXTensor(floats: weight.scalars, dimensions: weight.shape.dimensions)
        for step in steps.reversed() {
            switch step {
            case .transposed(let order):
                guard order.sorted() == Array(0..<result.rank) else { return nil }
                result = result.transposed(by: order.indices.map { order.firstIndex(of: $0) ?? 0 })
            case .reshaped(let dimensions):
                let count = dimensions.reduce(1) { product, extent in
                    let (value, overflows) = product.multipliedReportingOverflow(by: extent)
                    return overflows || extent < 0 ? -1 : value
                }
                guard count == result.count else { return nil }
                result = result.reshaped(dimensions)
            case .computed: return nil
            }
        }
        return result.floats.map { TensorData(shape: result.shape, scalars: $0) }
    }
}

/// As in the metadata of a checkpoint: `transposed 1 0, reshaped 20 32`.
extension WeightForm: LosslessStringConvertible {
    package var description: String {
        steps.map { step in
            switch step {
            case .transposed(let order): Self.line("transposed", order)
            case .reshaped(let dimensions): Self.line("reshaped", dimensions)
            case .computed(let operation): "computed \(operation)"
            }
        }
        .joined(separator: ", ")
    }

    private static func line(_ word: String, _ numbers: [Int]) -> String {
        ([word] + numbers.map(String.init)).joined(separator: " ")
    }

    package init?(_ text: String) {
        for part in text.split(separator: ",") {
            let words = part.split(separator: " ").map(String.init)
            let numbers = words.dropFirst().compactMap { Int($0) }
            let areNumbers = numbers.count + 1 == words.count
            switch words.first {
            case "transposed" where areNumbers: steps.append(.transposed(numbers))
            case "reshaped" where areNumbers: steps.append(.reshaped(numbers))
            case "computed" where words.count == 2: steps.append(.computed(words[1]))
            default: return nil
            }
        }
    }
}
