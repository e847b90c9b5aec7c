import RetintTensors
import Testing

@testable import RetintVerification

/// Outputs whose channels are in another order than expected.
@Suite struct ChannelOrderTests {
    private static let expected = tensor { index in Float((index * 37) % 41) - 11 }

    private static func tensor(
        _ shape: Shape = [2, 3, 4, 5], _ element: (Int) -> Float
    ) -> TensorData {
        TensorData(shape: shape, scalars: (0..<shape.count).map(element))
    }

    /// The expected channels in another order, with an error added to each element.
    private func shuffled(_ order: [Int], error: Float = 0) -> TensorData {
        Self.tensor { index in
            let (plane, pixel) = index.quotientAndRemainder(dividingBy: 20)
            let (image, channel) = plane.quotientAndRemainder(dividingBy: 3)
            let source = (image * 3 + order[channel]) * 20 + pixel
            return Self.expected.scalars[source] + (index.isMultiple(of: 2) ? error : -error)
        }
    }

    @Test(arguments: [[2, 1, 0], [1, 2, 0], [1, 0, 2]]) func anotherOrderIsFound(_ order: [Int]) {
        #expect(ChannelOrder(shuffled(order), Self.expected)?.order == order)
        #expect(ChannelOrder(shuffled(order, error: 0.05), Self.expected)?.order == order)
    }

    /// More than 40 dB has to remain, and a channel cannot be two.
    @Test(arguments: [([0, 1, 2], 0.05), ([2, 1, 0], 1), ([1, 1, 0], 0)] as [([Int], Float)])
    func othersAreNot(_ order: [Int], _ error: Float) {
        #expect(ChannelOrder(shuffled(order, error: error), Self.expected) == nil)
    }

    @Test(arguments: [[2, 3], [1, 1, 4, 5], [1, 5, 2, 2], [2, 3, 4]] as [Shape])
    func onlyPicturesAreLookedAt(_ shape: Shape) {
        let values = Self.tensor(shape) { Float($0) }
        let reversed = Self.tensor(shape) { Float(shape.count - $0) }
        #expect(ChannelOrder(reversed, values) == nil)
    }

    @Test func itIsSaid() throws {
        let order = try #require(ChannelOrder(shuffled([2, 1, 0]), Self.expected))
        #expect(
            order.text == "its channels agree with channels 2, 1, 0 of those expected: their order "
                + "differs")
    }
}
