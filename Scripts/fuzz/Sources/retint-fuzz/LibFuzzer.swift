import Glibc

// The functions through which libFuzzer and this program call each other.

@_extern(c, "LLVMFuzzerRunDriver")
private func runDriver(
    _ argumentCount: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

@_extern(c, "LLVMFuzzerMutate")
private func mutateBytes(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int) -> Int

/// The target of this process: libFuzzer's functions take no context.
nonisolated(unsafe) var runningTarget: any FuzzTarget = fuzzTargets[0]

/// Runs libFuzzer on ``runningTarget``.
func runFuzzer(_ arguments: [String]) -> Int32 {
    var count = Int32(arguments.count)
    let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
        capacity: arguments.count + 1)
    for (index, argument) in arguments.enumerated() { pointers[index] = strdup(argument) }
    pointers[arguments.count] = nil
    var vector: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = pointers
    return runDriver(&count, &vector) { bytes, count in
        test(Array(UnsafeBufferPointer(start: bytes, count: count)))
        return 0
    }
}

private func test(_ input: [UInt8]) {
    do {
        try runningTarget.run(input)
    } catch {
        checkIsOwn(error)
    }
}

/// Called by libFuzzer for each new input; LLVMFuzzerMutate makes it from an old one where the
/// target knows no better.
@_cdecl("LLVMFuzzerCustomMutator")
func customMutator(
    _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32
) -> Int {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let changed = runningTarget.mutated(input, limit: limit, seed: seed) { part, limit in
        var room = part + [UInt8](repeating: 0, count: max(limit - part.count, 0))
        let count = mutateBytes(&room, min(part.count, limit), limit)
        return Array(room.prefix(count))
    }
    guard let changed, changed.count <= limit else { return mutateBytes(bytes, count, limit) }
    for (index, byte) in changed.enumerated() { bytes[index] = byte }
    return changed.count
}
