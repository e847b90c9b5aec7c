import Glibc

/// The CUDA driver's functions (cuda.h), which report failures by codes.
struct Driver: @unchecked Sendable {
    typealias Status = Int32
    /// An address in the memory of a GPU.
    typealias Address = UInt64
    typealias Handle = OpaquePointer
    typealias Out<Value> = UnsafeMutablePointer<Value>

    private let library: CUDALibrary
    /// What it can run, as 12090 for CUDA 12.9.
    let version: Int

    let deviceCount: @convention(c) (Out<Int32>) -> Status
    let device: @convention(c) (Out<Int32>, Int32) -> Status
    let deviceName: @convention(c) (Out<CChar>, Int32, Int32) -> Status
    let deviceMemory: @convention(c) (Out<Int>, Int32) -> Status
    let deviceAttribute: @convention(c) (Out<Int32>, Int32, Int32) -> Status
    let retainContext: @convention(c) (Out<Handle?>, Int32) -> Status
    let setContext: @convention(c) (Handle?) -> Status
    let memoryInfo: @convention(c) (Out<Int>, Out<Int>) -> Status
    let allocate: @convention(c) (Out<Address>, Int) -> Status
    let free: @convention(c) (Address) -> Status
    let allocateHost: @convention(c) (Out<UnsafeMutableRawPointer?>, Int) -> Status
    let freeHost: @convention(c) (UnsafeMutableRawPointer) -> Status
    let copyToDevice: @convention(c) (Address, UnsafeRawPointer, Int, Handle) -> Status
    let copyToHost: @convention(c) (UnsafeMutableRawPointer, Address, Int, Handle) -> Status
    let copyOnDevice: @convention(c) (Address, Address, Int, Handle) -> Status
    let fill: @convention(c) (Address, UInt8, Int, Handle) -> Status
    let createStream: @convention(c) (Out<Handle?>, UInt32) -> Status
    let synchronize: @convention(c) (Handle) -> Status
    let beginCapture: @convention(c) (Handle, Int32) -> Status
    let endCapture: @convention(c) (Handle, Out<Handle?>) -> Status
    let instantiate: @convention(c) (Out<Handle?>, Handle, UInt64) -> Status
    let launchGraph: @convention(c) (Handle, Handle) -> Status
    let destroyExecutable: @convention(c) (Handle) -> Status
    let destroyGraph: @convention(c) (Handle) -> Status
    let loadModule: @convention(c) (Out<Handle?>, UnsafeRawPointer) -> Status
    let function: @convention(c) (Out<Handle?>, Handle, UnsafePointer<CChar>) -> Status
    let launch:
        @convention(c) (
            Handle, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, Handle,
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> Status
    let createEvent: @convention(c) (Out<Handle?>, UInt32) -> Status
    let recordEvent: @convention(c) (Handle, Handle) -> Status
    let elapsed: @convention(c) (Out<Float>, Handle, Handle) -> Status
    let destroyEvent: @convention(c) (Handle) -> Status
    private let statusName: @convention(c) (Status, Out<UnsafePointer<CChar>?>) -> Status
    private let statusText: @convention(c) (Status, Out<UnsafePointer<CChar>?>) -> Status

    /// Loads and starts the driver.
    ///
    /// - Throws: ``CUDAError`` if there is none, it is too old, or it does not start.
    init() throws(CUDAError) {
        library = try CUDALibrary(.driver)
        let start: @convention(c) (UInt32) -> Status = try library.function("cuInit")
        let readVersion: @convention(c) (Out<Int32>) -> Status =
            try library.function("cuDriverGetVersion")
        deviceCount = try library.function("cuDeviceGetCount")
        device = try library.function("cuDeviceGet")
        deviceName = try library.function("cuDeviceGetName")
        deviceMemory = try library.function("cuDeviceTotalMem_v2")
        deviceAttribute = try library.function("cuDeviceGetAttribute")
        retainContext = try library.function("cuDevicePrimaryCtxRetain")
        setContext = try library.function("cuCtxSetCurrent")
        memoryInfo = try library.function("cuMemGetInfo_v2")
        allocate = try library.function("cuMemAlloc_v2")
        free = try library.function("cuMemFree_v2")
        allocateHost = try library.function("cuMemAllocHost_v2")
        freeHost = try library.function("cuMemFreeHost")
        copyToDevice = try library.function("cuMemcpyHtoDAsync_v2")
        copyToHost = try library.function("cuMemcpyDtoHAsync_v2")
        copyOnDevice = try library.function("cuMemcpyDtoDAsync_v2")
        fill = try library.function("cuMemsetD8Async")
        createStream = try library.function("cuStreamCreate")
        synchronize = try library.function("cuStreamSynchronize")
        beginCapture = try library.function("cuStreamBeginCapture_v2")
        endCapture = try library.function("cuStreamEndCapture")
        instantiate = try library.function("cuGraphInstantiateWithFlags")
        launchGraph = try library.function("cuGraphLaunch")
        destroyExecutable = try library.function("cuGraphExecDestroy")
        destroyGraph = try library.function("cuGraphDestroy")
        loadModule = try library.function("cuModuleLoadData")
        function = try library.function("cuModuleGetFunction")
        launch = try library.function("cuLaunchKernel")
        createEvent = try library.function("cuEventCreate")
        recordEvent = try library.function("cuEventRecord")
        elapsed = try library.function("cuEventElapsedTime")
        destroyEvent = try library.function("cuEventDestroy_v2")
        statusName = try library.function("cuGetErrorName")
        statusText = try library.function("cuGetErrorString")
        var number: Int32 = 0
        let status = start(0)
        _ = readVersion(&number)
        version = Int(number)
        try check(status, "starting the driver")
        guard version >= 12_000 else {
            throw CUDAError(
                "\(library.path): this driver is for CUDA \(versionText), and retint needs 12 or "
                    + "13; install NVIDIA's driver 530 or newer")
        }
    }

    var versionText: String { "\(version / 1000).\(version % 1000 / 10)" }

    /// - Parameter action: what was tried, for the error.
    /// - Throws: ``CUDAError`` if a call failed.
    func check(_ status: Status, _ action: @autoclosure () -> String) throws(CUDAError) {
        guard status != 0 else { return }
        throw CUDAError("CUDA: \(action()): \(message(status))")
    }

    private func message(_ status: Status) -> String {
        let outOfMemory: Status = 2
        func text(_ read: (Status, Out<UnsafePointer<CChar>?>) -> Status) -> String? {
            var text: UnsafePointer<CChar>?
            return read(status, &text) == 0 ? text.map { String(cString: $0) } : nil
        }
        let known = [text(statusName), text(statusText)].compactMap { $0 }
        let message = known.isEmpty ? "error \(status)" : known.joined(separator: ", ")
        return status == outOfMemory
            ? "\(message); take a smaller batch or image, recompute, or use bfloat16" : message
    }
}
