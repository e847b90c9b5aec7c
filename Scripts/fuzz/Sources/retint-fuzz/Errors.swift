@testable import Retint

/// Whatever the input, an error has to be one of retint's own, which names the place, and of a
/// length that people read.
func checkIsOwn(_ error: any Error) {
    precondition(error is any RetintError, "a raw error: \(error)")
    let text = "\(error)"
    precondition(text.utf8.count < longestMessage, "an error of \(text.utf8.count) bytes")
}

/// A table with a line for each tensor of a network is about 20 kB.
private let longestMessage = 1 << 16
