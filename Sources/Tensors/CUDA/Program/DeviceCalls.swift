import RetintCompiler
import RetintGraph
import RetintTensors

/// What a step starts on a GPU, one after another.
enum DeviceCall {
    case kernel(DeviceKernel)
    case segments(SegmentedKernel)
    case convolution(ConvolutionPlan, x: Buffer, w: Buffer, y: Buffer)
    case matrices(CuBLASLt.Plan, x: Buffer, y: Buffer, result: Buffer)
    case copy(Buffer, to: Buffer)
    case host(any HostCall)

    /// A copy of a value, in the format of another one.
    static func converting(_ source: Buffer, to target: Buffer) -> DeviceCall {
        source.storage.format == target.storage.format
            ? .copy(source, to: target) : .kernel(.conversion(of: source, to: target))
    }
}

/// The calls of one step, and the memory that only they use.
struct StepCalls {
    var calls: [DeviceCall] = []
    var scratch: [Storage] = []
    /// Bytes that a library asks for besides.
    var workspaceBytes = 0
}

/// Copies in 16 bits of values that change only when variables are loaded, such as the weights of a
/// program that does not train: they are made once per load.
final class FixedOperands {
    private let fixed: Set<ObjectIdentifier>
    private var copies: [ObjectIdentifier: [(offset: Int, copy: Buffer)]] = [:]
    private(set) var storages: [Storage] = []
    /// Make the copies.
    private(set) var kernels: [DeviceKernel] = []

    init(_ values: ValueTable) {
        fixed = Set(values.hoisted.map { ObjectIdentifier(values.buffer($0).storage.root) })
    }

    /// The copy of a value; nil if a run may change the value.
    func copy(of value: Buffer, in format: ElementFormat) -> Buffer? {
        let storage = ObjectIdentifier(value.storage.root)
        guard fixed.contains(storage) else { return nil }
        let known = copies[storage]?.first {
            $0.offset == value.offset && $0.copy.shape == value.shape
        }
        if let known { return known.copy }
        let made = Storage(kind: .owned, count: value.count)
        made.format = format
        let copy = Buffer(shape: value.shape, storage: made)
        storages.append(made)
        copies[storage, default: []].append((value.offset, copy))
        kernels.append(.conversion(of: value, to: copy))
        return copy
    }
}

/// Turns what a step has to do into calls.
struct StepLowering {
    private let gpu: GPU
    /// Of the operands of products.
    private let format: ElementFormat
    private let allowsTF32: Bool
    private let fixed: FixedOperands
    private let choices: EngineChoices
    private let ranks: RankCalls
    private let faults: IndexFaults
    /// Whether the step runs once per load, before the copies of fixed operands are made.
    private var isHoisted = false
    private var calls = StepCalls()

    init(
        _ gpu: GPU, _ arithmetic: ProductArithmetic, _ choices: EngineChoices,
        _ fixed: FixedOperands, _ ranks: RankCalls, _ faults: IndexFaults
    ) {
        (self.gpu, self.choices, self.fixed, self.ranks) = (gpu, choices, fixed, ranks)
        self.faults = faults
        (format, allowsTF32) = (arithmetic.format, arithmetic.allowsTF32)
    }

    /// - Throws: ``CUDAError`` if a library does not compute a product.
    func calls(of step: Step) throws(CUDAError) -> StepCalls {
        var copy = self
        copy.isHoisted = step.isHoisted
        let works = step.recordedWork
        let elementwise = works.compactMap { work -> ElementwiseWork? in
            if case .elementwise(let work) = work, work.head == nil { work } else { nil }
        }
        if works.count > 1, elementwise.count == works.count {
            copy.add(elementwise)
        } else {
            for work in works { try copy.add(work) }
        }
        return copy.calls
    }

    private mutating func add(_ works: [ElementwiseWork]) {
        for (kernel, works) in SegmentedKernel.kernels(works) {
            if let kernel {
                calls.calls.append(.segments(kernel))
            } else {
                for work in works { add(DeviceKernel(work)) }
            }
        }
    }

    private mutating func add(_ work: RecordedKernel.Work) throws(CUDAError) {
        switch work {
        case .copy(let source, let target): add(copying: source, to: target)
        case .elementwise(let work): add(DeviceKernel(work))
        case .operation(let node, let inputs, let output):
            switch ProductCall(node.operation, inputs.map(\.shape), output.shape) {
            case .convolution(let call): try add(call, inputs, output)
            case .matrices(let product): try add(product, inputs, output)
            case nil: try add(node, inputs, output)
            }
        }
    }

    private mutating func add(
        _ node: Graph.Node, _ inputs: [Buffer], _ output: Buffer
    ) throws(CUDAError) {
        switch node.operation {
        case let operation as any DeviceOperation:
            for kernel in operation.deviceKernels(inputs: inputs, output: output) { add(kernel) }
        case let operation as any IndexingOperation:
            let place = faults.place(of: operation, node, inputs)
            let kernel = operation.deviceKernel(inputs: inputs, output: output, fault: place)
            if let kernel { add(kernel) } else { add(operation, node, inputs, output) }
        case let operation as any HostOperation: add(operation, node, inputs, output)
        case let operation as AllReduceStart:
            calls.calls += try ranks.start(operation, inputs, output, gpu)
        case is AllReduceFinish: calls.calls.append(try ranks.finish(output))
        case let operation as any RankCombination:
            calls.calls.append(ranks.combination(operation, inputs[0], output))
        default: throw CUDAError("\(node.operation.name) has no kernel")
        }
    }

    private mutating func add(
        _ operation: any HostOperation, _ node: Graph.Node, _ inputs: [Buffer], _ output: Buffer
    ) {
        let call = HostOperationCall(
            operation: operation, node: node, inputs: inputs, output: output)
        calls.calls.append(.host(call))
    }

    private mutating func add(_ kernel: DeviceKernel) {
        calls.scratch += kernel.scratch
        calls.calls.append(.kernel(kernel))
    }

    private mutating func add(copying source: Buffer, to target: Buffer) {
        calls.calls.append(.converting(source, to: target))
    }

    // MARK: Operands

    private mutating func scratch(_ shape: Shape, _ format: ElementFormat) -> Buffer {
        let storage = Storage(kind: .owned, count: shape.count)
        storage.format = format
        calls.scratch.append(storage)
        return Buffer(shape: shape, storage: storage)
    }

    /// The value in a format, at a place that libraries can read.
    private mutating func operand(_ value: Buffer, _ format: ElementFormat) -> Buffer {
        let alignment = 16 / format.bytes
        if value.storage.format == format, value.offset.isMultiple(of: alignment) { return value }
        if !isHoisted, let copy = fixed.copy(of: value, in: format) { return copy }
        let copy = scratch(value.shape, format)
        add(copying: value, to: copy)
        return copy
    }

    /// Where a library can write a value.
    private mutating func target(_ value: Buffer, _ format: ElementFormat) -> Buffer {
        let alignment = 16 / format.bytes
        return value.storage.format == format && value.offset.isMultiple(of: alignment)
            ? value : scratch(value.shape, format)
    }

    private mutating func finish(_ result: Buffer, to output: Buffer) {
        guard result.storage.root !== output.storage.root else { return }
        add(copying: result, to: output)
    }

    // MARK: Products

    private mutating func add(
        _ wanted: CuBLASLt.Product, _ inputs: [Buffer], _ output: Buffer
    ) throws(CUDAError) {
        var product = wanted
        (product.format, product.allowsTF32) = (format.number, allowsTF32)
        let (x, y) = (operand(inputs[0], format), operand(inputs[1], format))
        let result = target(output, .float32)
        let plan = try gpu.plan(product)
        calls.workspaceBytes = max(calls.workspaceBytes, plan.workspaceBytes)
        calls.calls.append(.matrices(plan, x: x, y: y, result: result))
        finish(result, to: output)
    }

    private mutating func add(
        _ wanted: ConvolutionCall, _ inputs: [Buffer], _ output: Buffer
    ) throws(CUDAError) {
        if let kernel = DirectConvolution.kernel(wanted, inputs, output) { return add(kernel) }
        var call = wanted
        (call.format, call.allowsTF32) = (format, allowsTF32)
        if let product = call.matrixProduct {
            return try add(product, call.factors(inputs), output)
        }
        let operands = inputs.map { operand($0, call.format) }
        let plan = try gpu.plan(call, choices)
        calls.workspaceBytes = max(calls.workspaceBytes, plan.workspaceBytes)
        let result = target(output, call.format)
        switch call.direction {
        case .forward:
            calls.calls.append(.convolution(plan, x: operands[0], w: operands[1], y: result))
        case .dataGradient:
            calls.calls.append(.convolution(plan, x: result, w: operands[1], y: operands[0]))
        case .weightGradient:
            calls.calls.append(.convolution(plan, x: operands[0], w: result, y: operands[1]))
        }
        finish(result, to: output)
    }
}

extension ConvolutionCall {
    /// The product that multiplies all pixels with the same matrix; nil unless the convolution is
    /// one, in exact float32: there cuDNN's engines transpose images before and after.
    fileprivate var matrixProduct: CuBLASLt.Product? {
        guard isPointwise, format == .float32, !allowsTF32 else { return nil }
        let (pixels, channels, outputs) = (x[0] * x[2] * x[3], w[1], w[0])
        func product(
            _ rows: Int, _ inner: Int, _ columns: Int, transposesX: Bool = false,
            transposesY: Bool = false
        ) -> CuBLASLt.Product {
            CuBLASLt.Product(
                rows: rows, inner: inner, columns: columns, batch: 1, transposesX: transposesX,
                transposesY: transposesY, sharesY: true, format: .float32)
        }
        switch direction {
        case .forward: return product(pixels, channels, outputs, transposesY: true)
        case .dataGradient: return product(pixels, outputs, channels)
        case .weightGradient: return product(outputs, pixels, channels, transposesX: true)
        }
    }

    /// The factors of that product.
    ///
    /// - Parameter inputs: of the convolution.
    fileprivate func factors(_ inputs: [Buffer]) -> [Buffer] {
        direction == .weightGradient ? inputs.reversed() : inputs
    }
}

extension DeviceKernel {
    /// A kernel that converts a value to another format.
    static func conversion(of source: Buffer, to target: Buffer) -> DeviceKernel {
        let type = indexType([source, target])
        guard source.count.isMultiple(of: 4), source.offset.isMultiple(of: 4),
            target.offset.isMultiple(of: 4)
        else { return .each("convert", [source, target], source.count, "p1[i] = p0[i];") }
        return DeviceKernel(
            "convert", [source, target], .elements(source.count / 4),
            """
            RT_EACH(\(type), q, \(source.count / 4)) {
                float group[4];
                RT_LOAD(group, p0 + 4 * q);
                RT_STORE(p1 + 4 * q, group);
            }
            """)
    }
}

extension ElementFormat {
    fileprivate var number: CuBLASLt.NumberFormat {
        switch self {
        case .float32: .float32
        case .float16: .float16
        case .bfloat16: .bfloat16
        }
    }
}
