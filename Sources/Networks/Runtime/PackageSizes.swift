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
    /// Whether the network at a size has the operations and constants of the package: padding to a
    /// multiple, for one, adds an operation, and may leave the outputs' shapes as they are.
    let hasOperations: (ExportOptions.Size) throws -> Bool

    func agrees(at size: ExportOptions.Size) -> Bool {
        guard let expected = try? network(size),
            let own = try? raise(package, inputShapes: shapes(size)),
            own.outputs.map(\.value.shape) == expected
        else { return false }
        return (try? hasOperations(size)) == true
    }

    /// Powers of two, and their multiples by the sides of windows.
    private static let candidates = Set(
        [1, 3, 5, 7].flatMap { odd in (0..<9).map { odd << $0 } }
    ).filter { $0 <= 256 }.sorted()

    /// The number of which height and width have to be multiples, in a range of sizes; nil for all
    /// sizes.
    ///
    /// - Throws: ``ConversionError`` if it computes what the network does at none of the sizes that
    ///   were tried.
    func multiple(from: ExportOptions.Size, to: ExportOptions.Size) throws -> Int? {
        var isTried = false
        let found = Self.candidates.first { multiple in
            let widths = Self.oddMultiples(of: multiple, from.width, to.width)
            let heights = Self.oddMultiples(of: multiple, from.height, to.height)
            guard let width = widths.first, let height = heights.last else { return false }
            isTried = true
            return agrees(at: ExportOptions.Size(width: width, height: height))
        }
        guard found != nil || !isTried else {
            throw ConversionError.boundToSize("program", "computation")
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
