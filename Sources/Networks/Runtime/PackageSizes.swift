import RetintExport
import RetintMIL
import RetintMLPackage
import RetintTensors

/// At which sizes a package for several sizes computes what its network does. It was made from the
/// network at two or three sizes; at others, the network may do something else, such as resize to
/// an odd size.
struct PackageSizes {
    let package: MLPackage
    /// The shapes of the inputs for photos of a size, by name.
    let shapes: (ExportOptions.Size) -> [String: Shape]
    /// The shapes of the network's outputs, in order.
    let network: (ExportOptions.Size) throws -> [Shape]

    private func agrees(at size: ExportOptions.Size) -> Bool {
        guard let expected = try? network(size),
            let own = try? raise(package, inputShapes: shapes(size))
        else { return false }
        return own.outputs.map(\.value.shape) == expected
    }

    /// The number of which height and width have to be multiples, in a range of sizes; nil for all
    /// sizes, and if no such number is known.
    func multiple(from: ExportOptions.Size, to: ExportOptions.Size) -> Int? {
        let found = (0..<9).map { 1 << $0 }.first { multiple in
            let widths = Self.oddMultiples(of: multiple, from.width, to.width)
            let heights = Self.oddMultiples(of: multiple, from.height, to.height)
            guard let width = widths.first, let height = heights.last else { return false }
            return agrees(at: ExportOptions.Size(width: width, height: height))
        }
        return found == 1 ? nil : found
    }

    /// Multiples that are not multiples of twice the number; the only one of a range that is none.
    private static func oddMultiples(of multiple: Int, _ from: Int, _ to: Int) -> [Int] {
        guard from < to else { return [from] }
        let first = (from + multiple - 1) / multiple | 1
        return Array(stride(from: first * multiple, through: to, by: 2 * multiple))
    }
}
