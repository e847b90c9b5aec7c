import Glibc

/// NVIDIA's compiler of kernels, which needs no GPU.
package struct NVRTC: Sendable {
    private typealias Program = OpaquePointer
    private typealias Status = Int32
    private typealias Text = UnsafePointer<CChar>

    private let library: CUDALibrary
    private let create:
        @convention(c) @Sendable (
            UnsafeMutablePointer<Program?>, Text, Text, Int32, UnsafePointer<Text?>?,
            UnsafePointer<Text?>?
        ) -> Status
    private let destroy: @convention(c) @Sendable (UnsafeMutablePointer<Program?>) -> Status
    private let compile: @convention(c) @Sendable (Program, Int32, UnsafePointer<Text?>) -> Status
    private let codeSize: @convention(c) @Sendable (Program, UnsafeMutablePointer<Int>) -> Status
    private let code: @convention(c) @Sendable (Program, UnsafeMutablePointer<CChar>) -> Status
    private let logSize: @convention(c) @Sendable (Program, UnsafeMutablePointer<Int>) -> Status
    private let log: @convention(c) @Sendable (Program, UnsafeMutablePointer<CChar>) -> Status
    private let errorText: @convention(c) @Sendable (Status) -> Text?
    /// The library.
    var path: String { library.path }
    /// The version, such as 12.9.
    package let version: String

    /// - Throws: ``CUDAError`` if it is missing or too old.
    package init(_ library: CUDALibrary) throws(CUDAError) {
        self.library = library
        create = try library.function("nvrtcCreateProgram")
        destroy = try library.function("nvrtcDestroyProgram")
        compile = try library.function("nvrtcCompileProgram")
        codeSize = try library.function("nvrtcGetCUBINSize")
        code = try library.function("nvrtcGetCUBIN")
        logSize = try library.function("nvrtcGetProgramLogSize")
        log = try library.function("nvrtcGetProgramLog")
        errorText = try library.function("nvrtcGetErrorString")
        let readVersion:
            @convention(c) (UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>)
                -> Status = try library.function("nvrtcVersion")
        var (major, minor): (Int32, Int32) = (0, 0)
        _ = readVersion(&major, &minor)
        version = "\(major).\(minor)"
    }

    /// Compiles kernels to the binary code of one kind of GPU.
    ///
    /// - Parameters:
    ///   - kernels: their sources, without a prelude.
    ///   - computeCapability: 90 for an H100.
    /// - Throws: ``CUDAError`` with the compiler's messages.
    package func binary(
        of kernels: some Sequence<KernelSource>, computeCapability: Int
    ) throws(CUDAError) -> [UInt8] {
        let text = Prelude.text + kernels.map(\.text).joined(separator: "\n")
        var program: Program?
        try check(create(&program, text, "kernels.cu", 0, nil, nil))
        guard let made = program else { throw CUDAError("NVRTC: there is no program") }
        defer { _ = destroy(&program) }
        // Products and sums may be fused, as on the CPU; divisions and roots are exact.
        let status = withOptions(["--gpu-architecture=sm_\(computeCapability)", "--std=c++17"]) {
            compile(made, Int32($0.count), $0.baseAddress.unsafelyUnwrapped)
        }
        guard status == 0 else {
            throw CUDAError(
                "NVRTC \(version) for sm_\(computeCapability): \(message(status)): "
                    + (try messages(of: made)))
        }
        var size = 0
        try check(codeSize(made, &size))
        var failure: Status = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            failure = bytes.withMemoryRebound(to: CChar.self) {
                $0.baseAddress.map { code(made, $0) } ?? 0
            }
            count = size
        }
        try check(failure)
        return bytes
    }

    private func withOptions(
        _ options: [String], _ body: (UnsafeBufferPointer<Text?>) -> Status
    ) -> Status {
        let copies = options.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return copies.map { $0.map { Text($0) } }.withUnsafeBufferPointer(body)
    }

    private func messages(of program: Program) throws(CUDAError) -> String {
        var count = 0
        try check(logSize(program, &count))
        var characters = [CChar](repeating: 0, count: max(count, 1))
        try check(log(program, &characters))
        return String(written: characters)
    }

    private func check(_ status: Status) throws(CUDAError) {
        guard status != 0 else { return }
        throw CUDAError("NVRTC \(version): \(message(status))")
    }

    private func message(_ status: Status) -> String {
        errorText(status).map { String(cString: $0) } ?? "error \(status)"
    }
}
