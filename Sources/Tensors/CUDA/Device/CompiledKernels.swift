import Dispatch
import Glibc
import RetintFiles
import RetintLocks

/// The binary code of kernels, compiled once and kept in `$XDG_CACHE_HOME/retint/cuda`, by default
/// `~/.cache/retint/cuda`. What cannot be kept, or is damaged, is compiled again.
struct CompiledKernels: Sendable {
    private let nvrtc: NVRTC
    private let computeCapability: Int
    private let folder: String?

    /// - Parameter folder: where code is kept; nil if it is not.
    init(_ nvrtc: NVRTC, _ computeCapability: Int, folder: String? = Self.defaultFolder) {
        (self.nvrtc, self.computeCapability, self.folder) = (nvrtc, computeCapability, folder)
    }

    /// - Throws: ``CUDAError`` if they cannot be compiled.
    func binary(of sources: [KernelSource]) throws(CUDAError) -> [UInt8] {
        let text = Prelude.text + sources.map(\.text).joined()
        let hash = KernelSource.hash(
            "\(nvrtc.path) \(nvrtc.version) sm_\(computeCapability)\n\(text)")
        let path = folder.map { "\($0)/\(String(hash, radix: 36)).cubin" }
        if let path, let kept = Self.read(path) { return kept }
        let binary = try nvrtc.binary(of: sources, computeCapability: computeCapability)
        if let path { write(binary, to: path) }
        return binary
    }

    /// The binaries of several lists, which all processors compile together: a training step has
    /// hundreds of kernels, and each takes tens of milliseconds.
    ///
    /// - Throws: ``CUDAError`` if they cannot be compiled.
    func binaries(of lists: [[KernelSource]]) throws(CUDAError) -> [[UInt8]] {
        let results = Mutex<[Int: Result<[UInt8], CUDAError>]>([:])
        DispatchQueue.concurrentPerform(iterations: lists.count) { index in
            let result = Result { () throws(CUDAError) in try binary(of: lists[index]) }
            results.withLock { $0[index] = result }
        }
        let made = results.withLock { $0 }
        var binaries: [[UInt8]] = []
        for index in lists.indices {
            if let result = made[index] { binaries.append(try result.get()) }
        }
        return binaries
    }

    static var defaultFolder: String? {
        let cache =
            CUDALibrary.environment("XDG_CACHE_HOME")
            ?? CUDALibrary.environment("HOME").map { "\($0)/.cache" }
        return cache.map { "\($0)/retint/cuda" }
    }

    /// A file has the code, and its hash in the last eight bytes.
    private static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while bytes.count < 1 << 28 {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { break }
            bytes += piece[..<count]
        }
        guard bytes.count > 8, checksum(bytes.dropLast(8)) == Array(bytes.suffix(8)) else {
            return nil
        }
        return Array(bytes.dropLast(8))
    }

    private func write(_ binary: [UInt8], to path: String) {
        guard let folder, (try? createFolder(folder)) != nil else { return }
        try? AtomicFile.write(binary + Self.checksum(binary[...]), to: path)
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
    }
}
