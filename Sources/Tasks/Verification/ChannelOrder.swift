import Glibc
import RetintTensors

/// The order in which an output has the expected channels, if it is another one, such as that of
/// blue, green and red.
struct ChannelOrder: Hashable, Sendable, Codable {
    /// For each channel, the expected one that it agrees with.
    let order: [Int]

    /// What is left of other differences, in dB.
    private static let leastSNR = 40.0
    /// By how many dB the values have to be nearer than in the expected order.
    private static let leastGain = 20.0
    private static let channels = 2...4

    /// - Parameters:
    ///   - computed: [N, C, H, W] with two to four channels.
    ///   - expected: of the same shape.
    /// - Returns: nil if the channels are in the expected order, or in none that explains the
    ///   difference.
    init?(_ computed: TensorData, _ expected: TensorData) {
        let shape = computed.shape
        guard shape.rank == 4, shape == expected.shape, Self.channels.contains(shape[1]) else {
            return nil
        }
        let channels = Array(0..<shape[1])
        let errors = channels.map { own in
            channels.map { Self.error(computed, own, expected, $0) }
        }
        order = channels.map { own in
            channels.min { errors[own][$0] < errors[own][$1] } ?? own
        }
        guard order != channels, order.sorted() == channels else { return nil }
        let energy = expected.scalars.reduce(0) { $0 + Double($1) * Double($1) }
        let noise = zip(channels, order).reduce(0) { $0 + errors[$1.0][$1.1] }
        let unordered = channels.reduce(0) { $0 + errors[$1][$1] }
        let snr = { 10 * log10(energy / max($0, 1e-14 * energy)) }
        guard energy > 0, energy.isFinite, unordered.isFinite,
            snr(noise) >= max(Self.leastSNR, snr(unordered) + Self.leastGain)
        else { return nil }
    }

    /// The sum of the squared differences of two channels.
    private static func error(
        _ computed: TensorData, _ own: Int, _ expected: TensorData, _ other: Int
    ) -> Double {
        let (count, channels) = (computed.shape[2] * computed.shape[3], computed.shape[1])
        return (0..<computed.shape[0]).reduce(0) { sum, image in
            let first = (image * channels + own) * count
            let second = (image * channels + other) * count
            return (0..<count).reduce(sum) { sum, index in
                let error =
                    Double(computed.scalars[first + index])
                    - Double(expected.scalars[second + index])
                return sum + error * error
            }
        }
    }

    /// The order in a clause.
    var text: String {
        "its channels agree with channels \(order.map(String.init).joined(separator: ", ")) of "
            + "those expected: their order differs"
    }
}
