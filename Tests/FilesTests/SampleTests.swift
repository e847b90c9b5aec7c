import RetintTestSupport
import Testing

/// Which suites and cases continuous integration takes.
@Suite struct SampleTests {
    @Test func aSampleTakesAboutOneSuiteInSoMany() {
        let taken = (0..<400).count {
            ConditionTrait.isSampled(every: 4, seed: UInt64($0), "Tests/Suite.swift")
        }
        #expect((70...130).contains(taken))
        #expect(
            (0..<20).contains {
                ConditionTrait.isSampled(every: 4, seed: $0, "A.swift")
                    != ConditionTrait.isSampled(every: 4, seed: $0, "B.swift")
            })
    }

    @Test func withoutASampleAllAreTaken() {
        #expect((0..<100).allSatisfy { ConditionTrait.isSampled(every: 1, seed: $0, "A.swift") })
        #expect(Array(0..<9).sampled(every: 1, seed: 1, "A") == Array(0..<9))
    }

    @Test func casesAreTakenInTheirOrder() {
        let taken = Array(0..<90).sampled(every: 3, seed: 5, "A")
        #expect(taken.count == 30 && taken == taken.sorted())
        #expect(Array(0..<90).sampled(every: 3, seed: 6, "A") != taken)
        #expect([7].sampled(every: 3, seed: 5, "A") == [7])
    }
}
