import RetintEngine
import RetintFiles
import RetintFloat64
import RetintGraph
public import RetintRuntime
public import RetintTensors

extension Model {
    /// Bounds every value of a package for all inputs in their ranges, and searches for the inputs
    /// that come nearest to the bounds.
    ///
    /// - Parameters:
    ///   - inputs: the ranges of all inputs, in the model's order.
    ///   - shapes: their shapes; the bounds hold for them, and the search tries inputs of them.
    ///   - compute: the arithmetic; nil for the one that the package declares.
    ///   - seed: of the random inputs from which the search starts.
    ///   - onTry: called with the number of inputs that were tried.
    /// - Throws: ``VerificationError`` if the model is not a package with float16, or cannot be
    ///   evaluated.
    public func certificate(
        for inputs: [CertifiedInput], shapes: [Shape], compute: ComputePrecision? = nil,
        seed: UInt64 = 0, onTry: @escaping (Int) -> Void = { _ in }
    ) throws -> VerificationReport.Certificate {
        let compute = compute ?? computePrecision
        guard package != nil, computePrecision != .float32, compute != .float32 else {
            throw VerificationError(
                .badModel, path: name,
                "computes nothing in float16, which the bounds are about; export a float16 package")
        }
        return try verifying {
            try Certification(
                model: self, compute: compute, space: SearchSpace(inputs: inputs, shapes: shapes),
                seed: seed, onTry: onTry
            ).certificate()
        }
    }
}

/// The bounds of a model, and the search for inputs near them.
private struct Certification {
    typealias Certificate = VerificationReport.Certificate

    let model: Model
    let compute: ComputePrecision
    let space: SearchSpace
    let seed: UInt64
    let onTry: (Int) -> Void

    /// The overflows that are searched for.
    private static let mostSearched = 6
    /// The magnitude from which float16 rounds to infinity.
    private static let infinite: Float = 65_520

    private func graph(_ compute: ComputePrecision) throws -> ModelGraph {
        let shapes = zip(space.inputs, space.shapes).map { ($0.name, $1) }
        return try model.graph(
            shapes: Dictionary(shapes) { first, _ in first }, compute: compute, folds: false)
    }

    func certificate() throws -> Certificate {
        let graph = try graph(compute)
        let (values, outputs) = (graph.values, graph.outputs)
        let roots = values.map(\.tensor.id) + outputs.map(\.value.id)
        let analysis = try BoundAnalysis(
            graph.graph, variables: graph.variables, roots: roots, ranges: ranges(graph))
        var tried = 0
        var overflow = try overflow(analysis, &tried)
        var worst: [(point: SearchPoint, size: Double)] = []
        if overflow.refutation == nil {
            for index in outputs.indices { worst.append(try largestError(index, &tried)) }
        }
        if let broken = worst.first(where: { !$0.size.isFinite }) {
            overflow.refutation = try refutation(space.tensors(broken.point))
            overflow.point = broken.point
        }
        var certificate = Certificate(
            inputs: space.inputs.map(Certificate.Input.init),
            layers: values.map { Certificate.Value($0, analysis.bounds(of: $0.tensor.id)) },
            outputs: outputs.enumerated().map { index, output in
                Certificate.Output(
                    output.name, analysis.bounds(of: output.value.id),
                    found: worst.isEmpty ? nil : worst[index].size)
            },
            gaps: gaps(graph, analysis, overflow.found), refutation: overflow.refutation,
            tried: tried)
        let point = overflow.point ?? worst.max { $0.size < $1.size }?.point
        certificate.picture = point.flatMap(space.picture)
        return certificate
    }

    private func ranges(_ graph: ModelGraph) -> [String: [Interval]] {
        let scale = Interval(Double(graph.lightnessScale))
        let pairs = space.inputs.map { input in
            let ranges = input.ranges.map { range in
                let whole = Interval(Double(range.lowerBound), Double(range.upperBound)) * scale
                return scale == Interval(1) ? whole : whole.widened(by: whole.magnitude * 0x1p-24)
            }
            return (input.name, ranges)
        }
        return Dictionary(pairs) { first, _ in first }
    }

    private func gaps(
        _ graph: ModelGraph, _ analysis: BoundAnalysis, _ found: [Int: Float]
    ) -> [Certificate.Gap] {
        let formats = GraphFormats(graph, allHalf: false)
        return analysis.gaps.map { gap in
            let owner = formats.owner(of: gap.id).map { graph.values[$0].description }
            let operation = graph.graph.nodes[gap.id].operation.name
            return Certificate.Gap(
                name: owner?.name ?? operation, operation: owner?.operation ?? operation,
                reason: gap.reason, found: found[gap.id].map(Double.init))
        }
    }
}

// MARK: Overflow

extension Certification {
    private struct Overflow {
        /// The largest magnitudes that were found, by nodes.
        var found: [Int: Float] = [:]
        var refutation: Certificate.Refutation?
        var point: SearchPoint?
    }

    /// Searches for an input on which one of the values that may be too large is.
    private func overflow(_ analysis: BoundAnalysis, _ tried: inout Int) throws -> Overflow {
        var result = Overflow()
        for gap in analysis.gaps.filter(\.isOverflow).prefix(Self.mostSearched) {
            guard let best = try largest(gap.id, &tried) else { continue }
            result.found[gap.id] = best.size
            guard !(best.size < Self.infinite) else { continue }
            if let refutation = try refutation(space.tensors(best.point)) {
                (result.refutation, result.point) = (refutation, best.point)
                return result
            }
        }
        return result
    }

    /// The input with the largest magnitude before a value is rounded; nil without gradients.
    private func largest(
        _ id: Int, _ tried: inout Int
    ) throws -> (point: SearchPoint, size: Float)? {
        let graph = try graph(compute)
        let operand = graph.graph.nodes[id].inputs[0]
        guard let program = try? ObjectiveProgram(graph, value: operand) else { return nil }
        var ascent = GradientAscent(space, seed: seed)
        var mask = ElementMask(count: program.shape.count)
        func measured(_ point: SearchPoint) throws -> GradientAscent.Measurement {
            let inputs = space.tensors(point)
            let found = try program.run(inputs, mask: mask.weights)
            let (place, size) = found.values.largest
            guard mask.choose(place, found.values[place]) else { return (size, [found.gradients]) }
            return (size, [try program.run(inputs, mask: mask.weights).gradients])
        }
        let best = try ascent.best(until: { !($0 < Self.infinite) }, measured)
        tried += ascent.tried
        onTry(tried)
        return best
    }

    /// The first value with NaN or infinity of the model's own run; nil if all are finite.
    private func refutation(_ inputs: [NamedTensor]) throws -> Certificate.Refutation? {
        let program = try model.program(on: inputs, compute: compute)
        var run = try program.start(inputs)
        while let values = run.next() {
            for value in values {
                guard let found = NonFinite(in: value.data) else { continue }
                let layer = program.values[value.index]
                return Certificate.Refutation(
                    name: layer.name, operation: layer.operation, count: found.count)
            }
        }
        return nil
    }
}

// MARK: Errors

extension Certification {
    /// The input with the largest error of an output that the search finds; the error is that
    /// against exact arithmetic.
    private func largestError(
        _ index: Int, _ tried: inout Int
    ) throws -> (point: SearchPoint, size: Double) {
        let (half, single) = (try graph(compute), try graph(.float32))
        let computed = try? ObjectiveProgram(half, value: half.outputs[index].value.id)
        let exact = try? ObjectiveProgram(single, value: single.outputs[index].value.id)
        var ascent = GradientAscent(space, seed: seed)
        var best: (point: SearchPoint, size: Float)?
        if let computed, let exact {
            var mask = ElementMask(count: computed.shape.count)
            func measured(_ point: SearchPoint) throws -> GradientAscent.Measurement {
                try errors(computed, exact, space.tensors(point), &mask)
            }
            best = try ascent.best(measured)
        }
        tried += ascent.tried
        onTry(tried)
        let point = best?.point ?? space.start(0, seed: seed)
        return (point, try error(index, space.tensors(point)))
    }

    /// The largest difference of two programs, and the directions in which it and the value grow.
    private func errors(
        _ computed: ObjectiveProgram, _ exact: ObjectiveProgram, _ inputs: [NamedTensor],
        _ mask: inout ElementMask
    ) throws -> GradientAscent.Measurement {
        var first = try computed.run(inputs, mask: mask.weights)
        var second = try exact.run(inputs, mask: mask.weights)
        let differences = zip(first.values, second.values).map { $0 - $1 }
        let (place, size) = differences.largest
        if mask.choose(place, differences[place]) {
            first = try computed.run(inputs, mask: mask.weights)
            second = try exact.run(inputs, mask: mask.weights)
        }
        let apart = zip(first.gradients, second.gradients).map { zip($0, $1).map { $0 - $1 } }
        let isOutward = (second.values[place] < 0) == (differences[place] < 0)
        let growing = second.gradients.map { $0.map { isOutward ? $0 : -$0 } }
        return (size, [apart, growing])
    }

    /// The largest difference of an output from that in exact arithmetic.
    private func error(_ index: Int, _ inputs: [NamedTensor]) throws -> Double {
        let evaluation = try ArithmeticEvaluation(model, on: inputs, compute)
        let id = evaluation.graph.outputs[index].value.id
        let name = evaluation.graph.outputs[index].name
        var (exact, expected) = (try evaluation.exact(inputs), [Double]())
        while let (node, value) = try exact.next() {
            if node == id { expected = value.values }
        }
        let outputs = try model.run(inputs, compute: compute)
        let computed = outputs.first { $0.name == name }?.data.scalars ?? []
        return zip(computed, expected).reduce(0) { largest, pair in
            let difference = abs(Double(pair.0) - pair.1)
            return difference.isNaN ? .infinity : max(largest, difference)
        }
    }
}

extension [Float] {
    /// The place and the magnitude of the element with the largest one; NaN counts as infinite.
    fileprivate var largest: (place: Int, size: Float) {
        var (place, size) = (0, Float(0))
        for (index, value) in enumerated() {
            let magnitude = value.isNaN ? .infinity : abs(value)
            if magnitude > size { (place, size) = (index, magnitude) }
        }
        return (place, size)
    }
}

// MARK: Reports

extension VerificationReport.Certificate.Input {
    fileprivate init(_ input: CertifiedInput) {
        self.init(
            name: input.name, lower: input.ranges.map(\.lowerBound),
            upper: input.ranges.map(\.upperBound))
    }
}

extension VerificationReport.Certificate.Value {
    fileprivate init(_ value: TracedValue, _ bounds: BoundArray) {
        let hull = bounds.hull
        self.init(
            name: value.description.name, operation: value.description.operation,
            lower: hull.computed.lower, upper: hull.computed.upper, error: hull.error)
    }
}

extension VerificationReport.Certificate.Output {
    fileprivate init(_ name: String, _ bounds: BoundArray, found: Double?) {
        let hull = bounds.hull
        self.init(
            name: name, lower: hull.computed.lower, upper: hull.computed.upper, error: hull.error,
            found: found)
    }
}
