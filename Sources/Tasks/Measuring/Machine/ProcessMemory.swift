import Foundation
import RetintRuntime

/// The resident memory of this process: its heap and stacks, and the pages of the program, of its
/// libraries and of mapped files that are in memory.
enum ProcessMemory {
    /// The peak of resident bytes since the process began, or since ``resetPeak()``; nil
    /// where the system does not report it.
    static var peakBytes: Int? { status("VmHWM:") }

    /// The currently resident bytes; nil if the system does not report them.
    static var residentBytes: Int? { status("VmRSS:") }

    /// Resets the peak to the current value.
    ///
    /// - Returns: false if the system does not allow it.
    static func resetPeak() -> Bool {
        guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return false }
        // 5 resets the peak alone, see proc(5).
        return (try? file.write(contentsOf: Data("5".utf8))) != nil
    }

    private static func status(_ key: String) -> Int? {
        let line = procLines(of: "/proc/self/status").first { $0.hasPrefix(key) }
        let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
        return kibibytes.flatMap { Int($0) }.map { $0 * 1024 }
    }
}
