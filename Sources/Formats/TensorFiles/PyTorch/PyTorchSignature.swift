import RetintFiles

/// How a torch.save file begins.
enum PyTorchSignature {
    case zip, pickle, tar

    /// Recognizes how a file begins; nil if it is not a torch.save file.
    init?(of file: RegularFile) throws(TensorFileError) {
        let start = try file.head(4)
        if start == [0x50, 0x4b, 3, 4] || start == [0x50, 0x4b, 5, 6] {
            self = .zip
        } else if start.first == PickleOpcode.proto.rawValue {
            self = .pickle
        } else if try file.head(5, at: 257) == Array("ustar".utf8) {
            self = .tar
        } else {
            return nil
        }
    }
}
