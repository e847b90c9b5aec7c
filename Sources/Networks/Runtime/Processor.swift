import Foundation

/// The processor, from `/proc`.
public enum Processor {
    /// The model name in `/proc/cpuinfo`.
    public static var name: String {
        let line = procLines(of: "/proc/cpuinfo").first { $0.hasPrefix("model name") }
        let name = line?.split(separator: ":", maxSplits: 1).last
        return name.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    }
}
