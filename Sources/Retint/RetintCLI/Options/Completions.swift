import ArgumentParser
import Retint

// What a shell offers for an argument: files by their extensions, and folders in any case.
extension CompletionKind {
    static var checkpoint: CompletionKind { .file(extensions: ["h5"]) }
    static var package: CompletionKind { .file(extensions: packageExtensions) }
    static var model: CompletionKind { .file(extensions: ["h5", "onnx"] + packageExtensions) }

    /// Files of tensors that `import` reads.
    static var weights: CompletionKind { .file(extensions: weightExtensions) }
    /// Files that `import` reads: tensors, and networks.
    static var importable: CompletionKind { .file(extensions: weightExtensions + ["onnx"]) }
    /// Files that `inspect` reads.
    static var inspectable: CompletionKind {
        .file(extensions: weightExtensions + ["onnx"] + packageExtensions)
    }
    private static let packageExtensions = ["mlpackage", "aimodel"]
    private static var weightExtensions: [String] {
        ["h5", "hdf5", "safetensors", "pth", "pt", "bin"]
    }

    static var photo: CompletionKind {
        .file(extensions: ["jpg", "jpeg", "png", "webp", "JPG", "JPEG", "PNG"])
    }
    /// Folders, lists and packed datasets.
    static var photos: CompletionKind { .file(extensions: ["txt", "h5"]) }
    static var film: CompletionKind { .file() }

    static var yaml: CompletionKind { .file(extensions: ["yaml", "yml"]) }
    static var page: CompletionKind { .file(extensions: ["html"]) }
    static var architecture: CompletionKind { .list(colorizerNames) }
}
