import ArgumentParser
import Retint
import RetintNetworks

// What a shell offers for an argument: files by their extensions, and folders in any case.
extension CompletionKind {
    static var checkpoint: CompletionKind { .file(extensions: ModelFormat.checkpoint.extensions) }
    /// Files of the formats for a use: models, packages, weights.
    static func files(for use: ModelFormat.Use) -> CompletionKind {
        .file(extensions: ModelFormat.formats(for: use).extensions)
    }
    static var package: CompletionKind { files(for: .packages) }
    static var model: CompletionKind { files(for: .running) }
    /// Models, and results that `verify` has saved.
    static var modelOrResults: CompletionKind {
        .file(extensions: ModelFormat.formats(for: .running).extensions + ["json"])
    }
    /// A file for a viewer of errors.
    static var overlay: CompletionKind {
        .file(extensions: ModelFormat.onnx.extensions + ["json"])
    }
    /// Files that `inspect` reads.
    static var inspectable: CompletionKind { .file(extensions: ModelFormat.all.extensions) }

    static var photo: CompletionKind {
        .file(extensions: PhotoReference.extensions.sorted().flatMap { [$0, $0.uppercased()] })
    }
    /// Folders, lists and packed datasets.
    static var photos: CompletionKind {
        .file(extensions: ["txt"] + TensorFileFormat.hdf5.extensions)
    }
    static var video: CompletionKind { .file() }

    static var yaml: CompletionKind { .file(extensions: ["yaml", "yml"]) }
    static var page: CompletionKind { .file(extensions: ["html"]) }
    static var architecture: CompletionKind { .list(colorizerNames) }
}
