/// Memory of a GPU, freed with this object.
final class DeviceMemory {
    let address: UInt
    private let gpu: GPU

    /// - Throws: ``CUDAError`` if the GPU does not have as much.
    init(bytes: Int, on gpu: GPU) throws(CUDAError) {
        var address: Driver.Address = 0
        try gpu.driver.check(
            gpu.driver.allocate(&address, max(bytes, 256)),
            "allocating \(bytes >> 20) MiB on \(gpu.name)")
        (self.address, self.gpu) = (UInt(address), gpu)
    }

    /// Memory with these values.
    convenience init(_ values: [Int64], on gpu: GPU) throws(CUDAError) {
        let bytes = values.count * MemoryLayout<Int64>.size
        try self.init(bytes: bytes, on: gpu)
        let status = values.withUnsafeBytes { values in
            values.baseAddress.map {
                gpu.driver.copyToDevice(Driver.Address(address), $0, bytes, gpu.stream)
            } ?? 0
        }
        try gpu.driver.check(status, "copying to the GPU")
        try gpu.synchronize()
    }

    deinit {
        gpu.exclusively {
            _ = gpu.driver.synchronize(gpu.stream)
            _ = gpu.driver.free(Driver.Address(address))
        }
    }
}

/// Memory of this machine that a GPU copies from and to without a detour, freed with this object.
final class PinnedMemory {
    let pointer: UnsafeMutableRawPointer
    let bytes: Int
    private let gpu: GPU

    init(bytes: Int, on gpu: GPU) throws(CUDAError) {
        var pointer: UnsafeMutableRawPointer?
        try gpu.driver.check(
            gpu.driver.allocateHost(&pointer, max(bytes, 256)),
            "allocating \(bytes >> 20) MiB for copies")
        guard let pointer else { throw CUDAError("CUDA: there is no memory for copies") }
        (self.pointer, self.bytes, self.gpu) = (pointer, bytes, gpu)
    }

    deinit {
        gpu.exclusively {
            _ = gpu.driver.synchronize(gpu.stream)
            _ = gpu.driver.freeHost(pointer)
        }
    }
}
