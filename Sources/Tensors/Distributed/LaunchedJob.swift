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

    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
