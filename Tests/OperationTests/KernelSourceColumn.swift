import Foundation
import Glibc
import RetintCUDA
import RetintCompiler
import RetintDistributed
import RetintGraph
import RetintOperationCases
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintFloat64

/// The sources of a GPU's kernels, compiled for this machine: what the compiler fuses, and how its
/// views and values lie in memory, computes what the operations are defined as.
@Suite struct KernelSourceColumn {
    @Test func sourcesAgreeWithReference() throws {
        let cases = OperationTable.cases.sampled("kernel sources")
        let programs = try cases.enumerated().map { index, testCase in
            (testCase.name, try SourceProgram(CaseGraph(testCase), prefix: "k\(index)"))
        }
        let library = try HostLibrary(programs.flatMap { $1.backend.kernels })
        #expect(programs.contains { !$1.backend.kernels.isEmpty })
        // Products are those of NVIDIA's libraries.
        let defined = Set(programs.flatMap { $1.backend.defined })
        #expect(
            defined.isSubset(of: [
                "conv2d", "conv2d_weight", "conv_transpose2d", "fake_quantize", "gather", "matmul",
                "scatter_add", "topk",
            ]))
        for (name, program) in programs {
            let expected = try Float64Evaluator(inputs: program.graph.doubleFeeds)
                .evaluate(program.outputs)
            let values = try program.run(library)
            for (index, expected) in expected.enumerated() {
                let error = normalizedError(values[index].scalars, expected.values)
                #expect(error <= 1e-10, "\(name), \(CaseGraph.place(index)): error \(error)")
            }
        }
    }

    /// Halves, and what C has no function for, at the values where they differ from neighbors.
    @Test func functionsOfThePrelude() throws {
        let numbers: [Float] = [
            0, -0.0, 1, 65_504, 65_519.9, 65_520, -65_520, 6.1e-5, 6.0e-5, 2.98e-8, 2.99e-8, 1e-30,
            2_049, 2_051, -4_099, .infinity, -.infinity, .nan, 0.1, -0.333,
        ]
        let graph = Graph()
        let x = graph.input("x", [numbers.count])
        let y = graph.input("y", [numbers.count])
        let outputs = [
            x.applying(RoundToHalf()), maximum(x, y), minimum(x, y),
            clip(x, min: -1, max: .infinity),
        ]
        let shifted = Array(numbers[7...] + numbers[..<7])
        let program = try SourceProgram(
            outputs, feeds: ["x": numbers, "y": shifted], prefix: "k")
        let values = try program.run(try HostLibrary(program.backend.kernels))
        func expect(_ index: Int, _ expected: [Float]) {
            for (found, expected) in zip(values[index].scalars, expected) {
                #expect(
                    found == expected || found.isNaN && expected.isNaN, "\(index): \(expected)")
            }
        }
        expect(0, numbers.map { Float(Float16($0)) })
        let pairs = zip(numbers, shifted)
        expect(1, pairs.map { $0.isNaN || $1.isNaN ? .nan : max($0, $1) })
        expect(2, pairs.map { $0.isNaN || $1.isNaN ? .nan : min($0, $1) })
        expect(3, numbers.map { $0.isNaN ? .nan : max($0, -1) })
    }
}

/// A graph that is computed by the sources of kernels, where there are any, and otherwise as it is
/// defined.
struct SourceProgram {
    let graph: CaseGraph!
    let outputs: [Tensor]
    let backend: SourceBackend
    private let compiled: CompiledGraph
    private let feeds: [String: [Float]]

    init(_ graph: CaseGraph, prefix: String) throws {
        try self.init(
            [graph.output] + graph.gradients, feeds: graph.feeds, prefix: prefix, of: graph)
    }

    init(
        _ outputs: [Tensor], feeds: [String: [Float]], prefix: String, of graph: CaseGraph? = nil
    ) throws {
        (self.outputs, self.feeds, self.graph) = (outputs, feeds, graph)
        backend = SourceBackend(prefix: prefix)
        compiled = try Compiler.compile(
            try #require(outputs.first).graph, outputs: outputs.map(\.id), observed: [],
            updates: [], passes: [], budget: MemoryBudget(bytes: 1 << 30), on: backend, .single)
    }

    func run(_ library: HostLibrary) throws -> [TensorData] {
        let values = compiled.values
        let plan = MemoryPlan(values.placedStorages)
        let count = plan.count + values.ownedStorages.reduce(0) { $0 + $1.count }
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: max(count, 1))
        memory.initialize(repeating: .nan, count: count)
        defer { memory.deallocate() }
        for (storage, offset) in plan.offsets {
            storage.bind(to: UInt(bitPattern: memory + offset))
        }
        var end = memory + plan.count
        for storage in values.ownedStorages {
            storage.bind(to: UInt(bitPattern: end))
            end += storage.count
        }
        for storage in values.hostedStorages { storage.bindToHost() }
        for (buffer, data) in values.constants { buffer.write(data.scalars) }
        for input in values.inputs { input.buffer.write(try #require(feeds[input.name])) }
        for step in compiled.steps {
            for work in try #require(step.kernel as? SourceKernel).work { try work(library) }
        }
        return outputs.map { output in
            TensorData(shape: output.shape, scalars: values.buffer(output.id).read())
        }
    }
}

private final class SourceKernel: StepKernel {
    let name: String
    var work: [(HostLibrary) throws -> Void]

    init(_ name: String, _ work: @escaping (HostLibrary) throws -> Void) {
        (self.name, self.work) = (name, [work])
    }

    var multiplyAdds: Int { 0 }
    var mayOverwriteOperands: Bool { work.count == 1 }
}

final class SourceBackend: Backend {
    private let prefix: String
    private(set) var kernels: [DeviceKernel] = []
    /// The operations without kernels.
    private(set) var defined: [String] = []

    init(prefix: String) { self.prefix = prefix }

    func isElementwise(_ operation: any RetintGraph.Operation) -> Bool {
        operation is any ElementwiseOperation || operation is any ViewOperation
    }

    func appliesElementwiseWork(to operation: any RetintGraph.Operation) -> Bool { true }

    func kernel(
        of node: Graph.Node, inputs: [Buffer], output: Buffer, _ communicator: Communicator
    ) throws(GraphError) -> any StepKernel {
        if let operation = node.operation as? any DeviceOperation {
            let kernels = operation.deviceKernels(
                named: nextName(node.operation.name), inputs: inputs, output: output)
            self.kernels += kernels
            return SourceKernel(node.operation.name) { library in
                for kernel in kernels { try library.run(kernel) }
            }
        }
        defined.append(node.operation.name)
        return SourceKernel(node.operation.name) { _ in
            let operation = try #require(node.operation as? any Float64Operation)
            let operands = inputs.map {
                Float64Array(shape: $0.shape, values: $0.read().map(Double.init))
            }
            output.write(
                try operation.float64(operands, shape: output.shape).map { Float($0) })
        }
    }

    func kernel(of work: ElementwiseWork) -> any StepKernel {
        SourceKernel(work.name, call(of: work))
    }

    func append(_ work: ElementwiseWork, to kernel: any StepKernel) {
        (kernel as? SourceKernel)?.work.append(call(of: work))
    }

    private func call(of work: ElementwiseWork) -> (HostLibrary) throws -> Void {
        let kernel = DeviceKernel(work, named: nextName("elementwise"))
        kernels.append(kernel)
        return { try $0.run(kernel) }
    }

    private func nextName(_ operation: String) -> String {
        "\(prefix)_\(kernels.count)_\(operation)"
    }

    func copy(_ source: Buffer, to target: Buffer) -> any StepKernel {
        SourceKernel("copy") { _ in target.write(source.read()) }
    }

    func observableOperand(of kernel: any StepKernel) -> Int? { nil }
    func observe(_ producer: any StepKernel, by kernel: any StepKernel) -> Bool { false }
}

extension Buffer {
    private var places: [Int] {
        offsets(shape.dimensions, strides: Strides(shape).steps, start: offset)
    }

    private var memory: UnsafeMutablePointer<Float> {
        UnsafeMutablePointer(bitPattern: storage.address)!
    }

    /// The elements, row-major.
    fileprivate func read() -> [Float] { places.map { memory[$0] } }

    fileprivate func write(_ scalars: [Float]) {
        for (place, scalar) in zip(places, scalars) { memory[place] = scalar }
    }
}

/// Kernels compiled by the C compiler of this machine.
final class HostLibrary {
    private let handle: UnsafeMutableRawPointer

    init(_ kernels: [DeviceKernel]) throws {
        let folder = try TemporaryFolder()
        var text = Prelude.host
        for kernel in kernels {
            let arguments = kernel.parameters.indices.map { "p[\($0)]" }.joined(separator: ", ")
            text += kernel.source.text
            text += "void call_\(kernel.source.name)(float **p) "
            text += "{ \(kernel.source.name)(\(arguments)); }\n"
        }
        try text.write(toFile: "\(folder.path)/kernels.c", atomically: false, encoding: .utf8)
        let result = try runProcess(
            URL(filePath: "/usr/bin/env"),
            [
                "clang", "-O1", "-Werror", "-shared", "-fPIC", "kernels.c", "-o", "kernels.so",
                "-lm",
            ], in: folder.path)
        try #require(result.code == 0, "\(result.messages)")
        handle = try #require(dlopen("\(folder.path)/kernels.so", RTLD_NOW | RTLD_LOCAL))
    }

    deinit { dlclose(handle) }

    func run(_ kernel: DeviceKernel) throws {
        typealias Call = @convention(c) (UnsafeMutablePointer<UnsafeMutablePointer<Float>>) -> Void
        let symbol = try #require(dlsym(handle, "call_\(kernel.source.name)"))
        var pointers = try kernel.parameters.map { buffer in
            try #require(UnsafeMutablePointer<Float>(bitPattern: buffer.storage.address))
                + buffer.offset
        }
        unsafeBitCast(symbol, to: Call.self)(&pointers)
    }
}
