import RetintCompiler
import RetintGraph
import RetintTensors

/// An operation whose kernel reads positions that a network computed, which may be out of range.
protocol IndexingOperation: Operation {
    var axis: Int { get }

    /// The shape whose axis has the positions.
    func indexedShape(_ inputs: [Shape]) -> Shape

    /// The kernel that computes the result.
    ///
    /// - Parameter fault: two numbers. For an index that is out of range, the kernel sets the first
    ///   to 1 and the second to that index.
    func deviceKernel(inputs: [Buffer], output: Buffer, fault: Buffer) -> DeviceKernel
}

/// Statements of C that set `place` to the position along an axis that an index names, or report
/// the index to `fault` and run `otherwise`.
private func position(of index: String, size: Int, fault: String, otherwise: String) -> String {
    """
    const float index = \(index);
    if (!(index >= -\(size).0f && index < \(size).0f) || index != (float)(int)index) {
        \(fault)[0] = 1.0f;
        \(fault)[1] = index;
        \(otherwise)
    }
    const int place = (int)index + (index < 0.0f ? \(size) : 0);
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

    func deviceKernel(inputs: [Buffer], output: Buffer, fault: Buffer) -> DeviceKernel {
        let strides = Strides(inputs[0].shape)
        let first = strides.fixed(axis, in: output.shape).source()
        return .each(
            "gather_elements", inputs + [output, fault], output.count,
            """
            {
                \(position(
                    of: "p1[i]", size: inputs[0].shape[axis], fault: "p3",
                    otherwise: "p2[i] = 0.0f; continue;"))
                p2[i] = p0[\(first) + place * \(strides.steps[axis])];
            }
            """)
    }
}

extension ScatterElements: IndexingOperation {
    func indexedShape(_ inputs: [Shape]) -> Shape { shape }

    /// Each element of the result searches the indices for its position, so that the order of its
    /// sum is always the same.
    func deviceKernel(inputs: [Buffer], output: Buffer, fault: Buffer) -> DeviceKernel {
        let indices = inputs[1].shape
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
                const int own = \(coordinates[axis]);
                float sum = 0.0f;
                if (\(isInside.isEmpty ? "1" : isInside.joined(separator: " && "))) {
                    const \(DeviceKernel.indexType(inputs)) first = \
            \(terms.isEmpty ? "0" : terms.joined(separator: " + "));
                    for (int k = 0; k < \(indices[axis]); k++) {
                        \(position(
                            of: "p1[first + k * \(strides.steps[axis])]", size: shape[axis],
                            fault: "p3", otherwise: "continue;"))
                        if (place == own) sum += p0[first + k * \(strides.steps[axis])];
                    }
                }
                p2[i] = sum;
            }
            """)
    }
}

extension TopIndices: DeviceOperation {
    /// One thread for each row, which looks for the largest element after the one before, `count`
    /// times.
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let shape = inputs[0].shape
        var rows = shape
        rows[axis] = 1
        let (from, to) = (Strides(shape), Strides(output.shape))
        func first(_ strides: Strides) -> String { strides.fixed(axis, in: rows).source() }
        return [
            .each(
                "top_indices", inputs + [output], rows.count,
                """
                {
                    int last = -1;
                    float bound = RT_INFINITY;
                    for (int rank = 0; rank < \(count); rank++) {
                        int best = -1;
                        float most = 0.0f;
                        for (int k = 0; k < \(shape[axis]); k++) {
                            float key = p0[\(first(from)) + k * \(from.steps[axis])];
                            if (key != key) key = RT_INFINITY;
                            if (key > bound || (key == bound && k <= last)) continue;
                            if (best < 0 || key > most) {
                                best = k;
                                most = key;
                            }
                        }
                        p1[\(first(to)) + rank * \(to.steps[axis])] = (float)best;
                        last = best;
                        bound = most;
                    }
                }
                """)
        ]
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
