public import RetintFiles
import RetintMIL

/// How long operations take on a device with their weights in each format, as somebody measured
/// there: with Xcode's performance report of a package, or coremltools' `MLComputePlan`.
public struct LatencyTable: Hashable, Sendable {
    /// Milliseconds by the names of operations or weights, and by formats.
    private let times: [String: [String: Double]]

    private static let header = ["operation", "weights", "milliseconds"]

    /// Reads a table of comma-separated values with the header `operation,weights,milliseconds`.
    ///
    /// An operation is named by its output, or by its weight. `weights` is `float` for a weight
    /// that stays as it is, a scheme as searches print it, such as `int8 per-channel`, or its first
    /// word alone; `w8a8` is an operation of integers, whose weights and inputs have 8 bits.
    ///
    /// - Throws: `FileError` if the file cannot be read; `ConversionError` with the line that is
    ///   not of this form, or repeats another one.
    public init(contentsOf path: some PathConvertible) throws {
        let text = try readText(path, maximumBytes: 1 << 24)
        let rows = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed) }
        func fault(_ line: Int, _ rule: String) -> ConversionError {
            ConversionError(
                file: path.filePath.string, place: "line \(line + 1)", rule: rule,
                remedy: "Write \(Self.header.joined(separator: ",")), such as conv_1,int8,0.25.")
        }
        guard rows[0] == Self.header else { throw fault(0, "it is not the header of such a table") }
        var times: [String: [String: Double]] = [:]
        for (line, row) in rows.enumerated().dropFirst() where row != [""] {
            guard row.count == Self.header.count, row.dropLast().allSatisfy({ !$0.isEmpty }) else {
                throw fault(line, "it does not have an operation, a format and a time")
            }
            guard let time = Double(row[2]), time >= 0, time < 1e9 else {
                throw fault(line, "\(row[2]) is not a number of milliseconds")
            }
            guard times[row[0], default: [:]].updateValue(time, forKey: row[1]) == nil else {
                throw fault(line, "\(row[0]) has another time for \(row[1])")
            }
        }
        self.times = times
    }

    private static func trimmed(_ cell: Substring) -> String {
        String(cell.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// Whether there are times for a weight.
    func names(_ weight: PackageWeight) -> Bool { weight.names.contains { times[$0] != nil } }

    /// The milliseconds of the operation of a weight.
    ///
    /// - Returns: nil if the table does not state it.
    func milliseconds(_ weight: PackageWeight, _ form: WeightForm) -> Double? {
        guard let own = weight.names.lazy.compactMap({ times[$0] }).first else { return nil }
        let text = "\(form)"
        return own[text] ?? text.split(separator: " ").first.flatMap { own[String($0)] }
    }
}

extension LatencyTable {
    /// Checks that a package has all operations, and a search all formats.
    ///
    /// - Throws: `ConversionError` that names the first other one.
    func check(_ weights: [PackageWeight], _ forms: [WeightForm]) throws {
        let names = Set(weights.flatMap(\.names))
        let formats = forms.map(\.description)
        let known = Set(
            formats + formats.compactMap { $0.split(separator: " ").first.map(String.init) })
        for (name, own) in times.sorted(by: { $0.key < $1.key }) {
            guard names.contains(name) else {
                throw ConversionError.option(
                    "the table of latencies",
                    "no operation with a weight is \(name.debugDescription)",
                    "Name operations by their outputs or weights, such as "
                        + "\(weights.first?.name ?? "conv_1").")
            }
            if let other = own.keys.sorted().first(where: { !known.contains($0) }) {
                throw ConversionError.option(
                    "the table of latencies", "no format is \(other.debugDescription)",
                    "Use \(formats.joined(separator: ", ")), or the first word of one.")
            }
        }
    }

    /// A weight has times for formats, but none for its own.
    func incomplete(_ weight: PackageWeight) -> ConversionError {
        .option(
            "weight \(weight.name)", "the table has no time for it as it is",
            "Add a line with \(WeightForm()) for its operation.")
    }
}
