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

    /// What `RETINT_MPI_LIBRARY` names, or where `Scripts/setup --mpi` puts the library.
    package static let library: String = {
        if let named = ProcessInfo.processInfo.environment["RETINT_MPI_LIBRARY"] { return named }
        let parts = builtProgram("retint").path.components(separatedBy: "/.build/")
        return "\(parts[0])/.build/mpi/libretint-mpi.so"
    }()

    /// Whether tests with ranks run: always where `Scripts/test` says that MPI is installed.
    package static var isUsable: Bool {
        path != nil || ProcessInfo.processInfo.environment["RETINT_TESTS_MPI"] == "required"
    }

    /// Starts a program of this package on some ranks.
    package static func start(
        _ ranks: Int, _ program: String, _ arguments: [String] = [], in folder: String? = nil,
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
            ["-n", "\(ranks)"] + passed + [builtProgram(program).path] + arguments, in: folder,
            environment: allowed.merging(environment) { $1 })
    }
}

// MARK: Its processes

extension Launcher {
    /// The processes of a job's ranks, by rank.
    ///
    /// - Parameter argument: one that no other job has.
    package static func processes(naming argument: String) throws -> [Int: Int32] {
        var result: [Int: Int32] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let process = Int32(name), arguments(of: name).contains(argument),
                let rank = rank(of: name),
                // The process that forks readers is a child of its rank.
                !isChildOfRank(name)
            else { continue }
            result[rank] = process
        }
        return result
    }

    private static func arguments(of process: String) -> [String] {
        fields("/proc/\(process)/cmdline", separator: "\0")
    }

    private static func rank(of process: String) -> Int? {
        let prefix = "OMPI_COMM_WORLD_RANK="
        return fields("/proc/\(process)/environ", separator: "\0")
            .first { $0.hasPrefix(prefix) }.flatMap { Int($0.dropFirst(prefix.count)) }
    }

    private static func isChildOfRank(_ process: String) -> Bool {
        let parent =
            fields("/proc/\(process)/status", separator: "\n")
            .first { $0.hasPrefix("PPid:") }?.split(separator: "\t").last ?? "0"
        return fields("/proc/\(parent)/comm", separator: "\n").first?.hasPrefix("retint") ?? false
    }

    private static func fields(_ path: String, separator: Character) -> [String] {
        let bytes = FileManager.default.contents(atPath: path) ?? Data()
        return String(decoding: bytes, as: UTF8.self).split(separator: separator).map(String.init)
    }
}
