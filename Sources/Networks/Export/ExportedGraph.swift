import RetintArchitectures
import RetintGraph
import RetintMIL

/// The outputs of a colorizer's graph for one input size, with the rounding of inputs that it was
/// trained for.
///
/// With normalization outside, lightness is (L − 50)/100 and color is a/110 and b/110. The
/// network's own normalization then cancels out.
///
/// - Throws: `GraphError` if the network does not support the size.
func exportedOutputs(
    _ source: ExportSource, _ options: ExportOptions, size: ExportOptions.Size
) throws -> [(name: String, value: Tensor)] {
    let (colorizer, graph) = (source.colorizer, Graph(mode: .inference))
    graph.inputRounding = try InputRounding(ofVariables: source.variables)
    var value = graph.input("input", [1, 1, size.height, size.width])
    if let scaling = options.pixelScaling {
        if scaling.scale != 1 { value = value * scaling.scale }
        if scaling.bias != 0 { value = value + scaling.bias }
    }
    let isInside = options.normalization == .inside
    let color = colorizer(isInside ? value : LabScaling.denormalize(lightness: value))
    let ab = options.rounded(isInside ? color : LabScaling.normalize(ab: color))
    let outputs =
        options.output == .ab
        ? [("ab", ab)]
        : [
            ("output_a", ab.sliced(axis: 1, 0..<1)), ("output_b", ab.sliced(axis: 1, 1..<2)),
        ]
    return try AffineCancellation.simplified(outputs)
}

extension ExportOptions {
    /// Colors as representable in the output's element type.
    fileprivate func rounded(_ ab: Tensor) -> Tensor {
        elementType == .int8 ? round(clip(ab, min: -128, max: 127)) : ab
    }
}

/// An operation of an exported program, with its inputs and result in the graph.
package struct ExportedOperation {
    /// The name that ``Float32Operations/overflowing`` uses.
    package let name: String
    package let result: Tensor
    /// The values it is computed from, without weights.
    package let operands: [Tensor]
}

/// The operations of a colorizer's package at its default size, in order. The graph's `input` is
/// that of the package.
///
/// - Throws: as ``ExportSource/package(_:)`` does.
package func exportedOperations(
    _ source: ExportSource, _ options: ExportOptions
) throws -> [ExportedOperation] {
    try options.check(for: source.colorizer)
    let outputs = try exportedOutputs(source, options, size: options.size)
    let nodes = try MILLowering.nodes(
        outputs, variables: source.variables, options.lowering)
    let graph = outputs[0].value.graph
    let computed = Set(nodes.map(\.id))
    return nodes.map { node in
        ExportedOperation(
            name: node.name, result: Tensor(graph: graph, id: node.id),
            operands: node.operandIDs.filter(computed.contains).map {
                Tensor(graph: graph, id: $0)
            })
    }
}
