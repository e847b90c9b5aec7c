import RetintFiles

/// The format of torch.save since PyTorch 1.6: a zip file of a pickle and one record per storage.
struct PyTorchArchive: PyTorchContainer {
    let isBigEndian: Bool
    private let zip: ZipFile
    /// The folder of all records, `archive` or the file's name, and a slash.
    private let folder: String

    private static let pickle = "data.pkl"

    static func open(
        _ file: RegularFile, limits: TensorFileLimits
    ) throws(TensorFileError) -> (PyTorchArchive, PickleValue) {
        let zip = try ZipFile(file, limits: limits)
        let archive = try PyTorchArchive(zip)
        return (archive, try archive.object(limits))
    }

    private init(_ zip: ZipFile) throws(TensorFileError) {
        self.zip = zip
        folder = try Self.folder(in: zip)
        isBigEndian = try Self.isBigEndian(zip, folder)
    }

    /// Reads the pickle.
    private func object(_ limits: TensorFileLimits) throws(TensorFileError) -> PickleValue {
        let (name, file) = (folder + Self.pickle, zip.file)
        let place = FilePlace(file.path.string, name)
        guard let range = try zip.range(of: name) else {
            throw place.error(.notFound, "is not in the file")
        }
        guard range.count <= PickleMachine.longest else {
            throw place.error(
                .refused, "has \(range.count) bytes; the limit is \(PickleMachine.longest)")
        }
        try zip.verify(name)
        var machine = PickleMachine(PickleInput(file, range, place), limits: limits)
        let object = try machine.run()
        guard machine.input.remaining == 0 else {
            throw machine.damaged("\(machine.input.remaining) bytes follow the end")
        }
        return object
    }

    func range(
        of storage: PyTorchStorage, _ place: FilePlace
    ) throws(TensorFileError) -> Range<Int> {
        guard let range = try zip.range(of: name(of: storage)) else {
            throw place.error(
                .damaged, "its storage \(name(of: storage).debugDescription) is not in the file")
        }
        guard range.count == storage.byteCount else {
            throw place.error(
                .damaged,
                "its storage has \(range.count) bytes, which are not \(storage.count) elements of "
                    + "\(storage.type.rawValue)")
        }
        return range
    }

    func verify(_ storage: PyTorchStorage) throws(TensorFileError) {
        try zip.verify(name(of: storage))
    }

    private func name(of storage: PyTorchStorage) -> String { "\(folder)data/\(storage.key)" }

    private static func folder(in zip: ZipFile) throws(TensorFileError) -> String {
        let place = FilePlace(zip.file.path.string)
        let folders = zip.names.filter { $0.hasSuffix("/\(pickle)") }.map {
            String($0.dropLast(pickle.count))
        }.filter { $0.dropLast().allSatisfy { $0 != "/" } }
        guard !zip.names.contains(where: { $0.hasSuffix("/archive_format") }) else {
            throw place.error(
                .otherFormat,
                "is a program of torch.export, not weights; write it as ONNX, which "
                    + "`retint export` converts: torch.onnx.export(torch.export.load(path), (), "
                    + "\"network.onnx\", dynamo=True)")
        }
        guard !folders.isEmpty || !NumPyArchive.hasNames(zip.names) else {
            throw place.error(
                .otherFormat, NumPyArchive.notWeights("an archive of NumPy (.npz)"))
        }
        guard folders.count == 1, let folder = folders.first else {
            throw place.error(
                .otherFormat,
                "is a zip file, but torch.save writes one with exactly one \(pickle)")
        }
        guard !zip.names.contains(where: { $0.hasPrefix("\(folder)code/") }),
            !zip.names.contains("\(folder)constants.pkl")
        else {
            throw place.error(
                .otherFormat,
                "is a TorchScript program, not weights; save its tensors, "
                    + "torch.save(torch.jit.load(path).state_dict(), …), or write it as ONNX, "
                    + "which `retint export` converts: torch.onnx.export(torch.jit.load(path), x, "
                    + "\"network.onnx\", dynamo=False)")
        }
        return folder
    }

    /// Files before PyTorch 2.1 do not state it; they are from little-endian machines.
    private static func isBigEndian(
        _ zip: ZipFile, _ folder: String
    ) throws(TensorFileError) -> Bool {
        let name = "\(folder)byteorder"
        guard let range = try zip.range(of: name) else { return false }
        let bytes = try zip.file.head(min(range.count, 16), at: range.lowerBound)
        switch String(decoding: bytes, as: UTF8.self) {
        case "little": return false
        case "big": return true
        default:
            throw FilePlace(zip.file.path.string, name).error(
                .refused, "is neither \"little\" nor \"big\"")
        }
    }
}
