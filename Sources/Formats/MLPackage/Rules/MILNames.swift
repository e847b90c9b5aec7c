/// The legal names of values.
package enum MILNames {
    /// Reserved words of MIL's text form.
    private static let keywords: Set<String> = [
        "any", "bool", "program", "func", "tensor", "list", "dict", "tuple", "true", "false",
        "string", "state", "bf16", "fp16", "fp32", "fp64", "int8", "int16", "int32", "int64",
        "uint8", "uint16", "uint32", "uint64",
    ]

    /// Whether a name consists of letters, digits, underscores and `@`, starts with a letter or
    /// underscore, and is not reserved.
    package static func isLegal(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first) else { return false }
        return name.utf8.allSatisfy(isNameByte) && !keywords.contains(name)
    }

    /// The name with illegal characters replaced: `model1.0.weight` becomes `model1_0_weight`.
    package static func legal(_ name: String) -> String {
        var result = String(decoding: name.utf8.map(replacement), as: UTF8.self)
        if !(result.utf8.first.map(isLetter) ?? false) { result = "_" + result }
        return keywords.contains(result) ? result + "_" : result
    }

    private static func replacement(_ byte: UInt8) -> UInt8 {
        isNameByte(byte) ? byte : UInt8(ascii: "_")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: byte == UInt8(ascii: "_")
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "@"): true
        default: isLetter(byte)
        }
    }
}
