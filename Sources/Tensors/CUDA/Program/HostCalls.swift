import RetintCompiler
import RetintGraph
import RetintTensors

/// What this machine does between two parts of a program on a GPU. It waits for what it reads.
protocol HostCall {
    func run(on gpu: GPU) throws(GraphError)
}

/// Code of this machine on copies of values. Zeros are the result if it fails.
struct HostOperationCall: HostCall {
    let operation: any HostOperation
    let node: Graph.Node
    let inputs: [Buffer]
    let output: Buffer

    func run(on gpu: GPU) throws(GraphError) {
        do throws(CUDAError) {
            var operands: [TensorData] = []
            for input in inputs {
                var scalars = [Float](repeating: 0, count: input.count)
                try gpu.download(input, to: &scalars)
                operands.append(
                    TensorData(
                        shape: input.shape,
                        scalars: ChannelsLast(input.shape).unpacked(scalars)))
            }
            let (result, problem) = evaluate(operands)
            try gpu.upload(result, to: output)
            if let problem { throw CUDAError(problem) }
        } catch {
            throw GraphError(
                operation: operation.name, module: node.module, inputShapes: inputs.map(\.shape),
                reason: error.description)
        }
    }

    private func evaluate(_ operands: [TensorData]) -> (result: [Float], problem: String?) {
        let zeros = [Float](repeating: 0, count: output.count)
        do {
            let value = try operation.evaluate(operands)
            guard value.shape == output.shape else {
                return (zeros, "it computed shape \(value.shape) instead of \(output.shape)")
            }
            return (value.scalars, nil)
        } catch {
            return (zeros, "\(error)")
        }
    }
}

extension GPU {
    /// Copies the elements of a value in float32, in the order of memory, and waits for them.
    func download(_ buffer: Buffer, to scalars: inout [Float]) throws(CUDAError) {
        let status = scalars.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map {
                driver.copyToHost($0, Driver.Address(buffer.address), buffer.bytes, stream)
            } ?? 0
        }
        try driver.check(status, "copying from the GPU")
        try synchronize()
    }

    /// Starts to copy row-major scalars to a value in float32.
    func upload(_ scalars: [Float], to buffer: Buffer) throws(CUDAError) {
        let layout = ChannelsLast(buffer.shape)
        if buffer.bytes <= Self.mostStagedBytes {
            let target = try stage(bytes: buffer.bytes).assumingMemoryBound(to: Float.self)
            layout.pack(scalars, to: target)
            return try copy(target, to: buffer)
        }
        let target = UnsafeMutablePointer<Float>.allocate(capacity: buffer.count)
        defer { target.deallocate() }
        layout.pack(scalars, to: target)
        try copy(target, to: buffer)
        try synchronize()
    }

    /// Starts to copy elements in the order of memory to a value in float32.
    func copy(_ source: UnsafePointer<Float>, to buffer: Buffer) throws(CUDAError) {
        try driver.check(
            driver.copyToDevice(Driver.Address(buffer.address), source, buffer.bytes, stream),
            "copying to the GPU")
    }
}
