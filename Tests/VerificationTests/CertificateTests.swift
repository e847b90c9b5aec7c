import Foundation
import RetintExport
import RetintFloat64
import RetintGraph
import RetintTensors
import Testing

@testable import RetintRuntime
@testable import RetintVerification

/// Certificates: bounds on all values for all inputs, and what a search finds.
@Suite struct CertificateTests {
    private static let shape: Shape = [1, 1, 16, 16]
    /// The random images: `RETINT_TESTS_IMAGES=10000` tries more.
    private static let imageCount =
        ProcessInfo.processInfo.environment["RETINT_TESTS_IMAGES"].flatMap { Int($0) } ?? 200

    /// Levels of gray as lightness, 0…100.
    private static let levels = (0...255).map { Float($0) * 100 / 255 }
    private static let lightness = CertifiedInput(name: "x", levels: [levels], isGray: true)

    private static func weights(_ shape: Shape, _ scale: Float, seed: UInt64) -> TensorData {
        var random = RandomStream(seed: seed)
        let scalars = (0..<shape.count).map { _ in scale * Float(2 * random.uniform() - 1) }
        return TensorData(shape: shape, scalars: scalars)
    }

    private static func convolved(
        _ x: Tensor, _ outputs: Int, kernel: Int = 3, stride: Int = 1, scale: Float, seed: UInt64
    ) -> Tensor {
        let shape: Shape = [outputs, x.shape[1], kernel, kernel]
        return conv2d(
            x, weight: x.graph.constant(weights(shape, scale, seed: seed)),
            bias: x.graph.constant(weights([outputs], scale, seed: seed + 1)), stride: Pair(stride),
            padding: Padding(kernel / 2))
    }

    private static func network(_ build: @escaping @Sendable (Tensor) -> Tensor) -> SmallNetwork {
        SmallNetwork(
            precision: .float16, shape: shape, input: scattered(256, 0...100), build: build)
    }

    /// Operations of colorizers, one after the other.
    private static let colorizer = network { x in
        let first = relu6(convolved(x / 100, 8, stride: 2, scale: 0.5, seed: 1))
        let second = hardSwish(convolved(first, 8, scale: 0.3, seed: 3)) + first
        let gate = sigmoid(second.mean(axes: [2, 3], keepDims: true))
        let large = upsampleBilinear(second * gate, factor: 2)
        let joined = concat([large, leakyRelu(large - 1)], axis: 1)
        let shares = softmax(convolved(joined, 12, kernel: 1, scale: 0.4, seed: 5), axis: 1)
        return tanh(convolved(shares, 2, kernel: 1, scale: 2, seed: 7)) * 110
    }

    /// Adds many numbers with signs of a checkerboard: only that picture makes it large.
    private static let planted = network { x in
        let signs = (0..<64).map { Float(($0 / 8 + $0) % 2 == 0 ? 25 : -25) }
        let weight = x.graph.constant(TensorData(shape: [1, 1, 8, 8], scalars: signs))
        return conv2d(x, weight: weight) * 0.001
    }

    private func certificate(
        _ network: SmallNetwork, _ input: CertifiedInput = lightness
    ) throws -> VerificationReport.Certificate {
        try network.model().certificate(for: [input], shapes: [network.shape])
    }

    private func noise(_ seed: Int) -> TensorData {
        var random = RandomStream(seed: UInt64(seed), name: "photo")
        // From flat to full contrast.
        let contrast = Float(random.uniform())
        let middle = Float(random.uniform())
        let scalars = (0..<Self.shape.count).map { _ -> Float in
            let share = middle + contrast * (Float(random.uniform()) - middle)
            return Self.levels[SearchSpace.level(share)]
        }
        return TensorData(shape: Self.shape, scalars: scalars)
    }

    private func lightness(of picture: CertificatePicture) -> TensorData {
        TensorData(
            shape: Self.shape,
            scalars: (0..<256).map { Self.levels[Int(picture.pixels[3 * $0])] })
    }

    /// - Returns: the largest error of an output.
    private func check(
        _ certificate: VerificationReport.Certificate, _ model: Model, _ data: TensorData
    ) throws -> Double {
        let inputs = [NamedTensor("x", data)]
        let evaluation = try ArithmeticEvaluation(model, on: inputs, .float16)
        var exact = try evaluation.exact(inputs)
        var expected: [Int: [Double]] = [:]
        while let (id, value) = try exact.next() { expected[id] = value.values }
        let program = try model.program(on: inputs, compute: .float16)
        var run = try program.start(inputs)
        var last = 0.0
        while let values = run.next() {
            for value in values {
                let layer = certificate.layers[value.index]
                let numbers = value.data.scalars.map(Double.init)
                let wanted = try #require(
                    expected[evaluation.graph.values[value.index].tensor.id])
                let error = zip(numbers, wanted).map { abs($0 - $1) }.max() ?? 0
                let isWithin = numbers.allSatisfy { (layer.lower...layer.upper).contains($0) }
                if !isWithin || error > layer.error {
                    Issue.record("\(layer): \(error), \(numbers.min()!)…\(numbers.max()!)")
                }
                last = error
            }
        }
        return last
    }

    /// Whatever the picture is, all values are within the bounds, and their errors too.
    @Test func randomImagesAreWithinTheBounds() throws {
        let certificate = try certificate(Self.colorizer)
        #expect(certificate.isShown, "\(certificate.gaps)")
        #expect(certificate.layers.allSatisfy { $0.upper < 65_504 && $0.error.isFinite })
        let model = try Self.colorizer.model()
        let errors = try (0..<Self.imageCount).map { try check(certificate, model, noise($0)) }
        let output = certificate.outputs[0]
        #expect(errors.allSatisfy { $0 > 0 && $0 <= output.error })
        let (found, largest) = (try #require(output.found), try #require(errors.prefix(200).max()))
        if Self.imageCount > errors.prefix(200).count {
            print("\(errors.count) images: errors up to \(errors.max() ?? 0): \(output)")
        }
        #expect(found >= largest, "noise has \(largest), the search found \(found)")
        #expect(found <= output.error && output.upper <= 110.1 && output.lower >= -110.1)
    }

    /// The worst picture is one of whole levels, on which the model has the error that is stated.
    @Test func theWorstPictureHasItsError() throws {
        let certificate = try certificate(Self.colorizer)
        let picture = try #require(certificate.picture)
        #expect(picture.width == 16 && picture.height == 16 && picture.pixels.count == 768)
        #expect((0..<256).allSatisfy { Set(picture.pixels[3 * $0..<3 * $0 + 3]).count == 1 })
        let error = try check(certificate, Self.colorizer.model(), lightness(of: picture))
        #expect(error == certificate.outputs[0].found)
    }

    /// An overflow that photos and noise do not show is refuted by a picture that shows it.
    @Test func aPlantedOverflowIsRefuted() throws {
        let certificate = try certificate(Self.planted)
        let model = try Self.planted.model()
        func overflows(_ data: TensorData) throws -> Bool {
            try model.run([NamedTensor("x", data)], compute: .float16)
                .contains { NonFinite(in: $0.data) != nil }
        }
        for seed in 0..<100 { #expect(try !overflows(noise(seed))) }
        #expect(!certificate.isShown && certificate.gaps[0].operation == "conv")
        #expect(certificate.gaps[0].reason.contains("float16 ends at 65504"))
        #expect(certificate.refutation?.operation == "conv" && certificate.failure != nil)
        #expect(try overflows(lightness(of: #require(certificate.picture))))
    }

    /// Without the overflow, the same network is shown to have none.
    @Test func withoutOverflowItIsShown() throws {
        let small = Self.network { x in
            let signs = (0..<64).map { Float(($0 / 8 + $0) % 2 == 0 ? 20 : -20) }
            let weight = x.graph.constant(TensorData(shape: [1, 1, 8, 8], scalars: signs))
            return conv2d(x, weight: weight) * 0.001
        }
        let certificate = try certificate(small)
        #expect(certificate.isShown && certificate.failure == nil)
        // 32 · 20 · 100, rounded.
        #expect(certificate.layers[0].upper >= 64_000 && certificate.layers[0].upper < 64_064)
        #expect(certificate.layers[0].lower <= -64_000)
    }

    /// At the border, a window covers zeros.
    @Test func paddingIsCovered() throws {
        let network = Self.network { x in
            let weight = TensorData(shape: [1, 1, 3, 3], repeating: 1)
            return conv2d(x + 50, weight: x.graph.constant(weight), padding: 1)
        }
        let certificate = try certificate(network)
        let sums = try #require(certificate.layers.last)
        // Four of nine taps cover pixels in a corner.
        #expect(sums.lower <= 200 && sums.upper >= 1350 && sums.upper < 1360)
        let black = TensorData(shape: Self.shape, repeating: 0)
        _ = try check(certificate, network.model(), black)
    }

    /// Linear operations at a pixel are one function: what cancels out does not widen the bounds.
    @Test func linearOperationsAreJoined() throws {
        let network = Self.network { x in
            func weight(_ shape: Shape, _ scalars: [Float]) -> Tensor {
                x.graph.constant(TensorData(shape: shape, scalars: scalars))
            }
            let twice = conv2d(x, weight: weight([2, 1, 1, 1], [1.1, 1.1]))
            let difference = conv2d(twice, weight: weight([2, 2, 1, 1], [3, -3, 1, -1]))
            return difference + twice
        }
        let certificate = try certificate(network)
        let (twice, difference) = (certificate.layers[0], certificate.layers[1])
        #expect(twice.upper > 109 && difference.upper < 1 && difference.lower > -1)
        #expect(difference.error > 0 && certificate.outputs[0].upper < 111)
        let model = try network.model()
        for seed in 0..<50 { _ = try check(certificate, model, noise(seed)) }
    }

    /// What cannot be shown is said by the name of the operation.
    @Test func gapsNameTheirOperations() throws {
        let quotient = try certificate(Self.network { x in 1 / (x - 50) })
        #expect(quotient.gaps.contains { $0.operation == "real_div" || $0.operation == "inverse" })
        let root = try certificate(Self.network { x in sqrt(x - 50) })
        #expect(root.gaps.first?.operation == "sqrt" && !root.isShown)
        let powers = try certificate(Self.network { x in exp(x / 9) })
        #expect(powers.gaps.first?.operation == "exp" && powers.refutation != nil)
        #expect(try certificate(Self.network { x in exp(x / 10) }).isShown, "e¹⁰ is below 65504")
    }

    @Test func onlyFloat16IsCertified() throws {
        let single = SmallNetwork(
            precision: .float32, shape: Self.shape, input: scattered(256, 0...100)
        ) { $0 * 2 }
        #expect(throws: VerificationError.self) { try certificate(single) }
        #expect(
            CertifiedInput(
                ModelInterface.Value(name: "x", shapes: .init([1, 8])),
                .normal(mean: 0, deviation: 1))
                == nil)
    }

    /// The certificate is the same again, and as it was after it was saved.
    @Test func certificatesAreReproduced() throws {
        let (first, second) = (try certificate(Self.colorizer), try certificate(Self.colorizer))
        #expect(first.outputs == second.outputs && first.tried == second.tried)
        #expect(first.layers == second.layers)
        #expect(first.picture?.pixels == second.picture?.pixels)
    }
}

/// Bounds on single numbers.
@Suite struct IntervalTests {
    @Test func productsContainAllProducts() {
        let numbers = [-3.0, -0.1, 0, 0.7, 2]
        for low in numbers {
            for high in numbers where low <= high {
                for other in numbers {
                    let product = Interval(low, high) * Interval(other, 2)
                    for x in [low, (low + high) / 2, high] {
                        #expect(product.contains(x * other) && product.contains(x * 2))
                    }
                }
            }
        }
        #expect(Interval(1, 2) / Interval(-1, 1) == .everything)
        #expect(Interval(-2, 1).absolute == Interval(0, 2))
    }

    @Test func thirdsAreRoundedOutward() {
        let third = Interval(1) / Interval(3)
        #expect(third.lower < 1.0 / 3 && third.upper > 1.0 / 3 && third.width < 1e-15)
        #expect((Interval(0.1) + Interval(0.2)).contains(0.3))
    }

    @Test func halvesHaveHalfAUnit() {
        let bound = Bound(exact: Interval(0, 1000), computed: Interval(0, 1000), error: 0)
        #expect(bound.roundedToHalf.error >= 0.25 && bound.roundedToHalf.error < 0.2501)
        let small = Bound(exact: Interval(0, 1e-9), computed: Interval(0, 1e-9), error: 0)
        #expect(small.roundedToHalf.computed == .zero && small.roundedToHalf.error >= 1e-9)
        #expect(!bound.mayOverflowHalf)
        #expect(Bound(65_520).mayOverflowHalf && !Bound(65_519).mayOverflowHalf)
    }
}
