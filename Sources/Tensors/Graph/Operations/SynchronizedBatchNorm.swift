package import RetintTensors

/// The moments of the batches of all ranks together, from those of each: [2, C].
///
/// They are combined in double precision, in the order of the ranks.
package struct CombinedMoments: Operation {
    package static let name = "combined_moments"
    package let shares: BatchShares

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireRows(inputs)
    }
}

/// The sums of ``BatchNormGradientSums`` over the batches of all ranks, scaled to the size of this
/// rank's: divided by its number of values, they are means over all values.
package struct CombinedSums: Operation {
    package static let name = "combined_sums"
    package let shares: BatchShares

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireRows(inputs)
    }
}

private func requireRows(_ inputs: [Shape]) throws(ShapeError) -> Shape {
    try requireInputs(inputs, 1...1)
    try require(
        inputs[0].rank == 2 && inputs[0][0] == 2, "input must be [2, C], has shape \(inputs[0])")
    return inputs[0]
}
