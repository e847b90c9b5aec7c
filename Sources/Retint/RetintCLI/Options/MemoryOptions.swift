import ArgumentParser
import Retint

/// The memory that networks may take.
struct MemoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The memory that the values of a network may take. By default 768 MiB for 512 × 512 \
            pixels, in proportion for others, and at least 192 MiB or 64 times its weights.
            """, valueName: "MiB"))
    var memoryLimit: Int?

    func validate() throws {
        if let memoryLimit, !(1...1 << 24).contains(memoryLimit) {
            throw ValidationError("--memory-limit \(memoryLimit): must be from 1 to \(1 << 24)")
        }
    }

    /// Reads a model, which then has this limit.
    func model(contentsOf path: String) throws -> Model {
        try Model(contentsOf: path, memoryLimit: bytes)
    }

    /// The limit in bytes, if there is one.
    var bytes: Int? { memoryLimit.map { $0 << 20 } }
}
