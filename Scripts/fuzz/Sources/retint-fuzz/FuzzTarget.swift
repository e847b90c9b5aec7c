import Glibc

/// Something that takes bytes from outside.
protocol FuzzTarget: Sendable {
    /// The name on the command line, and of the dictionary in `Dictionaries`, if there is one.
    var name: String { get }

    /// Valid inputs to start from.
    func seeds() throws -> [[UInt8]]

    /// Does what retint does with such input. An error is a good answer: it is checked to be one of
    /// retint's own.
    func run(_ input: [UInt8]) throws

    /// Changes an input in a way that knows its structure; nil where libFuzzer's own changes do.
    ///
    /// - Parameter change: libFuzzer's changes of bytes.
    func mutated(
        _ input: [UInt8], limit: Int, seed: UInt32, change: ([UInt8], Int) -> [UInt8]
    ) -> [UInt8]?
}

extension FuzzTarget {
    func mutated(
        _ input: [UInt8], limit: Int, seed: UInt32, change: ([UInt8], Int) -> [UInt8]
    ) -> [UInt8]? { nil }
}

let fuzzTargets: [any FuzzTarget] = [
    ProgramTarget(), PackageTarget(), HDF5Target(), SafetensorsTarget(), PyTorchTarget(),
    TrainingYAMLTarget(), QuantizationYAMLTarget(), FramesTarget(), VideoTarget(), ResumeTarget(),
    PictureTarget(), IntermediatesTarget(), ONNXTarget(), AIModelTarget(), MLModelTarget(),
]

/// Writes the seeds of a target as files.
func writeSeeds(of target: any FuzzTarget, to folder: String) throws {
    for (index, seed) in try target.seeds().enumerated() {
        let path = "\(folder)/seed-\(index)"
        guard let file = fopen(path, "w") else { fatalError("cannot write \(path)") }
        fwrite(seed, 1, seed.count, file)
        fclose(file)
    }
}
