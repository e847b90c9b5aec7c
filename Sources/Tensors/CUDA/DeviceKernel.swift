import RetintCompiler
import RetintGraph
import RetintTensors

/// One kernel of a step on a GPU, and what its parameters point to.
package struct DeviceKernel {
    package let source: KernelSource
    package let parameters: [Buffer]

    /// - Parameters:
    ///   - parameters: p0, p1, … in `body`.
    ///   - body: statements of C.
    init(name: String, _ parameters: [Buffer], _ body: String) {
        let list = parameters.indices.map { "float *p\($0)" }.joined(separator: ", ")
        let lines = body.split(separator: "\n", omittingEmptySubsequences: false)
        source = KernelSource(
            name: name,
            text: "RT_KERNEL(\(name), \(list)) {\n"
                + lines.map { $0.isEmpty ? "\n" : "    \($0)\n" }.joined() + "}\n")
        self.parameters = parameters
    }
}

/// An operation with kernels of its own on a GPU.
package protocol DeviceOperation: Operation {
    /// The kernels that compute the result, one after another.
    ///
    /// - Parameter name: of the first; the others append to it.
    func deviceKernels(named name: String, inputs: [Buffer], output: Buffer) -> [DeviceKernel]
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
