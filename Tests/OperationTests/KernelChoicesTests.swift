import RetintGraph
import RetintTestSupport
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

    /// On a mock of a GPU, whose engine 2 is the fastest by its own clock, and whose engine 3 does
    /// not run.
    @Test func measuresEnginesOfAGPU() throws {
        MockCUDA.install()
        let reports = Mutex<[[String]]>([])
        let tuner = KernelTuner { _, seconds in
            reports.withLock { $0.append(seconds.map { "\($0.algorithm) \($0.seconds)" }) }
        }
        var options = CompileOptions(threads: 1)
        (options.device, options.tuner) = (.cuda(), tuner)
        func seconds() throws -> Double {
            let steps = try Program(outputs: outputs, options: options).profile(runs: 1)
            return steps.reduce(0) { $0 + $1.seconds }
        }
        let measured = [try seconds(), try seconds()]
        #expect(reports.withLock { $0 } == [["engine 1 0.004", "engine 2 0.003"]])
        let (task, engine) = try #require(tuner.choices.names.first)
        #expect(tuner.choices.names.count == 1 && engine == "engine 2")
        #expect(
            task.contains("cuDNN 9.14: forward [1, 16, 12, 12] [32, 16, 3, 3] to [1, 32, 12, 12]"))
        options.tuner = nil
        func seconds(_ names: [String: String]) throws -> Double {
            options.choices = KernelChoices(names: names)
            return try seconds()
        }
        let unmeasured = try seconds([:])
        for faster in try measured + [seconds([task: engine])] {
            #expect(abs(unmeasured - faster - 0.001) < 1e-6)
        }
        // The first rounds operands; the others do not exist.
        for name in ["engine 0", "engine 99", "engine -1", "engine", "panels", ""] {
            #expect(abs(try seconds([task: name]) - unmeasured) < 1e-6, "\(name)")
        }
    }
}
