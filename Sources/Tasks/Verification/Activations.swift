import RetintGraph
import RetintRuntime
import RetintTensorFiles
import RetintTensors

extension Reference {
    /// The intermediate values of a reference: the output of each module, by its dotted path, or
    /// the results of a program's operations, by their names.
    public struct Activations: Sendable {
        private static let group = "activations"
        /// Datasets of this group, `modules/<class>/<path>`, say of which class a module is.
        private static let classes = "modules"

        private enum Source {
            case modules(HDF5Reader)
            case operations(Intermediates)
        }

        private let source: Source
        /// The path or the name of each activation, and its shape, in the order of the file.
        package let shapes: [(path: String, shape: Shape)]
        /// What modules compute, by their paths, as far as the file says it.
        private(set) var kinds: [String: ModuleKind] = [:]

        /// Whether the values are those of a program's operations, and not of modules.
        var isOfOperations: Bool {
            switch source {
            case .operations: true
            case .modules: false
            }
        }

        /// Nil if the file has no activations.
        init?(in reader: HDF5Reader) throws {
            guard reader.contains(Self.group) else { return nil }
            source = .modules(reader)
            shapes = try reader.datasetNames(under: Self.group).map {
                ($0, try reader.shape(of: "\(Self.group)/\($0)"))
            }
            guard reader.contains(Self.classes) else { return }
            for name in try reader.datasetNames(under: Self.classes) {
                let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
                guard parts.count == 2, let kind = ModuleKind(className: parts[0]) else { continue }
                kinds[parts[1]] = kind
            }
        }

        /// Nil if there are no activations.
        init?(_ intermediates: Intermediates) {
            guard !intermediates.values.isEmpty else { return nil }
            source = .operations(intermediates)
            shapes = intermediates.values.map { ($0.name, $0.shape) }
        }

        /// Reads an activation.
        ///
        /// - Parameter path: the module's dotted path, or the name of the operation's result.
        /// - Throws: `TensorFileError` if it cannot be read; ``VerificationError`` if it has
        ///   integers.
        package func read(_ path: String) throws -> TensorData {
            switch source {
            case .modules(let reader):
                guard let data = try reader.read("\(Self.group)/\(path)").tensorData else {
                    throw VerificationError(
                        .badReference, path: reader.path, place: "\(Self.group)/\(path)",
                        "has integers; activations must be floats")
                }
                return data
            case .operations(let intermediates): return try intermediates.read(path)
            }
        }

        /// The paths of the activations by the indices of a model's values, and the paths of the
        /// modules that compute the values, as far as names show them.
        ///
        /// - Parameter images: the number of runs that share an activation's first dimension.
        func names(
            for program: ModelProgram, images: Int
        ) -> (paths: [Int: String], modules: [String?]) {
            switch source {
            case .modules:
                let matching = ActivationMatching(program, shapes, images: images)
                return (matching.paths, matching.owners)
            case .operations(let intermediates):
                let matching = IntermediateMatching(program, intermediates.values, images: images)
                return (matching.names, program.values.map { _ in nil })
            }
        }
    }
}
