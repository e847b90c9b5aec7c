/// Instructions of pickles, for files that torch.save does not write.
package enum Pickle {
    package typealias Bytes = [UInt8]

    package static func global(_ module: String, _ name: String) -> Bytes {
        Bytes("c\(module)\n\(name)\n".utf8)
    }
    package static func text(_ text: String) -> Bytes {
        Bytes("X".utf8) + number(text.utf8.count) + text.utf8
    }
    package static func integer(_ value: Int) -> Bytes {
        Int32(exactly: value).map { Bytes("J".utf8) + number(Int($0)) }
            ?? [0x8a, 8] + (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    package static func tuple(_ elements: Bytes...) -> Bytes { tuple(elements) }
    package static func tuple(_ elements: [Bytes]) -> Bytes {
        Bytes("(".utf8) + elements.flatMap { $0 } + Bytes("t".utf8)
    }
    package static func call(_ function: Bytes, _ arguments: Bytes...) -> Bytes {
        function + tuple(arguments) + Bytes("R".utf8)
    }
    package static func dictionary(_ entries: (String, Bytes)...) -> Bytes { dictionary(entries) }
    package static func dictionary(_ entries: [(String, Bytes)]) -> Bytes {
        Bytes("}(".utf8) + entries.flatMap { text($0.0) + $0.1 } + Bytes("u".utf8)
    }

    package static func storage(
        _ type: String = "FloatStorage", key: String = "0", count: Int = 4,
        kind: String = "storage", view: Bytes = []
    ) -> Bytes {
        let fields = [text(kind), global("torch", type), text(key), text("cpu"), integer(count)]
        return tuple(fields + (view.isEmpty ? [] : [view])) + Bytes("Q".utf8)
    }

    /// A tensor of two by two elements, unless something else is asked for.
    package static func tensor(
        of storage: Bytes = storage(), offset: Int = 0, _ shape: [Int] = [2, 2],
        _ strides: [Int] = [2, 1], more: Bytes...
    ) -> Bytes {
        let rest = [Bytes([0x89]), Bytes("}".utf8)] + more
        return global("torch._utils", "_rebuild_tensor_v2")
            + tuple(
                [
                    storage, integer(offset), tuple(shape.map(integer)),
                    tuple(strides.map(integer)),
                ] + rest) + Bytes("R".utf8)
    }

    /// A whole pickle.
    package static func whole(_ body: Bytes, version: UInt8 = 2) -> Bytes {
        [0x80, version] + body + Bytes(".".utf8)
    }

    /// Four bytes, little-endian.
    private static func number(_ value: Int) -> Bytes {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}

/// A file of torch.save, as today's format or as the former one.
package enum PyTorchFile {
    package static let zeros = [UInt8](repeating: 0, count: 16)

    package static func archive(_ pickle: [UInt8], storage: [UInt8] = zeros) -> [UInt8] {
        ZipMaker(records: [
            .init("archive/data.pkl", pickle), .init("archive/byteorder", Array("little".utf8)),
            .init("archive/data/0", storage),
        ]).bytes
    }

    /// - Parameter keys: the list of the storages' keys, as a pickle's instructions.
    package static func stream(
        _ pickle: [UInt8], magic: [UInt8] = magic, version: Int = 1001, isLittle: Bool = true,
        keys: [UInt8] = keys("0"), storage: [UInt8] = [4, 0, 0, 0, 0, 0, 0, 0] + zeros
    ) -> [UInt8] {
        let system = Pickle.dictionary(("little_endian", [isLittle ? 0x88 : 0x89]))
        return [
            Pickle.whole([0x8a, UInt8(magic.count)] + magic),
            Pickle.whole(Pickle.integer(version)), Pickle.whole(system), pickle,
            Pickle.whole(keys), storage,
        ].flatMap { $0 }
    }

    package static let magic: [UInt8] = [
        0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19,
    ]

    package static func keys(_ keys: String...) -> [UInt8] {
        Array("](".utf8) + keys.flatMap(Pickle.text) + Array("e".utf8)
    }
}
