import MLPackage
import TensorGraph

/// `gather` at places that are known, and `reverse`.
enum PlacesRule: MILRaisable {
    static let milTypes = ["gather", "reverse"]

    /// Each place may become a slice of its own.
    private static let maximumPlaces = 4096

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        return [try operation.type == "reverse" ? reversed(x, operation) : gathered(x, operation)]
    }

    private static func gathered(_ x: Tensor, _ operation: RaisedOperation) throws -> Tensor {
        guard let indices = try operation.constant("indices"), indices.type.rank <= 1,
            try operation.integer("batch_dims", default: 0) == 0
        else { throw operation.error("places are supported as one number or one row of them") }
        let axis = try operation.axis("axis", rank: x.shape.rank, default: 0)
        let places = try indices.integers().map { place in
            place < 0 ? Int(place) + x.shape[axis] : Int(place)
        }
        guard (1...maximumPlaces).contains(places.count),
            places.allSatisfy({ (0..<x.shape[axis]).contains($0) })
        else { throw operation.error("places \(places.prefix(8))… are out of range") }
        let picked = x.picked(places, axis: axis)
        guard indices.type.rank == 0 else { return picked }
        var dimensions = picked.shape.dimensions
        dimensions.remove(at: axis)
        return picked.reshaped(Shape(dimensions))
    }

    private static func reversed(_ x: Tensor, _ operation: RaisedOperation) throws -> Tensor {
        let given = try operation.integers("axes") ?? Array(0..<x.shape.rank)
        let axes = try operation.axes(given, rank: x.shape.rank)
        guard axes.allSatisfy({ x.shape[$0] <= maximumPlaces }) else {
            throw operation.error("reversing more than \(maximumPlaces) places is not supported")
        }
        return axes.reduce(x) { $0.picked((0..<$0.shape[$1]).reversed(), axis: $1) }
    }
}

extension Tensor {
    /// The elements at some places of an axis, in that order; places in a row are taken at once.
    func picked(_ places: some Sequence<Int>, axis: Int) -> Tensor {
        var runs: [Range<Int>] = []
        for place in places {
            if let last = runs.last, last.upperBound == place {
                runs[runs.count - 1] = last.lowerBound..<(place + 1)
            } else {
                runs.append(place..<(place + 1))
            }
        }
        if runs == [0..<shape[axis]] { return self }
        let parts = runs.map { sliced(axis: axis, $0) }
        return parts.count == 1 ? parts[0] : concat(parts, axis: axis)
    }
}
