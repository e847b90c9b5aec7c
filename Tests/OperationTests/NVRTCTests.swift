import Foundation
import RetintGraph
import RetintOperationCases
import RetintTestSupport
import Testing

@testable import RetintCUDA

/// The compiler of a GPU's kernels, where it is installed: `Scripts/check nvrtc` installs it.
@Suite struct NVRTCTests {
    static let isInstalled = (try? CUDALibrary(.nvrtc)) != nil

    @Test(.enabled(if: isInstalled, "there is no NVRTC"), arguments: [80, 90, 100])
    func everySourceIsCompiled(_ computeCapability: Int) throws {
        let nvrtc = try NVRTC(CUDALibrary(.nvrtc))
        let sources = try OperationTable.cases.sampled("NVRTC").enumerated().flatMap {
            try SourceProgram(CaseGraph($1), prefix: "k\($0)").backend.kernels.map(\.source)
        }
        let code = try nvrtc.binary(of: sources, computeCapability: computeCapability)
        #expect(code.starts(with: [0x7f, 0x45, 0x4c, 0x46]), "it is an ELF file")
        for source in sources {
            #expect(code.firstRange(of: Array(".text.\(source.name)".utf8)) != nil)
        }
    }

    @Test(.enabled(if: isInstalled, "there is no NVRTC"))
    func saysWhatIsWrong() throws {
        let nvrtc = try NVRTC(CUDALibrary(.nvrtc))
        let wrong = KernelSource(name: "k", text: "RT_KERNEL(k, float *p0) { y; }")
        let error = #expect(throws: CUDAError.self) {
            try nvrtc.binary(of: [wrong], computeCapability: 90)
        }
        #expect(error?.description.contains(#"identifier "y" is undefined"#) == true)
    }

    // MARK: Where libraries are

    @Test func foldersInTheirOrder() throws {
        let scratch = try TemporaryFolder()
        let wheel = "\(scratch.path)/lib/python3.12/site-packages/nvidia/cudnn/lib"
        try FileManager.default.createDirectory(atPath: wheel, withIntermediateDirectories: true)
        let variables = [
            CUDALibrary.variable: "/first:/second", "VIRTUAL_ENV": scratch.path,
            "CUDA_HOME": "/opt/cuda",
        ]
        #expect(
            CUDALibrary.folders { variables[$0] } == [
                "/first", "/second", wheel, "/opt/cuda/lib64", "/opt/cuda/lib",
                "/usr/local/cuda/lib64", "/usr/local/cuda/lib",
            ])
        try Data().write(to: URL(filePath: "\(wheel)/libcudnn.so.9"))
        #expect(
            CUDALibrary.places(of: .cuDNN) { variables[$0] } == [
                "\(wheel)/libcudnn.so.9", "libcudnn.so.9",
            ])
    }

    @Test func saysWhatIsMissing() throws {
        let scratch = try TemporaryFolder()
        let variables = [CUDALibrary.variable: scratch.path]
        func problem(_ kind: CUDALibrary.Kind) -> String? {
            #expect(throws: CUDAError.self) {
                try CUDALibrary(kind) { variables[$0] }
            }?.description
        }
        if (try? CUDALibrary(.cuDNN)) == nil {
            let missing = try #require(problem(.cuDNN))
            #expect(missing.hasPrefix("libcudnn.so.9: there is no cuDNN"))
            #expect(missing.contains("nvidia-cudnn-cu12") && missing.contains(CUDALibrary.variable))
            try Data("no library".utf8).write(to: URL(filePath: "\(scratch.path)/libcudnn.so.9"))
            let damaged = try #require(problem(.cuDNN))
            #expect(damaged.hasPrefix("\(scratch.path)/libcudnn.so.9: ") && damaged.contains("; "))
        }
    }
}
