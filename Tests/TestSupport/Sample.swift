internal import Foundation
internal import RetintTensors
package import Testing

/// What a run of the tests takes of long tables of similar cases, and of suites that start many
/// processes: all, or one in `RETINT_TESTS_SAMPLE`, drawn by `RETINT_TESTS_SEED`.
///
/// `Scripts/check tests --sample N --seed S` sets both variables, as continuous integration does.
private enum Sample {
    static let every = variable("RETINT_TESTS_SAMPLE").flatMap(Int.init) ?? 1
    static let seed = variable("RETINT_TESTS_SEED").flatMap(UInt64.init) ?? 0

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name]
    }
}

extension Trait where Self == ConditionTrait {
    /// Leaves a suite out unless the sample takes it. Suites of one file are taken together.
    package static func sampled(_ file: String = #fileID) -> Self {
        .enabled(
            if: isSampled(every: Sample.every, seed: Sample.seed, file), "not in this sample")
    }

    /// Whether a sample of one suite in `every` takes this one.
    package static func isSampled(every: Int, seed: UInt64, _ name: String) -> Bool {
        var random = RandomStream(seed: seed, name: name)
        return every <= 1 || Int.random(in: 0..<every, using: &random) == 0
    }
}

extension Array {
    /// The cases of a parameterized test that the sample takes.
    ///
    /// - Parameter name: Lists with other names take other cases.
    package func sampled(_ name: String) -> [Element] {
        sampled(every: Sample.every, seed: Sample.seed, name)
    }

    /// One case in `every`, and at least one, in their order. Equal seeds and names give the same.
    package func sampled(every: Int, seed: UInt64, _ name: String) -> [Element] {
        guard every > 1, !isEmpty else { return self }
        var random = RandomStream(seed: seed, name: name)
        let chosen = indices.shuffled(using: &random).prefix(Swift.max(1, count / every))
        return chosen.sorted().map { self[$0] }
    }
}
