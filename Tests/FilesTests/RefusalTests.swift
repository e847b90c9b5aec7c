import Foundation
import Testing

@testable import RetintFiles

/// One refusal for all modules: what it says, and who is at fault.
@Suite struct RefusalTests {
    @Test(arguments: [
        (Refusal(Fault.input, file: "a.h5", rule: "is damaged"), "a.h5: is damaged"),
        (
            Refusal(Fault.input, file: "a.h5", place: "outputs/ab", "is empty; fill it"),
            "a.h5: outputs/ab: is empty; fill it"
        ),
        (
            Refusal(Fault.input, place: "node 1", rule: "has no input", remedy: "Export again."),
            "node 1: has no input. Export again."
        ),
        (
            Refusal(Fault.usage, "give one; or two; not three"),
            "give one; or two; not three"
        ),
        (
            Refusal(Fault.usage, "the model is none; it says: Export it. Twice."),
            "the model is none; it says: Export it. Twice."
        ),
        (Refusal(Fault.usage, "ends with; "), "ends with; "),
    ])
    func namesWhatIsKnown(_ refusal: Refusal<Fault>, _ text: String) {
        #expect("\(refusal)" == text)
    }

    @Test func theLastClauseIsTheWayOut() {
        let refusal = Refusal(Fault.usage, "give one; or two; not three")
        #expect((refusal.rule, refusal.remedy) == ("give one; or two", "not three"))
        let sentence = Refusal(Fault.usage, "a rule; the way out. And more.")
        #expect((sentence.rule, sentence.remedy) == (sentence.problem, ""))
    }

    @Test func filesStateWhatWasTried() throws {
        let error = FileError(path: "a", operation: "read", number: ENOENT)
        #expect("\(error)" == "a: cannot read: No such file or directory; check the path")
        #expect(error.fault == .input && error.errorNumber == ENOENT)
        #expect(FileError(path: "a", operation: "rename").fault == .failure)
    }

    @Test func travelsAsJSON() throws {
        let refusal = Refusal(
            Fault.failure, file: "a", "b; c", remedies: [Remedy(.settings, "d=1")])
        let data = try JSONEncoder().encode(refusal)
        #expect(try JSONDecoder().decode(Refusal<Fault>.self, from: data) == refusal)
    }
}
