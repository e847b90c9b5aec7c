import Retint

/// The ranks of the job that a launcher started this process for; only the first one prints.
///
/// - Throws: `RankError` if there is a launcher, but the others cannot be reached.
func joinRanks() throws -> Communicator {
    let ranks = try Communicator.world()
    if ranks.rank > 0 { Console.fallSilent() }
    return ranks
}

extension Communicator {
    /// Refuses work that cannot be split between ranks.
    ///
    /// - Parameter work: the kind of work, in the plural, for the error.
    func requireOne(for work: String) throws {
        guard size > 1 else { return }
        throw CommandError(
            .usage, "\(work) run in one process; start them without a launcher")
    }
}

extension Communicator {
    /// Runs the end of a command that fails either on all ranks or on none: the first prints why,
    /// and no rank needs to be stopped.
    func endTogether(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as CommandError where size > 1 {
            Console.note("error: \(error)")
            throw ExitStatus(error.fault).exit
        }
    }
}
