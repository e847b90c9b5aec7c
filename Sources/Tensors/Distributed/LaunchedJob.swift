import Glibc

/// The environment that a launcher such as `mpirun` or `srun` sets for each rank.
struct LaunchedJob: Equatable {
    /// The variable that gives the number of ranks.
    let variable: String
    let size: Int

    /// Open MPI's `mpirun`, MPICH's and Intel's, and `srun` of Slurm. The variables of `sbatch`
    /// itself do not count: a script runs once.
    private static let sizes = [
        "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS",
    ]

    /// - Returns: nil without a launcher, or if it started only one rank.
    init?(_ environment: (String) -> String? = Self.variable) {
        for variable in Self.sizes {
            if let size = environment(variable).flatMap({ Int($0) }), size > 1 {
                (self.variable, self.size) = (variable, size)
                return
            }
        }
        return nil
    }

    /// The number of a rank among those on its machine.
    private static let localRanks = [
        "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
        "SLURM_LOCALID",
    ]

    /// - Returns: nil without a launcher, or if it does not say.
    static func rankOnMachine(_ environment: (String) -> String? = Self.variable) -> Int? {
        guard Self(environment) != nil else { return nil }
        return localRanks.lazy.compactMap(environment).compactMap { Int($0) }.first { $0 >= 0 }
    }

    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
