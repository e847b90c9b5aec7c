import Foundation
import RetintGraph
import RetintTensors
import RetintTestSupport

@testable import RetintONNXReading

/// A model with inputs and outputs, as the scripts in Goldens record them.
struct RecordedCase: Decodable, Sendable, CustomStringConvertible {
    let name: String
    let model: Data
    let tolerance: Float
    let inputs: [String: RecordedTensor]
    let outputs: [String: RecordedTensor]

    var description: String { name }

    static func all(_ file: String) -> [RecordedCase] { recorded(file) }
}

/// What a script in Goldens recorded, for the arguments of a test, which cannot throw.
func recorded<Value: Decodable>(_ file: String) -> Value {
    do { return try decodeGolden(file) } catch { fatalError("\(file): \(error)") }
}

/// Elements that are numbers, or the names of those that JSON has none for.
struct RecordedTensor: Decodable, Sendable {
    let shape: [Int]
    let values: [Float]

    private enum CodingKeys: CodingKey { case shape, values }

    private struct Element: Decodable {
        let value: Float

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Float.self) {
                value = number
            } else {
                value = Float(try container.decode(String.self)) ?? .nan
            }
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        shape = try container.decode([Int].self, forKey: .shape)
        values = try container.decode([Element].self, forKey: .values).map(\.value)
    }

    var data: TensorData { TensorData(shape: Shape(shape), scalars: values) }

    func tensor(_ type: ONNXElementType = .float) -> ONNXTensor {
        ONNXTensor(floats: values, dimensions: shape, as: type)
    }
}
