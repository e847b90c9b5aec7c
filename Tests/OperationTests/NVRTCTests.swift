import Foundation
import RetintCompiler
import RetintGraph
import RetintOperationCases
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintCUDA

/// The compiler of a GPU's kernels, where it is installed: `Scripts/check nvrtc` installs it.
@Suite struct NVRTCTests {
    static let isInstalled =
        (try? CUDALibrary(.nvrtc, environment: MockCUDA.userEnvironment)) != nil

    @Test(.enabled(if: isInstalled, "there is no NVRTC"), arguments: [80, 90, 100])
    func everySourceIsCompiled(_ computeCapability: Int) throws {
        let nvrtc = try NVRTC(CUDALibrary(.nvrtc, environment: MockCUDA.userEnvironment))
        let kernels = try OperationTable.cases.sampled("NVRTC").flatMap {
            let graph = try CaseGraph($0)
            return try [ElementFormat.float32, .bfloat16, .float16].flatMap {
                try Self.sources([graph.output] + graph.gradients, $0)
            }
        }
        let sources = Set(kernels).sorted { $0.name < $1.name }
        let code = try nvrtc.binary(of: sources, computeCapability: computeCapability)
        #expect(code.starts(with: [0x7f, 0x45, 0x4c, 0x46]), "it is an ELF file")
        for source in sources {
            #expect(code.firstRange(of: Array(".text.\(source.name)".utf8)) != nil)
        }
    }

    /// The kernels of a program that are made from the graph.
    private static func sources(
        _ outputs: [Tensor], _ arithmetic: ElementFormat
    ) throws -> [KernelSource] {
        var graph = try #require(outputs.first).graph
        var ids = outputs.map(\.id)
        for pass in CUDAPasses.passes(roundsToHalf: false, recomputes: false) {
            let result = pass.run(on: GraphPassInput(graph: graph, roots: ids, backwardStart: nil))
            (graph, ids) = (result.graph, ids.map { result.ids[$0] })
        }
        let compiled = try Compiler.compile(
            graph, outputs: ids, observed: [], updates: [], passes: [],
            budget: MemoryBudget(bytes: 1 << 30), on: CUDABackend(), .single)
        FormatChoice.apply(arithmetic, to: compiled)
        return compiled.steps.flatMap(\.recordedWork).flatMap { work -> [KernelSource] in
            switch work {
            case .elementwise(let work): [DeviceKernel(work).source]
            case .operation(let node, let inputs, let output):
                ((node.operation as? any DeviceOperation)?
                    .deviceKernels(inputs: inputs, output: output) ?? []).map(\.source)
            case .copy: []
            }
        }
    }

    /// One kernel for the updates of several variables.
    @Test(.enabled(if: isInstalled, "there is no NVRTC"), arguments: [80, 90, 100])
    func groupedUpdatesAreCompiled(_ computeCapability: Int) throws {
        let graph = Graph()
        let variables = [8, 7, 12].map { graph.variable("\($0)", [$0], role: .parameter) }
        let values = variables.map { $0 * 0.5 + 1 }
        let compiled = try Compiler.compile(
            graph, outputs: [], observed: [],
            updates: zip(variables, values).map { ($0.id, $1.id) },
            passes: CUDAPasses.stepPasses, budget: MemoryBudget(bytes: 1 << 30),
            on: CUDABackend(), .single)
        #expect(compiled.steps.count == 1)
        let works = compiled.steps[0].recordedWork.compactMap { work -> ElementwiseWork? in
            if case .elementwise(let work) = work { work } else { nil }
        }
        let kernels = SegmentedKernel.kernels(works)
        #expect(kernels.map(\.1.count) == [2, 1])
        let source = try #require(kernels[0].0).source
        let nvrtc = try NVRTC(CUDALibrary(.nvrtc, environment: MockCUDA.userEnvironment))
        let code = try nvrtc.binary(of: [source], computeCapability: computeCapability)
        #expect(code.firstRange(of: Array(".text.\(source.name)".utf8)) != nil)
    }

    @Test(.enabled(if: isInstalled, "there is no NVRTC"))
    func saysWhatIsWrong() throws {
        let nvrtc = try NVRTC(CUDALibrary(.nvrtc, environment: MockCUDA.userEnvironment))
        let wrong = KernelSource("k", parameters: ["float"], body: "y;")
        let error = #expect(throws: CUDAError.self) {
            try nvrtc.binary(of: [wrong], computeCapability: 90)
        }
        #expect(error?.description.contains(#"identifier "y" is undefined"#) == true)
    }

    // MARK: Where libraries are

    @Test func foldersInTheirOrder() throws {
        let scratch = try TemporaryFolder()
        let wheel = "\(scratch.path)/lib/python3.12/site-packages/nvidia/cudnn/lib"
        try FileManager.default.createDirectory(atPath: wheel, withIntermediateDirectories: true)
        let variables = [
            CUDALibrary.variable: "/first:/second", "VIRTUAL_ENV": scratch.path,
            "CUDA_HOME": "/opt/cuda",
        ]
        #expect(
            CUDALibrary.folders { variables[$0] } == [
                "/first", "/second", wheel, "/opt/cuda/lib64", "/opt/cuda/lib",
                "/usr/local/cuda/lib64", "/usr/local/cuda/lib",
            ])
        try Data().write(to: URL(filePath: "\(wheel)/libcudnn.so.9"))
        #expect(
            CUDALibrary.places(of: .cuDNN) { variables[$0] } == [
                "\(wheel)/libcudnn.so.9", "libcudnn.so.9",
            ])
    }

    @Test func saysWhatIsMissing() throws {
        let scratch = try TemporaryFolder()
        let variables = [CUDALibrary.variable: scratch.path]
        func problem(_ kind: CUDALibrary.Kind) -> String? {
            #expect(throws: CUDAError.self) {
                try CUDALibrary(kind) { variables[$0] }
            }?.description
        }
        if (try? CUDALibrary(.cuDNN)) == nil {
            let missing = try #require(problem(.cuDNN))
            #expect(missing.hasPrefix("libcudnn.so.9: no cuDNN was found"))
            #expect(missing.contains("nvidia-cudnn-cu12") && missing.contains(CUDALibrary.variable))
            try Data("no library".utf8).write(to: URL(filePath: "\(scratch.path)/libcudnn.so.9"))
            let damaged = try #require(problem(.cuDNN))
            #expect(damaged.hasPrefix("\(scratch.path)/libcudnn.so.9: ") && damaged.contains("; "))
        }
    }
}
