import Foundation
import RetintTestSupport
import Testing

/// Ranks started by `mpirun`, with the library of `Scripts/setup --mpi`.
@Suite(
    .serialized,
    .enabled(if: Launcher.isUsable, "no MPI here: run Scripts/setup --mpi to test with it"))
struct MPITests {
    @Test(arguments: [2, 4]) func sumsAreEqualAndTheSameAgain(size: Int) throws {
        let outputs = try (0..<2).map { _ in
            let result = try Launcher.start(size, "RetintRanksProbe").wait(limit: 60)
            #expect(result.code == 0, "\(result.messages)")
            return result.output
        }
        #expect(outputs[0].hasPrefix("ranks \(size) equal true hashes"), "\(outputs[0])")
        #expect(outputs[0] == outputs[1])
    }

    @Test func anotherInterfaceIsRefused() throws {
        let scratch = try TemporaryFolder()
        let library = scratch.path("libretint-mpi.so")
        let source = scratch.path("old.c")
        try Data("int numbers[64] = {77}; int *retint_mpi(void) { return numbers; }".utf8)
            .write(to: URL(filePath: source))
        let compiled = try runProcess(
            URL(filePath: "/usr/bin/env"), ["cc", "-shared", "-fPIC", "-o", library, source])
        try #require(compiled.code == 0, "\(compiled.messages)")
        let result = try Launcher.start(
            2, "RetintRanksProbe", environment: ["RETINT_MPI_LIBRARY": library]
        ).wait(limit: 60)
        #expect(result.code == 1)
        #expect(result.output.contains("\(library): has interface 77, this retint needs 1"))
    }

    @Test func aLauncherWithoutTheLibraryIsAnError() throws {
        let result = try runProcess(
            builtProgram("RetintRanksProbe"), [],
            environment: ["OMPI_COMM_WORLD_SIZE": "2", "RETINT_MPI_LIBRARY": "/nowhere.so"])
        #expect(result.code == 1)
        #expect(result.output.contains("OMPI_COMM_WORLD_SIZE says that there are 2 ranks"))
        #expect(result.output.contains("Scripts/setup --mpi"))
    }

    /// The launcher's MPI and the library's are different ones.
    @Test func ranksThatMPIDoesNotSeeAreAnError() throws {
        let result = try runProcess(
            builtProgram("RetintRanksProbe"), [], environment: ["PMI_SIZE": "3"])
        #expect(result.code == 1)
        #expect(result.output.contains("MPI sees 1 ranks, the launcher started 3 (PMI_SIZE)"))
    }

    @Test func withoutALauncherThereIsOneRank() throws {
        let result = try runProcess(
            builtProgram("RetintRanksProbe"), [], environment: ["RETINT_MPI_LIBRARY": "/nowhere.so"]
        )
        #expect(result.output.hasPrefix("ranks 1 equal true"))
    }

    @Test func theSystemIsDescribed() throws {
        let retint = builtProgram("retint")
        let found = try runProcess(retint, ["inspect", "--system", "--json"])
        #expect(found.output.contains("\"library\" : \"\(Launcher.library)\""))
        let none = try runProcess(
            retint, ["inspect", "--system"], environment: ["RETINT_MPI_LIBRARY": "/nowhere.so"])
        #expect(none.code == 0 && none.output.contains("MPI: none: /nowhere.so: there is no"))
    }
}
