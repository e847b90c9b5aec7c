internal import Foundation
internal import RetintTensors

extension Array {
    /// The cases of a parameterized test: all of them, or one in `RETINT_TESTS_SAMPLE`, drawn by
    /// `RETINT_TESTS_SEED`.
    ///
    /// For long tables of similar cases. `Scripts/check tests --sample N --seed S` sets both
    /// variables, as continuous integration does.
    ///
    /// - Parameter name: Lists with other names take other cases.
    package func sampled(_ name: String) -> [Element] {
        let environment = ProcessInfo.processInfo.environment
        return sampled(
            every: environment["RETINT_TESTS_SAMPLE"].flatMap(Int.init) ?? 1,
            seed: environment["RETINT_TESTS_SEED"].flatMap(UInt64.init) ?? 0, name)
    }

    /// One case in `every`, and at least one, in their order. Equal seeds and names give the same.
    package func sampled(every: Int, seed: UInt64, _ name: String) -> [Element] {
        guard every > 1, !isEmpty else { return self }
        var random = RandomStream(seed: seed, name: name)
        let chosen = indices.shuffled(using: &random).prefix(Swift.max(1, count / every))
        return chosen.sorted().map { self[$0] }
    }
}
