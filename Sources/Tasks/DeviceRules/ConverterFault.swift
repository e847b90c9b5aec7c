/// A case in which some versions of a converter write other numbers than the network computes.
///
/// Faults are measured: converters write generated cases of single operations, and what retint
/// computes from each file is compared with PyTorch (`Scripts/oracle`).
public struct ConverterFault: Hashable, Sendable, Encodable {
    /// A stable identifier, such as `softplus-threshold`.
    public let id: String
    /// The name of the converter: `coremltools` or `torch.onnx`.
    public let converter: String
    /// The first and the last version in which the fault was measured.
    public let versions: [String]
    /// PyTorch's operation.
    public let operation: String
    /// The parameters, shapes or values for which the numbers are wrong.
    public let condition: String
    /// What comes out.
    public let consequence: String
    /// How to avoid it.
    public let advice: String

    /// Whether a version lies in the range in which the fault was measured.
    func affects(_ version: ConverterVersion) -> Bool {
        let measured = versions.compactMap(ConverterVersion.init)
        guard let first = measured.min(), let last = measured.max() else { return false }
        return first <= version && version <= last
    }

    /// The faults of a version of a converter; none of one that is not known.
    package static func known(of converter: String, _ version: String) -> [ConverterFault] {
        guard let stated = ConverterVersion(version) else { return [] }
        return all.filter { $0.converter == converter && $0.affects(stated) }
    }
}

/// The version of a converter, such as 8.3.0; missing numbers are 0.
struct ConverterVersion: Comparable {
    private let numbers: [Int]

    /// - Returns: nil for a text with anything but three numbers at most, such as `9.0b1`.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }.filter { (0..<1_000_000).contains($0) }
        guard numbers.count == parts.count, (1...3).contains(numbers.count) else { return nil }
        self.numbers = numbers + [Int](repeating: 0, count: 3 - numbers.count)
    }

    static func < (one: ConverterVersion, other: ConverterVersion) -> Bool {
        one.numbers.lexicographicallyPrecedes(other.numbers)
    }
}
