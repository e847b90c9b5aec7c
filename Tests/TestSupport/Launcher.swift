package import Foundation

/// `mpirun`, with which tests start several ranks.
package enum Launcher {
    /// Nil if there is none, or `Scripts/setup --mpi` has not been run.
    package static let path: String? = {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        let program = folders.map { "\($0)/mpirun" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        return FileManager.default.fileExists(atPath: library) ? program : nil
    }()

    /// Where `Scripts/setup --mpi` puts the library.
    package static let library: String = {
        let parts = builtProgram("retint").path.components(separatedBy: "/.build/")
        return "\(parts[0])/.build/mpi/libretint-mpi.so"
    }()

    /// Whether tests with ranks run: always where `Scripts/test` says that MPI is installed.
    package static var isUsable: Bool {
        path != nil || ProcessInfo.processInfo.environment["RETINT_TESTS_MPI"] == "required"
    }

    /// Starts a program of this package on some ranks.
    package static func start(
        _ ranks: Int, _ program: String, _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) throws -> RunningProcess {
        guard let path else { throw CocoaError(.fileNoSuchFile) }
        // More ranks than cores, and as root in a container: both are refused unless asked for.
        let allowed = [
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
        ]
        let passed = environment.keys.sorted().flatMap { ["-x", $0] }
        return try RunningProcess(
            URL(filePath: path),
            ["-n", "\(ranks)"] + passed + [builtProgram(program).path] + arguments,
            environment: allowed.merging(environment) { $1 })
    }
}
