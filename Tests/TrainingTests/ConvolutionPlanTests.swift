import Foundation
import RetintArchitectures
import RetintCompiler
import RetintGraph
import RetintLayers
import RetintOperationCases
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintCUDA

/// The real cuDNN plans every convolution of training for a GPU that is not there, from its
/// properties alone. `Scripts/check cudnn` installs what that needs.
@Suite(.serialized) struct ConvolutionPlanTests {
    /// Folders of the real libraries, and of a driver that does nothing.
    private static let folders = ProcessInfo.processInfo.environment["RETINT_PLAN_LIBRARIES"]

    @Test(
        .enabled(if: folders != nil, "there is no cuDNN"),
        arguments: ["eccv16", "siggraph17", "lite-class-unet", "mobile-unet", "rep-unet"],
        [ElementFormat.float32, .bfloat16])
    func everyConvolutionHasAPlan(_ architecture: String, _ format: ElementFormat) throws {
        let network = try NetworkDescription.named(architecture).make()
        let graph = Graph(mode: .training)
        let ab = network(graph.input("lightness", [16, 1, 256, 256]))
        let loss = (ab * ab).sum()
        try plan([loss] + gradients(of: loss, withRespectTo: graph.parameters), format)
    }

    /// Windows that networks rarely have.
    @Test(
        .enabled(if: folders != nil, "there is no cuDNN"),
        arguments: OperationTable.cases.filter { $0.name.hasPrefix("conv") },
        [ElementFormat.float32, .bfloat16])
    func everyCaseHasAPlan(_ testCase: OperationCase, _ format: ElementFormat) throws {
        let graph = try CaseGraph(testCase)
        try plan([graph.output] + graph.gradients, format)
    }

    private func plan(_ outputs: [Tensor], _ format: ElementFormat) throws {
        let library = try CuDNN {
            $0 == CUDALibrary.variable
                ? Self.folders : ProcessInfo.processInfo.environment[$0]
        }
        let device = try properties(library)
        for call in try Self.calls(outputs) {
            var call = call
            call.format = format
            let start = ContinuousClock.now
            do {
                let plan = try ConvolutionPlan.plan(
                    call, for: .properties(device), workspaceLimit: GPU.workspaceLimit, library)
                #expect(plan.workspaceBytes <= GPU.workspaceLimit)
                try expectEngines(of: call, on: device, library, first: plan.engine)
                print(
                    "plan in \(ContinuousClock.now - start), \(plan.workspaceBytes >> 20) MiB"
                        + (plan.usesTensorCores ? ", tensor cores" : "") + ": \(call)")
            } catch {
                Issue.record("\(call): \(error)")
            }
        }
    }

    /// Each engine that would be measured can be chosen by its place, later and again.
    private func expectEngines(
        of call: ConvolutionCall, on device: CuDNNDescriptor, _ library: CuDNN, first: Int
    ) throws {
        let engines = Engines(
            call: call, target: .properties(device), workspaceLimit: GPU.workspaceLimit,
            library: library)
        let places = try engines.plans(atMost: 3).map(\.engine)
        #expect(places.first == first && places == places.sorted())
        for place in places {
            let plan = try ConvolutionPlan.plan(
                call, engine: place, for: .properties(device),
                workspaceLimit: GPU.workspaceLimit, library)
            #expect(plan.engine == place)
        }
    }

    private func properties(_ library: CuDNN) throws -> CuDNNDescriptor {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Goldens/h200.json")
        let text = Array(try Data(contentsOf: path)).filter { $0 != UInt8(ascii: "\n") } + [0]
        let descriptor = try CuDNNDescriptor(.deviceProperties, library)
        try descriptor.set(2702, .characters, text)
        try descriptor.finalize("reading properties")
        return descriptor
    }

    /// The convolutions that outputs need, each once.
    private static func calls(_ outputs: [Tensor]) throws -> [ConvolutionCall] {
        let graph = try #require(outputs.first).graph
        var calls: [ConvolutionCall] = []
        for node in graph.live(from: outputs.map(\.id)).map({ graph.nodes[$0] }) {
            let shapes = node.inputs.map { graph.nodes[$0].shape }
            guard case .convolution(let call) = ProductCall(node.operation, shapes, node.shape),
                !calls.contains(call)
            else { continue }
            calls.append(call)
        }
        return calls
    }
}
