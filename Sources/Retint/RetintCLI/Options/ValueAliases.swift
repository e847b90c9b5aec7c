import ArgumentParser
import Retint

// Values that other tools and platforms name otherwise.

/// Names of formats in PyTorch Lightning and coremltools' older options.
private let formats = ["fp16": "float16", "fp32": "float32", "bf16": "bfloat16"]

extension ExportOptions.Precision: ExpressibleByArgument {
    public init?(argument: String) { self.init(rawValue: formats[argument] ?? argument) }
}

extension ComputePrecision: ExpressibleByArgument {
    public init?(argument: String) { self.init(rawValue: formats[argument] ?? argument) }
}

extension ComputeFormat: ExpressibleByArgument {
    init?(argument: String) { self.init(rawValue: formats[argument] ?? argument) }
}

extension PhotoFile.ListOptions.Format: ExpressibleByArgument {
    public init?(argument: String) { self.init(rawValue: argument == "jpg" ? "jpeg" : argument) }
}

extension ExportOptions.Target: ExpressibleByArgument {
    /// Takes the systems of other devices that have the same version of Core ML
    /// (`coremltools.target`), too: macOS13 is iOS16.
    public init?(argument: String) { self.init(rawValue: Self.aliases[argument] ?? argument) }

    private static let aliases: [String: String] = {
        let first = [("macOS", 12), ("watchOS", 8), ("tvOS", 15), ("visionOS", -1)]
        var aliases: [String: String] = [:]
        for (system, version) in first {
            for step in 0..<4 where version + step > 0 {
                aliases["\(system)\(version + step)"] = "iOS\(15 + step)"
            }
            aliases["\(system)26"] = "iOS26"
        }
        return aliases
    }()
}
