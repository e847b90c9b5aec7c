import Foundation
import Retint

/// What Linux says of the processor and of this process.
enum Processor {
    /// The most memory that this process has held, in bytes.
    static var peakBytes: Int? {
        let line = lines(of: "/proc/self/status").first { $0.hasPrefix("VmHWM:") }
        let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
        return kibibytes.flatMap { Int($0) }.map { $0 * 1024 }
    }

    /// As /proc/cpuinfo has it.
    static var name: String {
        let line = lines(of: "/proc/cpuinfo").first { $0.hasPrefix("model name") }
        let name = line?.split(separator: ":", maxSplits: 1).last
        return name.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    }

    /// What to do about OpenBLAS using slower kernels than the CPU allows; nil if it does not.
    static var blasWarning: String? {
        let flags = Set(
            lines(of: "/proc/cpuinfo").first { $0.hasPrefix("flags") }?
                .split(whereSeparator: \.isWhitespace).map(String.init) ?? [])
        let type = ProcessInfo.processInfo.environment["OPENBLAS_CORETYPE"]
        return blasWarning(core: Machine.blasCore, flags: flags, chosen: type)
    }

    /// - Parameters:
    ///   - core: what OpenBLAS runs as.
    ///   - flags: the CPU's features as /proc/cpuinfo names them.
    ///   - chosen: the value of OPENBLAS_CORETYPE, if it is set.
    static func blasWarning(core: String, flags: Set<String>, chosen: String?) -> String? {
        let name = core.lowercased()
        let wide = ["skylakex", "cooperlake", "sapphirerapids"]
        let narrow = ["haswell", "zen"]
        let has = { (names: [String]) in names.allSatisfy(flags.contains) }
        let missed: String
        if has(["avx512f", "avx512bw", "avx512dq", "avx512vl"]), !wide.contains(name) {
            missed = "AVX-512"
        } else if has(["avx2", "fma"]), !(wide + narrow).contains(name) {
            missed = "AVX2"
        } else {
            return nil
        }
        let way =
            chosen.map { "unset OPENBLAS_CORETYPE, which is \($0)" }
            ?? "set OPENBLAS_CORETYPE=\(missed == "AVX2" ? "Haswell" : "SkylakeX")"
        return "OpenBLAS runs its \(core) kernels although the CPU has \(missed); \(way)"
    }

    private static func lines(of path: String) -> [Substring] {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n")
    }
}
