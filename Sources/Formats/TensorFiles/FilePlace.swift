import RetintTensors

/// A file and an object in it, for errors.
struct FilePlace: Sendable {
    /// The longest name of a tensor that is read: names are copied into every message about them.
    static let longestName = 4096

    let path: String
    let name: String?

    init(_ path: String, _ name: String? = nil) {
        self.path = path
        self.name = name.map { $0.isEmpty ? "/" : $0 }
    }

    func error(_ kind: TensorFileError.Kind, _ problem: String) -> TensorFileError {
        // Escaped: a name from a file must not control a terminal.
        TensorFileError(kind, path: path, place: name?.debugDescription, problem)
    }
}

extension FilePlace {
    /// Throws if a tensor has another shape than is expected; nil allows any.
    func check(_ shape: Shape, expecting expected: Shape?) throws(TensorFileError) {
        guard let expected, expected != shape else { return }
        throw error(.mismatch, "has shape \(shape), but \(expected) is expected")
    }

    /// Refuses elements of unsupported types.
    func notPlain(_ elements: String) -> TensorFileError {
        error(.refused, "contains \(elements); a tensor has plain floats or integers")
    }

    /// Throws if a tensor has more bytes than may still be read.
    func checkBudget(
        _ byteCount: Int, _ budget: Int, _ limits: TensorFileLimits
    ) throws(TensorFileError) {
        guard byteCount <= budget else {
            throw error(
                .refused,
                "its \(byteCount) bytes exceed the limit of \(limits.totalBytes) bytes in all; "
                    + "raise the limit to read it")
        }
    }
}
