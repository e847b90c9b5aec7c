package import RetintTensors

/// Combines two rows of all ranks, [2, C], to two.
package protocol RankCombination: RankOperation {
    var shares: BatchShares { get }

    /// The values of a channel.
    ///
    /// - Parameter value: a rank's value of the channel in a row.
    func combined(_ value: (_ rank: Int, _ row: Int) -> Double) -> (Double, Double)
}

extension RankCombination {
    package var ranks: Int { shares.size }

    package func message(of count: Int) -> String { "\(name) of \(count)" }

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        try require(
            inputs[0].rank == 2 && inputs[0][0] == 2,
            "input must be [2, C], has shape \(inputs[0])")
        return inputs[0]
    }

    /// Writes the combination of the rows of all ranks, which lie one after another.
    package func combine(
        _ all: UnsafeBufferPointer<Float>, to result: UnsafeMutablePointer<Float>
    ) {
        let channels = all.count / (2 * ranks)
        for channel in 0..<channels {
            let (first, second) = combined { rank, row in
                Double(all[(2 * rank + row) * channels + channel])
            }
            (result[channel], result[channels + channel]) = (Float(first), Float(second))
        }
    }
}

/// The moments of the batches of all ranks together, from those of each: [2, C].
///
/// They are combined in double precision, in the order of the ranks.
package struct CombinedMoments: RankCombination {
    package static let name = "combined_moments"
    package let shares: BatchShares

    package func combined(
        _ value: (_ rank: Int, _ row: Int) -> Double
    ) -> (Double, Double) {
        var (weight, mean, variance) = (0.0, 0.0, 0.0)
        for rank in 0..<ranks {
            let own = shares.weight(of: rank), distance = value(rank, 0) - mean
            variance += own * value(rank, 1)
            variance += distance * distance * weight * own / (weight + own)
            weight += own
            mean += distance * own / weight
        }
        return (mean, variance / weight)
    }
}

/// The sums of ``BatchNormGradientSums`` over the batches of all ranks, scaled to the size of this
/// rank's: divided by its number of values, they are means over all values.
package struct CombinedSums: RankCombination {
    package static let name = "combined_sums"
    package let shares: BatchShares

    package func combined(
        _ value: (_ rank: Int, _ row: Int) -> Double
    ) -> (Double, Double) {
        let own = shares.weight(of: shares.rank)
        var (sum, products) = (0.0, 0.0)
        for rank in 0..<ranks {
            sum += value(rank, 0)
            products += value(rank, 1)
        }
        return (sum * own, products * own)
    }
}
