import RetintCompiler
import RetintDistributed
import RetintGraph
import RetintTensors

/// What a program on a GPU exchanges with other ranks, by way of the memory of this machine.
final class RankCalls {
    private let ranks: Communicator
    /// The sums that were started, by the storage of their bucket.
    private var sums: [ObjectIdentifier: RankSum] = [:]

    init(_ ranks: Communicator) { self.ranks = ranks }

    /// Copies tensors to a bucket and starts to sum it.
    func start(
        _ operation: AllReduceStart, _ inputs: [Buffer], _ bucket: Buffer, _ gpu: GPU
    ) throws(CUDAError) -> [DeviceCall] {
        let count = operation.compresses ? inputs.count / 2 : inputs.count
        let layout = BucketLayout(inputs[..<count].map(\.shape))
        var calls: [DeviceCall] = []
        for (index, input) in inputs.enumerated() {
            // Rounding errors follow all tensors, in the same order.
            let first = index < count ? 0 : layout.count
            let part = Buffer(
                shape: input.shape, storage: bucket.storage,
                offset: bucket.offset + first + layout.offsets[index % count])
            calls.append(.converting(input, to: part))
        }
        if operation.compresses { calls.append(.kernel(.rounding(bucket, layout.count))) }
        let sum = try RankSum(
            ranks, channel: operation.channel, bucket,
            losses: operation.compresses ? layout.count : nil, gpu)
        sums[ObjectIdentifier(bucket.storage.root)] = sum
        return calls + [.host(RankSumStart(sum: sum))]
    }

    /// Waits for the sums of a bucket, which replace it.
    func finish(_ bucket: Buffer) throws(CUDAError) -> DeviceCall {
        guard let sum = sums[ObjectIdentifier(bucket.storage.root)] else {
            throw CUDAError("a sum over ranks ends that was not started")
        }
        return .host(RankSumFinish(sum: sum))
    }

    func combination(
        _ operation: any RankCombination, _ input: Buffer, _ output: Buffer
    ) -> DeviceCall {
        .host(RankCombinationCall(operation: operation, ranks: ranks, input, output))
    }
}

/// A bucket, and its copy in the memory of this machine, where it is summed.
private final class RankSum {
    let ranks: Communicator
    let channel: Int
    let bucket: Buffer
    let memory: PinnedMemory
    /// Where the rounding errors begin; nil if values are not rounded.
    let losses: Int?

    init(
        _ ranks: Communicator, channel: Int, _ bucket: Buffer, losses: Int?, _ gpu: GPU
    ) throws(CUDAError) {
        (self.ranks, self.channel, self.bucket, self.losses) = (ranks, channel, bucket, losses)
        memory = try PinnedMemory(bytes: bucket.bytes, on: gpu)
    }

    var values: UnsafeMutablePointer<Float> {
        memory.pointer.assumingMemoryBound(to: Float.self)
    }

    func failure(_ operation: String, _ error: any Error) -> GraphError {
        GraphError(operation: operation, reason: "\(error)")
    }
}

private struct RankSumStart: HostCall {
    let sum: RankSum

    func run(on gpu: GPU) throws(GraphError) {
        do throws(CUDAError) {
            try gpu.driver.check(
                gpu.driver.copyToHost(
                    sum.memory.pointer, Driver.Address(sum.bucket.address), sum.bucket.bytes,
                    gpu.stream), "copying from the GPU")
            try gpu.synchronize()
        } catch {
            throw sum.failure(AllReduceStart.name, error)
        }
        sum.ranks.startSum(
            UnsafeMutableBufferPointer(start: sum.values, count: sum.losses ?? sum.bucket.count),
            losses: sum.losses.map { sum.values + $0 }, channel: sum.channel)
    }
}

private struct RankSumFinish: HostCall {
    let sum: RankSum

    func run(on gpu: GPU) throws(GraphError) {
        do throws(RankError) { try sum.ranks.finishSum(channel: sum.channel) } catch {
            throw sum.failure(AllReduceFinish.name, error)
        }
        do throws(CUDAError) { try gpu.copy(sum.values, to: sum.bucket) } catch {
            throw sum.failure(AllReduceFinish.name, error)
        }
    }
}

private struct RankCombinationCall: HostCall {
    private let operation: any RankCombination
    private let ranks: Communicator
    private let input, output: Buffer

    init(
        operation: any RankCombination, ranks: Communicator, _ input: Buffer, _ output: Buffer
    ) {
        (self.operation, self.ranks) = (operation, ranks)
        (self.input, self.output) = (input, output)
    }

    func run(on gpu: GPU) throws(GraphError) {
        func failure(_ error: any Error) -> GraphError {
            GraphError(operation: operation.name, reason: "\(error)")
        }
        var rows = [Float](repeating: 0, count: input.count)
        do throws(CUDAError) { try gpu.download(input, to: &rows) } catch { throw failure(error) }
        // This rank's rows, and then those of all.
        let own = UnsafeMutableBufferPointer<Float>.allocate(capacity: rows.count)
        let all = UnsafeMutableBufferPointer<Float>.allocate(capacity: ranks.size * rows.count)
        defer {
            own.deallocate()
            all.deallocate()
        }
        _ = own.update(fromContentsOf: rows)
        do throws(RankError) {
            try ranks.gather(
                UnsafeRawBufferPointer(own), into: UnsafeMutableRawBufferPointer(all))
        } catch {
            throw failure(error)
        }
        if let result = own.baseAddress {
            operation.combine(UnsafeBufferPointer(all), to: result)
        }
        do throws(CUDAError) { try gpu.upload(Array(own), to: output) } catch {
            throw failure(error)
        }
    }
}

extension DeviceKernel {
    /// Adds to each of `count` values its previous rounding error, which lies `count` elements
    /// further, rounds it to half precision, and keeps the new error.
    fileprivate static func rounding(_ bucket: Buffer, _ count: Int) -> DeviceKernel {
        .each(
            "round_keeping_losses", [bucket], count,
            """
            {
                const float sum = p0[i] + p0[i + \(count)], rounded = rt_round_to_half(sum);
                p0[i] = rounded;
                p0[i + \(count)] = sum - rounded;
            }
            """)
    }
}
