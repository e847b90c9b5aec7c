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
    let build: @Sendable (Tensor) -> Tensor

    func model() throws -> Model {
        let output = build(Graph().input("x", shape))
        let lowered = try MILLowering.lower(
            [("y", output)], variables: [:], LoweringOptions(precision, .iOS16))
        return Model(try package(lowered.program, .iOS16), name: "small")
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
