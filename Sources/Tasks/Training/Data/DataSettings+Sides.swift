import RetintLayers
import RetintTensors

extension TrainingConfiguration.DataSettings {
    /// All sides that crops may have, without repetition, ``crop`` first.
    var sides: [Int] {
        (otherCrops?.sides ?? []).reduce(into: [crop]) { all, side in
            if !all.contains(side) { all.append(side) }
        }
    }

    /// The side of the crops of a step, which is the same on all ranks.
    ///
    /// - Parameter step: counted from 0.
    func side(step: Int, seed: UInt64) -> Int {
        var random = RandomStream(seed: seed, name: "side \(step)")
        let sides = sides
        return sides[Int(random.next() % UInt64(sides.count))]
    }

    /// Whole photos and objects are kept large enough for sharp crops of the largest side.
    var largestSide: Int { sides.max() ?? crop }
}
