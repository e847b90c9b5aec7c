/// A kernel's source in the part of C that NVRTC and the compiler of the machine both understand.
/// What differs, how elements are shared out, is in the ``Prelude``.
package struct KernelSource: Hashable, Sendable {
    /// The function's name: the same for the same source, and another for another.
    package let name: String
    /// The function, whose parameters are pointers.
    package let text: String

    /// - Parameters:
    ///   - purpose: begins the name.
    ///   - parameters: their types.
    ///   - threads: the most of a block.
    ///   - body: statements of C over the parameters p0, p1, …
    init(_ purpose: String, parameters: [String], threads: Int = 256, body: String) {
        let list = parameters.enumerated().map { "\($1) *p\($0)" }.joined(separator: ", ")
        let lines = body.split(separator: "\n", omittingEmptySubsequences: false)
        let code = "{\n" + lines.map { $0.isEmpty ? "\n" : "    \($0)\n" }.joined() + "}\n"
        name = "\(purpose)_\(String(Self.hash("\(threads) \(list)\(code)"), radix: 36))"
        let arguments = parameters.enumerated().map { "(\($1) *)*p[\($0)]" }
            .joined(separator: ", ")
        let call = "RT_CALL(\(name), \(parameters.count), \(arguments))\n"
        text = "RT_KERNEL(\(threads), \(name), \(list)) \(code)\(call)"
    }

    /// A number that hardly any other text has (Fowler, Noll and Vo's hash of 64 bits, twice).
    static func hash(_ text: String) -> UInt64 {
        let bytes = Array(text.utf8)
        let forward = bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return bytes.reversed().reduce(forward) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
