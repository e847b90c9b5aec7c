import Testing

@testable import RetintVerification

/// The search for a smallest subset that passes.
@Suite struct SubsetSearchTests {
    struct Problem: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let count: Int
        var maximumTests = 100_000
        let size: Int?
        let minimality: VerificationReport.Minimality
        let passes: @Sendable (Set<Int>) -> Bool

        /// How many elements of wanted ones a set has, so that these rank first.
        var wanted: Set<Int> = []
    }

    private static let weights = [5, 1, 1, 4, 3, 1, 1, 2]

    private static let problems: [Problem] = [
        Problem(testDescription: "one", count: 8, size: 1, minimality: .minimum) {
            $0.contains(3)
        },
        Problem(testDescription: "last of two", count: 2, size: 1, minimality: .minimum) {
            $0.contains(1)
        },
        Problem(testDescription: "all", count: 5, size: 5, minimality: .minimum) { $0.count == 5 },
        Problem(testDescription: "three", count: 9, size: 3, minimality: .minimum) {
            $0.isSuperset(of: [0, 4, 8])
        },
        Problem(testDescription: "sum", count: 8, size: 3, minimality: .minimum) {
            $0.reduce(0) { $0 + weights[$1] } >= 10
        },
        Problem(testDescription: "not monotone", count: 8, size: 2, minimality: .minimum) {
            $0.count == 8 || $0.isSuperset(of: [2, 4]) && !$0.contains(0)
        },
        Problem(
            testDescription: "a smaller set than delta debugging finds", count: 10, size: 2,
            minimality: .minimum,
            passes: { $0.isSuperset(of: [0, 1, 2]) || $0.isSuperset(of: [8, 9]) },
            wanted: [0, 1, 2]),
        Problem(testDescription: "none", count: 4, size: nil, minimality: .minimum) { _ in false },
        Problem(
            testDescription: "six of sixty", count: 60, maximumTests: 1500, size: 6,
            minimality: .irreducible, passes: { $0.isSuperset(of: [3, 11, 12, 30, 44, 59]) }),
        Problem(
            testDescription: "one for two", count: 60, maximumTests: 900, size: 2,
            minimality: .irreducible,
            passes: { $0.isSuperset(of: [0, 1, 2]) || $0.isSuperset(of: [0, 9]) },
            wanted: [0, 1, 2]),
        Problem(
            testDescription: "too few tests", count: 40, maximumTests: 30, size: 40,
            minimality: .unproven, passes: { $0.isSuperset(of: [3, 4, 5, 6]) }),
    ]

    @Test(arguments: problems)
    func finds(_ problem: Problem) throws {
        var tested: [Set<Int>] = []
        var search = SubsetSearch(count: problem.count, maximumTests: problem.maximumTests) {
            tested.append($0)
            return .init(
                passes: problem.passes($0),
                score: Double($0.intersection(problem.wanted).count))
        }
        let found = try search.run()
        #expect(found?.elements.count == problem.size)
        #expect(found == nil || found?.minimality == problem.minimality)
        #expect(Set(tested).count == tested.count && tested.count == search.tests)
        #expect(tested.count <= problem.maximumTests)
        guard let found else { return }
        #expect(problem.passes(found.elements))
        guard problem.minimality != .unproven else { return }
        for element in found.elements {
            #expect(!problem.passes(found.elements.subtracting([element])))
        }
        guard problem.minimality == .minimum else { return }
        for bits in 0..<1 << problem.count where bits.nonzeroBitCount < found.elements.count {
            let subset = Set((0..<problem.count).filter { bits >> $0 & 1 == 1 })
            #expect(!problem.passes(subset), "\(subset)")
        }
    }
}
