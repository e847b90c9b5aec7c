import Foundation
import RetintGraph
import RetintTensors
import RetintTestSupport

/// What Goldens/record_networks.py recorded.
struct Golden: Decodable {
    struct Sample: Decodable {
        let shape: [Int]
        let step: Int
        let samples: [Float]
        let mean: Double
        let max: Double

        /// The largest difference at the recorded places, and that of the means.
        func difference(from data: TensorData) -> (max: Double, mean: Double) {
            let differences = samples.enumerated().map { place, value in
                abs(Double(value) - Double(data.scalars[place * step]))
            }
            let sum = data.scalars.reduce(0) { $0 + Double($1) }
            return (differences.max() ?? 0, abs(sum / Double(data.shape.count) - mean))
        }
    }

    struct Network: Decodable {
        let names: [String]
        let shapes: [[Int]]
        let parameters: Int
        let layers: [String: Sample]
        let ab: Sample
    }

    struct Training: Decodable {
        let network: String
        let optimizer: String
        let rate: Float
        let losses: [Double]
        let running: [String: Sample]
    }

    let networks: [String: Network]
    let training: [Training]

    static func load() throws -> Golden { try decodeGolden("networks.json") }
}
