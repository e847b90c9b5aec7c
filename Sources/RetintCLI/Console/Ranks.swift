import Retint

/// The ranks of the job that a launcher started this process for, of which the first alone prints.
///
/// - Throws: `RankError` if there is a launcher, but no way to reach the others.
func joinRanks() throws -> Communicator {
    let ranks = try Communicator.world()
    if ranks.rank > 0 { Console.fallSilent() }
    return ranks
}

extension Communicator {
    /// Refuses work that ranks cannot share out.
    ///
    /// - Parameter work: what it is, in the plural, for the error.
    func requireOne(for work: String) throws {
        guard size > 1 else { return }
        throw CommandError(
            .usage, "\(work) run in one process; start them without a launcher")
    }
}

extension Communicator {
    /// Runs the end of a command that fails on all ranks or on none: the first says why, and no
    /// rank needs to be stopped.
    func endTogether(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as CommandError where size > 1 {
            Console.note("error: \(error)")
            throw ExitStatus(error.fault).exit
        }
    }
}
