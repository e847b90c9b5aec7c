/// The supported opcodes of a pickle: those that torch.save uses for state
/// dicts, in protocols 2 to 5. The names are those of Python's `pickletools`.
enum PickleOpcode: UInt8 {
    case proto = 0x80
    case frame = 0x95
    case stop = 0x2e  // .

    case none = 0x4e  // N
    case newTrue = 0x88
    case newFalse = 0x89
    case binInt = 0x4a  // J
    case binInt1 = 0x4b  // K
    case binInt2 = 0x4d  // M
    case long1 = 0x8a
    case binFloat = 0x47  // G

    case binUnicode = 0x58  // X
    case shortBinUnicode = 0x8c
    case binUnicode8 = 0x8d
    // Texts of Python 2.
    case binString = 0x54  // T
    case shortBinString = 0x55  // U
    case binBytes = 0x42  // B
    case shortBinBytes = 0x43  // C
    case binBytes8 = 0x8e

    case mark = 0x28  // (
    case emptyTuple = 0x29  // )
    case tuple = 0x74  // t
    case tuple1 = 0x85
    case tuple2 = 0x86
    case tuple3 = 0x87
    case emptyList = 0x5d  // ]
    case append = 0x61  // a
    case appends = 0x65  // e
    case emptyDict = 0x7d  // }
    case setItem = 0x73  // s
    case setItems = 0x75  // u

    case binPut = 0x71  // q
    case longBinPut = 0x72  // r
    case memoize = 0x94
    case binGet = 0x68  // h
    case longBinGet = 0x6a  // j

    case global = 0x63  // c
    case stackGlobal = 0x93
    case reduce = 0x52  // R
    case build = 0x62  // b
    case binPersID = 0x51  // Q

    /// The name of a refused opcode, for the error.
    static func refusedName(_ byte: UInt8) -> String {
        refused[byte] ?? "an unknown opcode"
    }

    private static let refused: [UInt8: String] = [
        0x69: "INST", 0x6f: "OBJ", 0x81: "NEWOBJ", 0x92: "NEWOBJ_EX", 0x82: "EXT1", 0x83: "EXT2",
        0x84: "EXT4", 0x50: "PERSID", 0x30: "POP", 0x31: "POP_MARK", 0x32: "DUP", 0x49: "INT",
        0x4c: "LONG", 0x46: "FLOAT", 0x53: "STRING", 0x56: "UNICODE", 0x67: "GET", 0x70: "PUT",
        0x6c: "LIST", 0x64: "DICT", 0x8b: "LONG4", 0x8f: "EMPTY_SET", 0x90: "ADDITEMS",
        0x91: "FROZENSET", 0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
    ]
}
