import RetintGraph
import RetintMLPackage

/// Measures what each form of a weight alone costs.
struct WeightMeasuring {
    let package: MLPackage
    let probe: OutputProbe
    let bound: QuantizationBound
    /// The forms to choose from; the first one leaves a weight as it is.
    let forms: [WeightForm]
    /// The integers of the inputs of operations; nil if all stay floats.
    let activations: ActivationQuantization?
    /// The number of runs on which each weight is measured separately.
    private static let runs = 4

    /// What a form costs.
    struct Cost: Codable {
        /// The size of the weight.
        let bytes: Int
        /// The error of the outputs with this form only.
        let error: Double
    }

    /// The error of the package as it is.
    var ownError: Double {
        get throws { bound.error(try probe.ownChange(onFirst: Self.runs)) }
    }

    /// The forms that a weight can have.
    func tasks(_ weight: PackageWeight) -> [(form: WeightForm, task: WeightTask?)] {
        forms.compactMap { form in
            guard let scheme = form.scheme else { return (form, nil) }
            guard form.inputs == nil || takesIntegers(weight),
                case .success(let task) = WeightTask.make(weight, scheme)
            else { return nil }
            return (form, task)
        }
    }

    /// Whether the inputs of all operations that use a weight can be quantized.
    private func takesIntegers(_ weight: PackageWeight) -> Bool {
        guard let activations else { return false }
        return weight.uses.allSatisfy { use in
            activations.sites.first(of: use.operation).map(activations.possible.contains) ?? false
        }
    }

    /// The cost of each of the forms that a weight can have.
    ///
    /// - Parameter base: the error of the package as it is.
    func costs(
        of weight: PackageWeight, _ inputs: WeightInputs, base: Double
    ) throws -> [Cost] {
        let values = try weight.finiteValues()
        return try tasks(weight).map { form, task in
            guard let task else { return Cost(bytes: weight.value.storedBytes, error: base) }
            guard form.inputs == nil else { return try integerCost(of: weight, form, inputs) }
            let compressed = task.compressed(values, inputs)
            let operations = compressed.operations(
                replacing: weight.constant, axis: task.axis, target: package.target)
            let change = try probe.change(
                to: [weight.name: compressed.decompressed], onFirst: Self.runs)
            return Cost(bytes: operations.storedBytes, error: bound.error(change))
        }
    }

    /// The cost of a weight whose operations get integers.
    private func integerCost(
        of weight: PackageWeight, _ form: WeightForm, _ inputs: WeightInputs
    ) throws -> Cost {
        var plan = QuantizationPlan(nil)
        plan.weights.byName[weight.name] = form.scheme
        var quantization = try PackageQuantization(package(of: Set(weight.operations)), plan)
        try quantization.replace(weight.name, inputs)
        let (package, report) = try quantization.finished()
        return Cost(
            bytes: report.compressed[0].bytesAfter,
            error: bound.error(try probe.change(to: package, onFirst: Self.runs)))
    }

    /// The package with integers for some operations.
    func package(of integerOperations: Set<String>) -> MLPackage {
        guard !integerOperations.isEmpty, let activations else { return package }
        return activations.used(by: integerOperations).quantized()
    }
}
