import RetintGraph
import Synchronization
import Testing

@testable import RetintEngine

/// What was measured decides which algorithm a convolution gets.
@Suite struct KernelChoicesTests {
    private let graph = Graph()
    private let outputs: [(name: String, value: Tensor)]

    init() {
        let x = graph.input("x", [1, 16, 12, 12])
        let weight = graph.variable("weight", [32, 16, 3, 3], role: .parameter)
        outputs = [("y", conv2d(x, weight: weight, padding: 1))]
    }

    @Test func measuresEachTaskOnce() throws {
        let reports = Mutex<[[String]]>([])
        let tuner = KernelTuner { _, seconds in
            reports.withLock { $0.append(seconds.map(\.algorithm)) }
            #expect(seconds.allSatisfy { $0.seconds > 0 && $0.seconds < 1 })
        }
        var options = CompileOptions(threads: 1)
        options.tuner = tuner
        for _ in 0..<2 { _ = try Program(outputs: outputs, options: options) }
        #expect(reports.withLock { $0 } == [["winograd4", "winograd2", "panels"]])
        #expect(tuner.choices.names.count == 1)
    }

    @Test(arguments: [
        ("panels", "conv2d_panels"), ("winograd2", "conv2d_winograd"),
        ("unheard of", "conv2d_winograd"), ("few_outputs", "conv2d_winograd"),
    ])
    func choicesAreObeyedWhereTheyCanBe(_ algorithm: String, step: String) throws {
        let tuner = KernelTuner()
        var options = CompileOptions(threads: 1)
        options.tuner = tuner
        _ = try Program(outputs: outputs, options: options)
        options.tuner = nil
        let key = try #require(tuner.choices.names.keys.first)
        options.choices = KernelChoices(names: [key: algorithm])
        #expect(try Program(outputs: outputs, options: options).stepNames == [step])
    }

    @Test func withoutWinogradNoneIsChosen() throws {
        let tuner = KernelTuner()
        var options = CompileOptions(threads: 1)
        options.tuner = tuner
        _ = try Program(outputs: outputs, options: options)
        let key = try #require(tuner.choices.names.keys.first)
        options = CompileOptions(threads: 1, winograd: .never)
        options.choices = KernelChoices(names: [key: "winograd4"])
        #expect(try Program(outputs: outputs, options: options).stepNames == ["conv2d_panels"])
    }
}
