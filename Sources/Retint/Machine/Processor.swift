import Engine
import Foundation

/// The processor, from `/proc`.
package enum Processor {
    /// The model name in `/proc/cpuinfo`.
    package static var name: String {
        let line = procLines(of: "/proc/cpuinfo").first { $0.hasPrefix("model name") }
        let name = line?.split(separator: ":", maxSplits: 1).last
        return name.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    }

    /// A warning if OpenBLAS uses slower kernels than the processor allows, with the remedy; nil if
    /// it does not.
    package static var blasWarning: String? {
        let flags = Set(
            procLines(of: "/proc/cpuinfo").first { $0.hasPrefix("flags") }?
                .split(whereSeparator: \.isWhitespace).map(String.init) ?? [])
        let type = ProcessInfo.processInfo.environment["OPENBLAS_CORETYPE"]
        return blasWarning(core: Machine.blasCore, flags: flags, coreType: type)
    }

    /// - Parameters:
    ///   - core: the processor for which OpenBLAS chose its kernels.
    ///   - flags: the processor's features, as in `/proc/cpuinfo`.
    ///   - coreType: the value of OPENBLAS_CORETYPE, if it is set.
    private static func blasWarning(
        core: String, flags: Set<String>, coreType: String?
    ) -> String? {
        let name = core.lowercased()
        let avx512Cores = ["skylakex", "cooperlake", "sapphirerapids"]
        let avx2Cores = ["haswell", "zen"]
        let unused: String
        if flags.isSuperset(of: ["avx512f", "avx512bw", "avx512dq", "avx512vl"]),
            !avx512Cores.contains(name)
        {
            unused = "AVX-512"
        } else if flags.isSuperset(of: ["avx2", "fma"]), !(avx512Cores + avx2Cores).contains(name) {
            unused = "AVX2"
        } else {
            return nil
        }
        let remedy =
            coreType.map { "unset OPENBLAS_CORETYPE, which is \($0)" }
            ?? "set OPENBLAS_CORETYPE=\(unused == "AVX2" ? "Haswell" : "SkylakeX")"
        return "OpenBLAS runs its \(core) kernels although the processor has \(unused); \(remedy)"
    }
}
