/// The number of aliases (`*name`) in YAML, those in comments and quoted text included.
///
/// Each alias may stand for text with aliases, so that a short file can take forever to read. A
/// configuration needs no aliases.
package func countYAMLAliases(_ text: String) -> Int {
    var count = 0
    // Before the first character, as after a space, a value may begin.
    var mayBegin = true
    var isStar = false
    for byte in text.utf8 {
        if isStar, byte > UInt8(ascii: " ") { count += 1 }
        isStar = mayBegin && byte == UInt8(ascii: "*")
        mayBegin = byte <= UInt8(ascii: " ") || beginnings.contains(byte)
    }
    return count
}

/// The largest number of aliases: they expand to at most 2⁸ values.
package let maximumYAMLAliases = 16

private let beginnings = Set("[{,:-?".utf8)
