import RetintCompiler
import RetintGraph
import RetintTensors

/// An operation on positions that a network computes. Positions stay in float32, because 16 bits
/// do not hold them exactly; those that are read may be out of range.
protocol IndexingOperation: HostOperation {
    var axis: Int { get }

    /// The shape whose axis has the positions.
    func indexedShape(_ inputs: [Shape]) -> Shape

    /// The kernel that computes the result; nil if it would do so much more work than this machine
    /// that a copy there and back is faster.
    ///
    /// - Parameter fault: two numbers. For one of the indices that are out of range, the kernel
    ///   sets the first to 1 and the second to that index.
    func deviceKernel(inputs: [Buffer], output: Buffer, fault: Buffer) -> DeviceKernel?
}

/// Statements of C that set `place` to the position along an axis that an index names, or report
/// the index to `fault` and run `otherwise`.
///
/// - Parameter type: of `place`.
private func position(
    of index: String, size: Int, type: String, fault: String, otherwise: String
) -> String {
    """
    const float index = \(index);
    if (!(index >= -\(size).0f && index < \(size).0f) || index != (float)(int)index) {
        \(fault)[0] = 1.0f;
        \(fault)[1] = index;
        \(otherwise)
    }
    const \(type) place = (\(type))((int)index + (index < 0.0f ? \(size) : 0));
    """
}

extension Strides {
    /// The same elements, but always the first one along one axis, whatever its length.
    fileprivate func fixed(_ axis: Int, in shape: Shape) -> View {
        var one = shape
        one[axis] = 1
        return sliced(from: [Int](repeating: 0, count: shape.rank), shape: one)
            .broadcast(to: shape).view
    }
}

extension GatherElements: IndexingOperation {
    func indexedShape(_ inputs: [Shape]) -> Shape { inputs[0] }

    func deviceKernel(inputs: [Buffer], output: Buffer, fault: Buffer) -> DeviceKernel? {
        let strides = Strides(inputs[0].shape)
        let first = strides.fixed(axis, in: output.shape).source()
        return .each(
            "gather_elements", inputs + [output, fault], output.count,
            """
            {
                \(position(
                    of: "p1[i]", size: inputs[0].shape[axis],
                    type: DeviceKernel.indexType(inputs + [output]), fault: "p3",
                    otherwise: "p2[i] = 0.0f; continue;"))
                p2[i] = p0[\(first) + place * \(strides.steps[axis])];
            }
            """)
    }
}

extension ScatterElements: IndexingOperation {
    func indexedShape(_ inputs: [Shape]) -> Shape { shape }

    /// Each element of the result searches the indices for its position, so that the order of its
    /// sum is always the same. This machine only reads the indices, but as one thread.
    func deviceKernel(inputs: [Buffer], output: Buffer, fault: Buffer) -> DeviceKernel? {
        let indices = inputs[1].shape
        guard output.count <= Self.mostReads / indices[axis] else { return nil }
        let type = DeviceKernel.indexType(inputs + [output])
        let strides = Strides(indices)
        // The coordinates of element i, of which only those of the indices get anything.
        let coordinates = shape.dimensions.indices.map { dimension in
            var steps = [Int](repeating: 0, count: shape.rank)
            steps[dimension] = 1
            return View(shape: shape, steps: steps).source()
        }
        let others = coordinates.indices.filter { $0 != axis }
        let isInside = others.filter { indices[$0] < shape[$0] }
            .map { "\(coordinates[$0]) < \(indices[$0])" }
        let terms = others.map { "(\(coordinates[$0])) * \(strides.steps[$0])" }
        return .each(
            "scatter_elements", inputs + [output, fault], output.count,
            """
            {
                const \(type) own = \(coordinates[axis]);
                float sum = 0.0f;
                if (\(isInside.isEmpty ? "1" : isInside.joined(separator: " && "))) {
                    const \(type) first = \
            \(terms.isEmpty ? "0" : terms.joined(separator: " + "));
                    for (\(type) k = 0; k < \(indices[axis]); k++) {
                        \(position(
                            of: "p1[first + k * \(strides.steps[axis])]", size: shape[axis],
                            type: type, fault: "p3", otherwise: "continue;"))
                        if (place == own) sum += p0[first + k * \(strides.steps[axis])];
                    }
                }
                p2[i] = sum;
            }
            """)
    }
}

extension ScatterElements {
    /// An estimate of how many indices a GPU reads while values are copied to and fro.
    fileprivate static let mostReads = 1 << 32
}

extension TopIndices: IndexingOperation {
    func indexedShape(_ inputs: [Shape]) -> Shape { inputs[0] }

    /// An estimate of what one thread reads while a row is copied and sorted on this machine.
    private static let mostReads = 1 << 18

    /// One thread for each row, which looks for the largest element after the one before, `count`
    /// times. There is no fault, because it reads no positions.
    func deviceKernel(inputs: [Buffer], output: Buffer, fault: Buffer) -> DeviceKernel? {
        let shape = inputs[0].shape
        guard count <= Self.mostReads / shape[axis] else { return nil }
        let type = DeviceKernel.indexType(inputs + [output])
        var rows = shape
        rows[axis] = 1
        let (from, to) = (Strides(shape), Strides(output.shape))
        func first(_ strides: Strides) -> String { strides.fixed(axis, in: rows).source() }
        return .each(
            "top_indices", inputs + [output], rows.count,
            """
            {
                \(type) last = 0;
                float bound = RT_INFINITY;
                for (\(type) rank = 0; rank < \(count); rank++) {
                    \(type) best = 0;
                    float most = 0.0f;
                    int isFirst = 1;
                    for (\(type) k = 0; k < \(shape[axis]); k++) {
                        float key = p0[\(first(from)) + k * \(from.steps[axis])];
                        if (key != key) key = RT_INFINITY;
                        if (rank > 0 && (key > bound || (key == bound && k <= last))) continue;
                        if (isFirst || key > most) {
                            best = k;
                            most = key;
                            isFirst = 0;
                        }
                    }
                    p1[\(first(to)) + rank * \(to.steps[axis])] = (float)best;
                    last = best;
                    bound = most;
                }
            }
            """)
    }
}

/// Where kernels of a program report indices that are out of range.
final class IndexFaults {
    private struct Place {
        let node: Graph.Node
        let axis: Int
        let shape: Shape
        let inputShapes: [Shape]
    }

    /// Two numbers for each operation that has indices; nil if there are none.
    let storage: Storage?
    private var places: [Place] = []

    init(_ values: ValueTable) {
        let count = values.computed.count {
            values.graph.nodes[$0].operation is any IndexingOperation
        }
        storage = count > 0 ? Storage(kind: .owned, count: 2 * count) : nil
    }

    /// The numbers of an operation.
    func place(
        of operation: any IndexingOperation, _ node: Graph.Node, _ inputs: [Buffer]
    ) -> Buffer {
        guard let storage, 2 * places.count < storage.count else {
            preconditionFailure("no place is left for faults of \(operation.name)")
        }
        let shapes = inputs.map(\.shape)
        places.append(
            Place(
                node: node, axis: operation.axis, shape: operation.indexedShape(shapes),
                inputShapes: shapes))
        return Buffer(shape: [2], storage: storage, offset: 2 * (places.count - 1))
    }

    /// Waits for the GPU, and forgets what was reported.
    ///
    /// - Returns: the error of the first operation with an index that is out of range; nil if there
    ///   is none.
    func take(from gpu: GPU) throws(CUDAError) -> GraphError? {
        guard let storage, !places.isEmpty else { return nil }
        let all = Buffer(shape: [storage.count], storage: storage)
        var numbers = [Float](repeating: 0, count: storage.count)
        try gpu.download(all, to: &numbers)
        guard let first = places.indices.first(where: { numbers[2 * $0] != 0 }) else { return nil }
        try gpu.upload([Float](repeating: 0, count: storage.count), to: all)
        let place = places[first]
        return GraphError(
            operation: place.node.operation.name, module: place.node.module,
            inputShapes: place.inputShapes,
            reason: "index \(numbers[2 * first + 1]) is out of range for axis \(place.axis) of "
                + "\(place.shape)")
    }
}
