import RetintCompiler
import RetintGraph
import RetintTensors

/// One kernel of a step on a GPU, what its parameters point to, and on how many threads it runs.
package struct DeviceKernel {
    /// How the threads share out the work.
    package enum Grid {
        /// One thread for each element; the number of elements.
        case elements(Int)
        /// The number of blocks, and of the threads in each, which is a multiple of 32.
        case blocks(Int, threads: Int)

        /// Of a block.
        package var threads: Int {
            switch self {
            case .elements: 256
            case .blocks(_, let threads): threads
            }
        }
    }

    package let source: KernelSource
    package let parameters: [Buffer]
    package let grid: Grid
    /// Memory that only the kernels of one operation use, which it introduces.
    package var scratch: [Storage] = []

    /// - Parameters:
    ///   - name: what it does.
    ///   - parameters: p0, p1, … in `body`.
    ///   - body: statements of C.
    package init(_ name: String, _ parameters: [Buffer], _ grid: Grid, _ body: String) {
        source = KernelSource(
            "rt_\(name)", parameters: parameters.map(\.storage.format.typeName),
            threads: grid.threads, body: body)
        (self.parameters, self.grid) = (parameters, grid)
    }

    /// A kernel of one statement for each of `count` elements `i`.
    package static func each(
        _ name: String, _ parameters: [Buffer], _ count: Int, _ statement: String
    ) -> DeviceKernel {
        DeviceKernel(
            name, parameters, .elements(count),
            "RT_EACH(\(indexType(parameters)), i, \(count)) \(statement)")
    }

    /// The type of an index that reaches all elements of some buffers.
    static func indexType(_ buffers: [Buffer]) -> String {
        buffers.allSatisfy { $0.storage.root.count < 1 << 31 } ? "unsigned" : "long long"
    }
}

extension ElementFormat {
    /// The type in C.
    var typeName: String {
        switch self {
        case .float32: "float"
        case .bfloat16: "rt_bfloat16"
        case .float16: "rt_float16"
        }
    }
}

/// An operation with kernels of its own on a GPU.
package protocol DeviceOperation: Operation {
    /// The kernels that compute the result, one after another.
    func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel]
}

extension View {
    /// The place in memory of the view's element `index`, as an expression of C.
    func source(_ index: String = "i") -> String {
        if isContiguous { return index }
        var (terms, inner) = (offset == 0 ? [] : ["\(offset)"], 1)
        for axis in axes.reversed() {
            if axis.step != 0 {
                let quotient = inner == 1 ? index : "\(index) / \(inner)"
                let isOuter = inner * axis.extent == count
                let place = isOuter ? quotient : "\(quotient) % \(axis.extent)"
                terms.append(axis.step == 1 ? place : "\(place) * \(axis.step)")
            }
            inner *= axis.extent
        }
        return terms.isEmpty ? "0" : terms.joined(separator: " + ")
    }

    /// Its elements.
    var count: Int { axes.reduce(1) { $0 * $1.extent } }

    /// The elements along some axes of a value in memory, in the order in which the axes are given.
    init(_ axes: [Int], of shape: Shape) {
        let steps = Layout.strides(shape)
        self.init(axes.map { .init(extent: shape[$0], step: steps[$0]) })
    }
}
