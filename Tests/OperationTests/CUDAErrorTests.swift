import Foundation
import RetintTestSupport
import Testing

@testable import RetintCUDA

/// What keeps a GPU from being used, and files that were damaged.
@Suite struct CUDAErrorTests {
    /// A driver that is loaded, and has none of the functions.
    @Test func oldLibrariesAreNamed() throws {
        let scratch = try TemporaryFolder()
        let result = try runProcess(
            URL(filePath: "/usr/bin/env"),
            ["clang", "-shared", "-x", "c", "/dev/null", "-o", "libcuda.so.1"], in: scratch.path)
        try #require(result.code == 0, "\(result.messages)")
        let library = try CUDALibrary(.driver) {
            $0 == CUDALibrary.variable ? scratch.path : nil
        }
        let error = #expect(throws: CUDAError.self) {
            let _: @convention(c) () -> Int32 = try library.function("cuInit")
        }
        #expect(
            error?.description
                == "\(scratch.path)/libcuda.so.1: CUDA driver of this version has no cuInit; "
                + "install NVIDIA's driver, 530 or newer")
    }

    /// What the mock says it is, in a process of its own: a driver and a card that are too old, and
    /// no card at all.
    @Test(arguments: [
        ("RETINT_MOCK_DRIVER", "11080", "this driver is for CUDA 11.8, and retint needs 12"),
        ("RETINT_MOCK_CAPABILITY", "70", "has compute capability 7.0, and retint needs 7.5"),
        ("RETINT_MOCK_GPUS", "0", "this machine has no GPU that the driver can use"),
        ("RETINT_MOCK_FAIL", "cuMemAlloc_v2", "out of memory; take a smaller batch"),
        ("RETINT_MOCK_FAIL", "cuLaunchKernel", "starting rt_"),
        ("RETINT_MOCK_FAIL", "cuStreamSynchronize", "CUDA_ERROR, an error of the mock"),
    ])
    func commandsSayWhatIsWrong(_ variable: String, _ value: String, _ message: String) throws {
        MockCUDA.install()
        let result = try runProcess(
            builtProgram("retint"), ["benchmark", "pico-unet", "--size", "32", "--device", "cuda"],
            environment: [variable: value])
        #expect(result.code == 1, "\(result.messages)")
        #expect(result.messages.contains(message), "\(result.messages)")
    }

    /// A damaged file of compiled kernels is compiled again.
    @Test func damagedKernelsAreCompiledAgain() throws {
        MockCUDA.install()
        let scratch = try TemporaryFolder()
        let compiler = CompiledKernels(try NVRTC(CUDALibrary(.nvrtc)), 90, folder: scratch.path)
        let source = KernelSource("k", parameters: ["float"], body: "p0[0] = 1.0f;")
        let code = try compiler.binary(of: [source])
        let name = try #require(try scratch.names().first)
        #expect(try scratch.names().count == 1)
        let whole = try Data(contentsOf: URL(filePath: scratch.path(name)))
        #expect(whole.count == code.count + 8)
        for damaged in [whole.dropLast(1), Data(), whole.prefix(8), whole + [0]] {
            try damaged.write(to: URL(filePath: scratch.path(name)))
            #expect(try compiler.binary(of: [source]).count == code.count)
            #expect(try Data(contentsOf: URL(filePath: scratch.path(name))).count == whole.count)
        }
        var changed = whole
        changed[whole.count / 2] ^= 1
        try changed.write(to: URL(filePath: scratch.path(name)))
        _ = try compiler.binary(of: [source])
        #expect(try Data(contentsOf: URL(filePath: scratch.path(name))) != changed)
    }
}
