/// Carries messages between ranks. Only one thread calls it, except for ``rank`` and ``size``.
package protocol Transport: AnyObject {
    var rank: Int { get }
    var size: Int { get }

    /// Starts to send bytes, which must stay in place until ``isDone(_:)``. Messages of the same
    /// sender, receiver and tag arrive in the order in which they were sent.
    ///
    /// - Parameter tag: 0…32767.
    func send(
        _ bytes: UnsafeRawBufferPointer, to rank: Int, tag: Int
    ) throws(RankError) -> TransportRequest
    /// Starts to receive as many bytes as there is room for.
    func receive(
        _ bytes: UnsafeMutableRawBufferPointer, from rank: Int, tag: Int
    ) throws(RankError) -> TransportRequest
    /// Whether a message has been sent or received. After that, the request is not queried again.
    func isDone(_ request: TransportRequest) throws(RankError) -> Bool
    /// Waits for all ranks, and ends the transport.
    func finish() throws(RankError)
    /// Ends all ranks.
    func abort(_ code: Int32)
}

/// The transport's identifier of a message in progress.
package struct TransportRequest {
    package let handle: UnsafeMutableRawPointer

    package init(_ handle: UnsafeMutableRawPointer) { self.handle = handle }
}
