import RetintCompiler
import RetintGraph
import RetintTensors

/// What a step starts on a GPU, one after another.
enum DeviceCall {
    case kernel(DeviceKernel)
    case convolution(ConvolutionPlan, x: Buffer, w: Buffer, y: Buffer)
    case matrices(CuBLASLt.Plan, x: Buffer, y: Buffer, result: Buffer)
    case copy(Buffer, to: Buffer)
    /// Code of this machine on copies of values.
    case host(any HostOperation, Graph.Node, inputs: [Buffer], output: Buffer)
}

/// The calls of one step, and the memory that only they use.
struct StepCalls {
    var calls: [DeviceCall] = []
    var scratch: [Storage] = []
    /// Bytes that a library asks for besides.
    var workspaceBytes = 0
}

/// Turns what a step has to do into calls.
struct StepLowering {
    private let gpu: GPU
    private let arithmetic: DeviceArithmetic
    private var step = StepCalls()

    init(_ gpu: GPU, _ arithmetic: DeviceArithmetic) {
        (self.gpu, self.arithmetic) = (gpu, arithmetic)
    }

    /// - Throws: ``CUDAError`` if a library does not compute a product.
    func calls(of work: [RecordedKernel.Work]) throws(CUDAError) -> StepCalls {
        var copy = self
        for work in work { try copy.add(work) }
        return copy.step
    }

    private mutating func add(_ work: RecordedKernel.Work) throws(CUDAError) {
        switch work {
        case .copy(let source, let target): add(copying: source, to: target)
        case .elementwise(let work): add(DeviceKernel(work))
        case .operation(let node, let inputs, let output):
            switch ProductCall(node.operation, inputs.map(\.shape), output.shape) {
            case .convolution(let call): try add(call, inputs, output)
            case .matrices(let product): try add(product, inputs, output)
            case nil:
                if let operation = node.operation as? any DeviceOperation {
                    for kernel in operation.deviceKernels(inputs: inputs, output: output) {
                        add(kernel)
                    }
                } else if let operation = node.operation as? any HostOperation {
                    step.calls.append(.host(operation, node, inputs: inputs, output: output))
                }
            }
        }
    }

    private mutating func add(_ kernel: DeviceKernel) {
        step.scratch += kernel.scratch
        step.calls.append(.kernel(kernel))
    }

    private mutating func add(copying source: Buffer, to target: Buffer) {
        if source.storage.format == target.storage.format {
            step.calls.append(.copy(source, to: target))
        } else {
            add(.conversion(of: source, to: target))
        }
    }

    // MARK: Operands

    private mutating func scratch(_ shape: Shape, _ format: ElementFormat) -> Buffer {
        let storage = Storage(kind: .owned, count: shape.count)
        storage.format = format
        step.scratch.append(storage)
        return Buffer(shape: shape, storage: storage)
    }

    /// The value in a format, at a place that libraries can read.
    private mutating func operand(_ value: Buffer, _ format: ElementFormat) -> Buffer {
        let alignment = 16 / format.bytes
        if value.storage.format == format, value.offset.isMultiple(of: alignment) { return value }
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
        let format = arithmetic.format
        var product = wanted
        product.format = format.number
        product.usesTF32 = arithmetic == .tensorFloat32
        let (x, y) = (operand(inputs[0], format), operand(inputs[1], format))
        let result = target(output, .float32)
        let plan = try gpu.cuBLASLt.plan(product, workspaceLimit: GPU.workspaceLimit)
        step.workspaceBytes = max(step.workspaceBytes, plan.workspaceBytes)
        step.calls.append(.matrices(plan, x: x, y: y, result: result))
        finish(result, to: output)
    }

    private mutating func add(
        _ wanted: ConvolutionCall, _ inputs: [Buffer], _ output: Buffer
    ) throws(CUDAError) {
        var call = wanted
        (call.format, call.usesTF32) = (arithmetic.format, arithmetic == .tensorFloat32)
        let operands = inputs.map { operand($0, call.format) }
        let plan = try gpu.plan(call)
        step.workspaceBytes = max(step.workspaceBytes, plan.workspaceBytes)
        let result = target(output, call.format)
        switch call.direction {
        case .forward:
            step.calls.append(.convolution(plan, x: operands[0], w: operands[1], y: result))
        case .dataGradient:
            step.calls.append(.convolution(plan, x: result, w: operands[1], y: operands[0]))
        case .weightGradient:
            step.calls.append(.convolution(plan, x: operands[0], w: result, y: operands[1]))
        }
        finish(result, to: output)
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
