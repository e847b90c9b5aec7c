import RetintFiles

/// The format of torch.save before PyTorch 1.6: five pickles, then the count and the bytes of each
/// storage.
struct PyTorchStream: PyTorchContainer {
    let isBigEndian = false
    private let ranges: [String: Range<Int>]

    private init(ranges: [String: Range<Int>]) { self.ranges = ranges }

    /// 0x1950a86a20f9469cfc6c, little-endian.
    private static let magic: [UInt8] = [
        0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19,
    ]
    private static let version = 1001

    static func open(
        _ file: RegularFile, limits: TensorFileLimits
    ) throws(TensorFileError) -> (PyTorchStream, PickleValue) {
        let place = FilePlace(file.path.string, "pickle")
        let input = PickleInput(file, 0..<file.byteCount, place)
        var machine = PickleMachine(input, limits: limits)
        try Self.checkHeader(&machine)
        let object = try machine.run()
        let keys = try Self.keys(machine.run(), machine)
        let ranges = try Self.ranges(of: keys, machine.storages, &machine.input)
        return (PyTorchStream(ranges: ranges), object)
    }

    func range(
        of storage: PyTorchStorage, _ place: FilePlace
    ) throws(TensorFileError) -> Range<Int> {
        guard let range = ranges[storage.key] else {
            throw place.error(
                .damaged, "its storage \(storage.key.debugDescription) is not in the file")
        }
        return range
    }

    func verify(_ storage: PyTorchStorage) {}

    /// The magic number, the version and the system that wrote the file.
    private static func checkHeader(
        _ machine: inout PickleMachine
    ) throws(TensorFileError) {
        let path = machine.input.place.path
        guard case .longInteger(let number) = try machine.run(), number == magic else {
            throw FilePlace(path).error(
                .otherFormat,
                "is a pickle, but not one of torch.save; save the weights with "
                    + "torch.save(model.state_dict(), …)")
        }
        guard try machine.run().integer == version else {
            throw FilePlace(path).error(
                .refused, "is not of version \(version) of torch.save's old format; save it again")
        }
        guard case .container(let system) = try machine.run() else {
            throw machine.damaged("does not say what system wrote it")
        }
        for case (.text("little_endian"), .bool(false)) in system.pairs {
            throw FilePlace(path).error(
                .refused, "was written on a big-endian machine; save it with a current PyTorch")
        }
    }

    private static func keys(
        _ list: PickleValue, _ machine: PickleMachine
    ) throws(TensorFileError) -> [String] {
        let elements = list.elements(of: .list) ?? []
        let keys = elements.compactMap(\.text)
        guard case .container = list, keys.count == elements.count,
            Set(keys).count == keys.count, Set(keys) == Set(machine.storages.keys)
        else {
            throw machine.damaged("the list of storages does not match the tensors' storages")
        }
        return keys
    }

    private static func ranges(
        of keys: [String], _ storages: [String: PyTorchStorage], _ input: inout PickleInput
    ) throws(TensorFileError) -> [String: Range<Int>] {
        var ranges: [String: Range<Int>] = [:]
        for key in keys {
            guard let storage = storages[key] else { continue }
            let place = FilePlace(input.place.path, key)
            let count = try input.number(8)
            guard count == UInt64(storage.count) else {
                throw place.error(
                    .damaged,
                    "its storage has \(count) elements, but a tensor expects \(storage.count)")
            }
            guard let byteCount = storage.byteCount, byteCount <= input.remaining else {
                throw place.error(
                    .damaged,
                    "is truncated: its storage has \(count) elements of \(storage.type.rawValue), "
                        + "and \(input.remaining) bytes are left")
            }
            ranges[key] = input.skip(byteCount)
        }
        guard input.remaining == 0 else {
            throw FilePlace(input.place.path).error(
                .damaged, "\(input.remaining) bytes follow the last storage")
        }
        return ranges
    }
}
