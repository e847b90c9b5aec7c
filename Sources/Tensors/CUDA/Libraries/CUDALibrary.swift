import Glibc

/// Why CUDA cannot be used, or what a call of it reported: the library, the problem, the way out.
package struct CUDAError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

extension String {
    /// The text that a function of C has written, up to the final zero.
    init(written characters: [CChar]) {
        let bytes = characters.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }
        self.init(decoding: bytes, as: UTF8.self)
    }
}

/// A library of CUDA, loaded at run time: nothing of CUDA is needed to build retint, or to run it
/// on the CPU.
package struct CUDALibrary: @unchecked Sendable {
    /// The libraries, by what they are for.
    package enum Kind: CaseIterable, Sendable {
        /// The driver, which comes with the graphics driver of the machine.
        case driver
        /// Compiles kernels.
        case nvrtc
        case cuDNN
        case cuBLASLt

        package var name: String {
            switch self {
            case .driver: "CUDA driver"
            case .nvrtc: "NVRTC"
            case .cuDNN: "cuDNN"
            case .cuBLASLt: "cuBLASLt"
            }
        }

        /// File names of the versions that retint can use, the newest first.
        var fileNames: [String] {
            switch self {
            case .driver: ["libcuda.so.1"]
            case .nvrtc: ["libnvrtc.so.13", "libnvrtc.so.12"]
            case .cuDNN: ["libcudnn.so.9"]
            case .cuBLASLt: ["libcublasLt.so.13", "libcublasLt.so.12"]
            }
        }

        fileprivate var advice: String {
            switch self {
            case .driver: "install NVIDIA's driver, 530 or newer"
            case .nvrtc: "install CUDA 12 or 13, or the Python package nvidia-cuda-nvrtc-cu12"
            case .cuDNN: "install cuDNN 9, or the Python package nvidia-cudnn-cu12"
            case .cuBLASLt: "install CUDA 12 or 13, or the Python package nvidia-cublas-cu12"
            }
        }
    }

    /// The environment variable that names folders to look in first, separated by colons.
    package static let variable = "RETINT_CUDA_LIBRARIES"

    package let kind: Kind
    /// Its path, or its name if the system's loader found it.
    package let path: String
    // Never unloaded: its functions stay valid.
    private let handle: UnsafeMutableRawPointer

    /// Loads a library from the folders that ``folders(_:)`` lists, or from where the system's
    /// loader finds it.
    ///
    /// - Throws: ``CUDAError`` if there is none, or it cannot be loaded.
    package init(
        _ kind: Kind, environment: (String) -> String? = Self.environment
    ) throws(CUDAError) {
        var problem: String?
        for place in Self.places(of: kind, environment) {
            if let handle = dlopen(place, RTLD_NOW | RTLD_LOCAL) {
                (self.kind, self.path, self.handle) = (kind, place, handle)
                return
            }
            // A file that is there and cannot be loaded is the better explanation.
            if place.contains("/") { problem = dlerror().map { String(cString: $0) } }
        }
        guard let problem else {
            let names = kind.fileNames.joined(separator: " or ")
            throw CUDAError(
                "\(names): no \(kind.name) was found in the system's folders, CUDA's, or those of "
                    + "the active Python; \(kind.advice), or set \(Self.variable) to its folder")
        }
        throw CUDAError("\(problem); \(kind.advice), or set \(Self.variable) to another folder")
    }

    /// The files to try, existing ones by their paths, then bare names for the system's loader.
    static func places(of kind: Kind, _ environment: (String) -> String?) -> [String] {
        let files = folders(environment).flatMap { folder in
            kind.fileNames.map { "\(folder)/\($0)" }
        }
        return files.filter { access($0, F_OK) == 0 } + kind.fileNames
    }

    /// The folders to look in: those of ``variable``, the wheels in the active Python environment,
    /// and the toolkit's.
    static func folders(_ environment: (String) -> String?) -> [String] {
        let named = environment(variable)?.split(separator: ":").map(String.init) ?? []
        let pythons = ["VIRTUAL_ENV", "CONDA_PREFIX"].compactMap(environment).flatMap {
            matches("\($0)/lib/python3*/site-packages/nvidia/*/lib")
        }
        let toolkits =
            ["CUDA_HOME", "CUDA_PATH"].compactMap(environment).filter { !$0.isEmpty }
            + ["/usr/local/cuda"]
        return named + pythons + toolkits.flatMap { ["\($0)/lib64", "\($0)/lib"] }
    }

    private static func matches(_ pattern: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern, 0, nil, &found) == 0 else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap {
            found.gl_pathv[$0].map { String(cString: $0) }
        }
    }

    package static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// A function of the library.
    ///
    /// - Parameter type: a C function's type.
    /// - Throws: ``CUDAError`` if this version of the library does not have it.
    func function<Function>(
        _ name: String, as type: Function.Type = Function.self
    ) throws(CUDAError) -> Function {
        guard let symbol = dlsym(handle, name) else {
            throw CUDAError(
                "\(path): \(kind.name) of this version has no \(name); \(kind.advice)")
        }
        return unsafeBitCast(symbol, to: type)
    }
}
