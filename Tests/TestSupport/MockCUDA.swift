internal import Foundation

/// Libraries of CUDA that compute on this machine (Tests/CUDAMock), in place of NVIDIA's.
package enum MockCUDA {
    /// The folders that the user has named for NVIDIA's libraries.
    package static let userLibraries = ProcessInfo.processInfo.environment[variable]
    private static let variable = "RETINT_CUDA_LIBRARIES"

    /// The variables of this process, without the mock.
    package static func userEnvironment(_ name: String) -> String? {
        name == variable ? userLibraries : ProcessInfo.processInfo.environment[name]
    }

    /// Lets this process find the mocks. Call it before anything looks for a GPU.
    package static func install() { _ = isInstalled }

    private static let isInstalled: Bool = {
        _ = userLibraries
        guard let folder = build() else { preconditionFailure("the mock of CUDA is not compiled") }
        mockFolder = folder
        atexit { MockCUDA.mockFolder.map { try? FileManager.default.removeItem(atPath: $0) } }
        setenv(variable, folder, 1)
        // As many as ranks that train at the same time.
        setenv("RETINT_MOCK_GPUS", "3", 1)
        // Kernels for this machine are not kept among those for GPUs.
        setenv("XDG_CACHE_HOME", "\(folder)/cache", 1)
        return true
    }()

    nonisolated(unsafe) private static var mockFolder: String?

    private static func build() -> String? {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../CUDAMock").standardizedFileURL.path
        let folder =
            NSTemporaryDirectory() + "retint-mock-\(ProcessInfo.processInfo.processIdentifier)"
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["bash", "\(sources)/build", folder]
        guard (try? process.run()) != nil else { return nil }
        process.waitUntilExit()
        return process.terminationStatus == 0 ? folder : nil
    }
}
