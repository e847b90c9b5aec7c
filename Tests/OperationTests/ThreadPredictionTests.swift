import Foundation
import RetintGraph
import RetintTensors
import Testing

@testable import RetintEngine

/// What a run would take on more threads than there are processors.
@Suite struct ThreadPredictionTests {
    private static func program(threads: Int, _ device: Execution.Device = .cpu) throws -> Program {
        let graph = Graph()
        let x = graph.input("x", [1, 8, 64, 64])
        let weight = graph.constant(
            TensorData(shape: [16, 8, 3, 3], scalars: (0..<1152).map { Float($0 % 7) }))
        let y = relu(conv2d(x, weight: weight, padding: 1))
        // One number: too little for threads.
        let small = y.mean() * 2 + 1
        var options = CompileOptions(threads: threads)
        options.device = device
        let program = try Program(outputs: [("y", y), ("small", small)], options: options)
        let zeros = [Float](repeating: 0, count: x.shape.count)
        _ = try program.run(["x": TensorData(shape: x.shape, scalars: zeros)])
        return program
    }

    @Test func oneThreadDoesEverythingItself() throws {
        let prediction = try #require(try Self.program(threads: 1).threadPrediction())
        #expect(prediction.threads == 1 && prediction.barrierSeconds == 0)
        #expect(prediction.balancedSeconds == 0 && prediction.unevenSeconds == 0)
        #expect(prediction.seconds == prediction.serialSeconds && prediction.seconds > 0)
    }

    @Test(arguments: [2, 8, 40])
    func sharesAddUp(_ threads: Int) throws {
        let program = try Self.program(threads: threads)
        let prediction = try #require(program.threadPrediction())
        let shares = [
            prediction.balancedSeconds, prediction.unevenSeconds, prediction.serialSeconds,
            prediction.barrierSeconds,
        ]
        #expect(shares.allSatisfy { $0 > 0 } && prediction.threads == threads)
        #expect(abs(prediction.seconds - shares.reduce(0, +)) <= 1e-12)
        let steps = prediction.steps
        #expect(steps.map(\.name) == program.profile(runs: 1).map(\.name))
        #expect(abs(prediction.seconds - steps.reduce(0) { $0 + $1.seconds }) <= 1e-9)
        #expect(steps.allSatisfy { (1...threads).contains($0.parts) && $0.unevenness >= 1 - 1e-9 })
        // The convolution keeps several threads busy, the last sum one.
        #expect(steps.contains { $0.parts > 1 } && steps.contains { $0.parts == 1 })
    }

    /// A measurement leaves nothing behind: sums of batch norm begin at zero again.
    @Test func laterRunsHaveTheSameValues() throws {
        let graph = Graph(mode: .training)
        let x = graph.input("x", [2, 8, 32, 32])
        let ones = graph.constant(TensorData(shape: [8], scalars: [Float](repeating: 1, count: 8)))
        let (y, moments) = batchNormTraining(relu(x), weight: ones, bias: ones)
        let program = try Program(
            outputs: [("y", y), ("moments", moments)], options: CompileOptions(threads: 3))
        let scalars = (0..<x.shape.count).map { Float($0 % 17) - 8 }
        let inputs = ["x": TensorData(shape: x.shape, scalars: scalars)]
        let values = try program.run(inputs)
        _ = program.threadPrediction(runs: 2)
        #expect(try program.run(inputs) == values)
    }

    /// A pool runs one kernel at a time.
    @Test func aBarrierIsMeasuredWhileNoProgramRuns() {
        let pool = ThreadPool.shared(threads: 2)
        let done = DispatchSemaphore(value: 0)
        pool.withExclusiveUse {
            Thread.detachNewThread {
                _ = Barrier.seconds(on: pool, rounds: 1)
                done.signal()
            }
            #expect(done.wait(timeout: .now() + 0.2) == .timedOut)
        }
        done.wait()
    }

    @Test func otherDevicesHaveNone() throws {
        #expect(try Self.program(threads: 1, .reference).threadPrediction() == nil)
    }
}
