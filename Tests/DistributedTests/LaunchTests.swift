import Foundation
import RetintTestSupport
import Testing

@testable import RetintDistributed

/// What a process learns about its job before MPI starts.
struct LaunchTests {
    @Test(arguments: [
        (["OMPI_COMM_WORLD_SIZE": "4"], 4), (["PMI_SIZE": "2"], 2),
        (["SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "3"], 8),
        (["OMPI_COMM_WORLD_SIZE": "1"], nil), (["SLURM_NTASKS": "8"], nil), ([:], nil),
        (["PMI_SIZE": "many"], nil),
    ])
    func launchersAreRecognized(environment: [String: String], size: Int?) {
        #expect(LaunchedJob { environment[$0] }?.size == size)
    }

    @Test(arguments: [
        (["OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "3"], 3),
        (["PMI_SIZE": "2", "MPI_LOCALRANKID": "0"], 0),
        (["SLURM_STEP_NUM_TASKS": "8", "SLURM_LOCALID": "5"], 5),
        (["OMPI_COMM_WORLD_SIZE": "4"], nil), (["OMPI_COMM_WORLD_LOCAL_RANK": "1"], nil),
        (["PMI_SIZE": "2", "MPI_LOCALRANKID": "-1"], nil),
    ])
    func ranksOfAMachineAreNumbered(environment: [String: String], rank: Int?) {
        #expect(LaunchedJob.rankOnMachine { environment[$0] } == rank)
    }

    @Test func theLibraryIsLookedForBesideTheExecutable() {
        let places = { (environment: [String: String], executable: String) in
            MPILibrary.places({ environment[$0] }, executable: executable)
        }
        #expect(
            places([:], "/usr/bin/retint") == [
                "/usr/bin/libretint-mpi.so", "/usr/lib/libretint-mpi.so",
            ])
        #expect(
            places([:], "/work/.build/x86_64/release/retint").last
                == "/work/.build/mpi/libretint-mpi.so")
        #expect(places(["RETINT_MPI_LIBRARY": "/x.so"], "/usr/bin/retint") == ["/x.so"])
    }
}
