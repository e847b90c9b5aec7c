import CRetintDistributed

/// Messages through MPI.
final class MPITransport: Transport {
    private let library: MPILibrary
    let rank: Int
    let size: Int

    /// Starts MPI; the calling thread is the one that calls everything else.
    init(_ library: MPILibrary) throws(RankError) {
        self.library = library
        var (rank, size) = (Int32(0), Int32(0))
        let error = library.functions.pointee.start(&rank, &size)
        guard error == 0 else {
            throw RankError("\(library.path): MPI cannot start: \(library.message(of: error))")
        }
        (self.rank, self.size) = (Int(rank), Int(size))
    }

    private var functions: rt_mpi { library.functions.pointee }

    func send(
        _ bytes: UnsafeRawBufferPointer, to rank: Int, tag: Int
    ) throws(RankError) -> TransportRequest {
        var request: UnsafeMutableRawPointer?
        let error = functions.send(
            bytes.baseAddress, bytes.count, Int32(rank), Int32(tag), &request)
        return try started(request, error, "to", rank)
    }

    func receive(
        _ bytes: UnsafeMutableRawBufferPointer, from rank: Int, tag: Int
    ) throws(RankError) -> TransportRequest {
        var request: UnsafeMutableRawPointer?
        let error = functions.receive(
            bytes.baseAddress, bytes.count, Int32(rank), Int32(tag), &request)
        return try started(request, error, "from", rank)
    }

    private func started(
        _ request: UnsafeMutableRawPointer?, _ error: Int32, _ direction: String, _ rank: Int
    ) throws(RankError) -> TransportRequest {
        guard error == 0, let request else {
            throw failure("a message \(direction) rank \(rank)", error)
        }
        return TransportRequest(request)
    }

    func isDone(_ request: TransportRequest) throws(RankError) -> Bool {
        var isDone = Int32(0)
        let error = functions.test(request.handle, &isDone)
        guard error == 0 else { throw failure("a message", error) }
        return isDone != 0
    }

    func finish() throws(RankError) {
        let error = functions.finish()
        guard error == 0 else { throw failure("the end of MPI", error) }
    }

    func abort(_ code: Int32) { functions.abort(code) }

    private func failure(_ subject: String, _ error: Int32) -> RankError {
        RankError("rank \(rank): \(subject) failed: \(library.message(of: error))")
    }
}
