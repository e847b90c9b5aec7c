import RetintGraph
import RetintLayers
import RetintTensors
import Testing

@Suite struct InitializerTests {
    /// SplitMix64's published first outputs for state 0 stand behind FNV-1a and a mixed seed here,
    /// so the stream is checked against values that Goldens/seeded.py gave.
    @Test func theStreamIsTheOneThatPythonDraws() {
        var random = RandomStream(seed: 1, name: "model1.0.weight")
        let drawn = (0..<4).map { _ in Float(random.uniform()) }
        #expect(
            drawn == [
                0.5606662631034851, 0.014534294605255127, 0.7201372385025024, 0.9378147125244141,
            ])
    }

    struct Case: Sendable {
        let initializer: Initializer
        let shape: Shape
        let deviation: Double
        let bound: Double
    }

    // Deviations and bounds by torch.nn.init's formulas; fan in 288, fan out 576.
    static let cases = [
        Case(
            initializer: .standardWeight, shape: [64, 32, 3, 3],
            deviation: 1 / (3 * 288.0).squareRoot(), bound: 1 / 288.0.squareRoot()),
        Case(
            initializer: .standardBias(weight: [64, 32, 3, 3]), shape: [20000],
            deviation: 1 / (3 * 288.0).squareRoot(), bound: 1 / 288.0.squareRoot()),
        Case(
            initializer: .kaimingUniform(slope: 0), shape: [64, 32, 3, 3],
            deviation: (2 / 288.0).squareRoot(), bound: (6 / 288.0).squareRoot()),
        Case(
            initializer: .kaimingNormal(.in), shape: [64, 32, 3, 3],
            deviation: (2 / 288.0).squareRoot(), bound: .infinity),
        Case(
            initializer: .kaimingNormal(.out), shape: [64, 32, 3, 3],
            deviation: (2 / 576.0).squareRoot(), bound: .infinity),
        Case(
            initializer: .xavierUniform(gain: 2), shape: [64, 32, 3, 3],
            deviation: 2 * (2 / 864.0).squareRoot(), bound: 2 * (6 / 864.0).squareRoot()),
        Case(
            initializer: .xavierNormal(gain: 1), shape: [64, 32, 3, 3],
            deviation: (2 / 864.0).squareRoot(), bound: .infinity),
        Case(
            initializer: .normal(mean: 0, deviation: 3), shape: [20000], deviation: 3,
            bound: .infinity),
    ]

    @Test(arguments: cases.indices)
    func distributionsAreThoseOfPyTorch(_ index: Int) {
        let test = Self.cases[index]
        var random = RandomStream(seed: 7, name: "x")
        let values = test.initializer.values(test.shape, &random).scalars.map(Double.init)
        let count = Double(values.count)
        let mean = values.reduce(0, +) / count
        let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
        #expect(abs(mean) < 4 * test.deviation / count.squareRoot())
        #expect(abs(variance.squareRoot() / test.deviation - 1) < 0.03)
        #expect(values.allSatisfy { abs($0) <= test.bound })
        if test.bound < .infinity {
            #expect(values.contains { $0 > 0.98 * test.bound })
            return
        }
        // A normal distribution: 68.27 % within one deviation, 95.45 % within two.
        for (deviations, share) in [(1.0, 0.6827), (2.0, 0.9545)] {
            let within = values.filter { abs($0) < deviations * test.deviation }.count
            #expect(abs(Double(within) / count - share) < 0.02)
        }
    }

    @Test func anotherLayerLeavesTheOthersAsTheyWere() {
        let short = Sequential(Conv2d(3, 8, kernel: 3), ReLU(), Conv2d(8, 2, kernel: 1))
        let long = Sequential(short.layers + [Conv2d(2, 2, kernel: 1)])
        let before = StateSpec(of: short).initialValues(seed: 3)
        let after = StateSpec(of: long).initialValues(seed: 3)
        #expect(before.count == 4 && after.count == 6)
        for (name, value) in before { #expect(after[name] == value) }
        #expect(StateSpec(of: short).initialValues(seed: 4)["0.weight"] != before["0.weight"])
    }
}
