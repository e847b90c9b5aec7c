import RetintFloat64
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors

@testable import RetintRuntime
@testable import RetintVerification

/// A network of a few operations, as a package, and its input.
struct SmallNetwork: Sendable {
    let precision: MILDataType
    let shape: Shape
    let input: [Double]
    /// Whether there is another output, of operations of many kinds that lose little.
    var hasOther = false
    let build: @Sendable (Tensor) -> Tensor

    func model() throws -> Model {
        let x = Graph().input("x", shape)
        let outputs = [("y", build(x))] + (hasOther ? [("z", other(x))] : [])
        let lowered = try MILLowering.lower(
            outputs.map { (name: $0.0, value: $0.1) }, variables: [:],
            LoweringOptions(precision, .iOS16))
        return Model(try package(lowered.program, .iOS16), name: "small")
    }

    private func other(_ x: Tensor) -> Tensor {
        let few = x.reshaped([1, shape.count]).sliced(axis: 1, 0..<8) * 0.001
        let gates: Tensor = sigmoid(few + 1)
        let products = matmul(gates, gates, transposeX: true)
        let shares = softmax(products * 2, axis: 1)
        let means = (shares * shares).mean(axes: [0], keepDims: true)
        let scaled: Tensor = gates / sqrt(means + 1)
        return tanh(scaled) - log(exp(scaled).sum(axes: [1], keepDims: true))
    }

    var inputs: VerificationInputs {
        let data = TensorData(shape: shape, scalars: input.map { Float($0) })
        return VerificationInputs(count: 1) { _ in
            VerificationInputs.Input(labels: ["x"], tensors: [NamedTensor("x", data)])
        }
    }

    /// The network in drawn arithmetics, against itself in float32.
    func survey(_ count: Int = 24, seed: UInt64 = 1) throws -> VerificationReport.ArithmeticSurvey {
        let model = try model()
        return try survey(model.arithmetics(count, seed: seed))
    }

    func survey(
        _ arithmetics: [DeviceArithmetic]
    ) throws -> VerificationReport.ArithmeticSurvey {
        let model = try model()
        var options = VerificationOptions()
        options.tolerance = Tolerance(minSNR: 40)
        let report = try model.verify(against: model, on: inputs, options: options)
        return try model.survey(arithmetics, against: model, on: inputs, report: report)
    }
}

/// Numbers that are spread over a range, without order.
func scattered(_ count: Int, _ range: ClosedRange<Double>) -> [Double] {
    (0..<count).map { index in
        let unit = Double((index * 7919 + 13) % 2003) / 2003
        return range.lowerBound + unit * (range.upperBound - range.lowerBound)
    }
}
