import RetintTensors
import Testing

@testable import RetintRuntime

/// Noise with the spectrum of photos.
@Suite struct NaturalNoiseTests {
    private let noise = InputNoise.natural(lower: 0, upper: 100)

    private func plane(_ side: Int = 256, seed: UInt64 = 0) -> [Float] {
        noise.values([1, 1, side, side], seed: seed, name: "lightness").scalars
    }

    @Test func hasTheRangeOfPhotos() {
        let values = plane()
        let mean = values.reduce(0, +) / Float(values.count)
        let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Float(values.count)
        #expect(values.allSatisfy { (0...100).contains($0) })
        #expect((35..<65).contains(mean), "\(mean)")
        #expect((15..<25).contains(variance.squareRoot()), "\(variance)")
        #expect(values == plane() && values != plane(seed: 1))
    }

    /// Halving the image leaves out one octave, and with it the same variance each time.
    @Test func eachOctaveHasTheSameVariance() {
        var (image, side) = (plane(512), 512)
        var lost: [Float] = []
        for _ in 0..<4 {
            let half = (0..<side / 2 * (side / 2)).map { index in
                let (x, y) = (2 * (index % (side / 2)), 2 * (index / (side / 2)))
                let pair = image[y * side + x] + image[y * side + x + 1]
                return (pair + image[(y + 1) * side + x] + image[(y + 1) * side + x + 1]) / 4
            }
            lost.append(variance(image) - variance(half))
            (image, side) = (half, side / 2)
        }
        // Means of four pixels also take from the octaves above, and interpolation from all.
        for (fine, coarse) in zip(lost, lost.dropFirst()) {
            #expect((0.55..<1.1).contains(coarse / fine), "\(lost)")
        }
    }

    private func variance(_ values: [Float]) -> Float {
        let mean = values.reduce(0, +) / Float(values.count)
        return values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Float(values.count)
    }

    @Test func channelsAreThoseOfAGrayPhoto() {
        let values = noise.values([2, 3, 17, 5], seed: 0, name: "rgb").scalars
        let planes = stride(from: 0, to: values.count, by: 85).map { Array(values[$0..<$0 + 85]) }
        #expect(planes[0] == planes[1] && planes[1] == planes[2])
        #expect(planes[0] != planes[3] && planes[3] == planes[5])
    }

    /// Shapes without images, of one pixel, and of one row.
    @Test(arguments: [[], [7], [1, 1], [1, 1, 1, 9], [3, 2], [1, 1, 40, 3]] as [[Int]])
    func fitsEveryShape(_ shape: [Int]) {
        let values = noise.values(Shape(shape), seed: 3, name: "x")
        #expect(values.shape == Shape(shape) && values.scalars.count == shape.reduce(1, *))
        #expect(values.scalars.allSatisfy { (0...100).contains($0) })
    }

    @Test func isReadAndWritten() {
        #expect(InputNoise("natural:0..100") == noise)
        #expect(InputNoise(noise.description) == noise)
        #expect(InputNoise("natural:1..0") == nil && InputNoise("natural:0,1") == nil)
    }
}
