import RetintCheckpoints
import RetintGraph
import RetintLayers
import Testing

@testable import RetintArchitectures

/// The table of the architectures' options and what follows from it.
@Suite struct OptionTests {
    private let options = ColorizerOptions(
        width: 0.5, depth: 2, decoderWidth: 0.25, temperature: 0.6, chromaScale: 1.5,
        vividChromaScale: 2.5, certainty: 2, neutrality: 3, hasClassHead: false, isFolded: true)

    @Test func textsAreReadAsTheyWereWritten() throws {
        #expect(options.texts.count == ColorizerOptions.table.count)
        #expect(try ColorizerOptions(options.texts) == options)
        #expect(ColorizerOptions().texts.isEmpty)
        #expect(try ColorizerOptions([:]) == ColorizerOptions())
    }

    /// Every text that an option writes, it reads: null as well.
    @Test func nullIsReadWhereItIsWritten() throws {
        var temperate = try ColorizerOptions(["temperature": "null"])
        #expect(temperate == ColorizerOptions())
        temperate.temperature = 0.5
        #expect(try ColorizerOptions(temperate.texts) == temperate)
        #expect(throws: ColorizerError.self) { try ColorizerOptions(["width": "null"]) }
    }

    @Test(arguments: [
        (["width": "wide"], "option width is \"wide\"; it takes a number from 0.0625 to 4"),
        (["folded": "1"], "it takes true or false"),
        (["temperature": ""], "it takes a number from 0.05 to 10, or null"),
        (
            ["shape": "9"],
            "no option named \"shape\"; the options are certainty, class_head, decoder_width"
        ),
    ])
    func textsThatDoNotFitAreRefused(_ texts: [String: String], _ words: String) {
        let error = #expect(throws: ColorizerError.self) { try ColorizerOptions(texts) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test func rowsHaveNamesOfTheirOwn() {
        let names = ColorizerOptions.table.map(\.name)
        #expect(Set(names).count == names.count)
        for option in ColorizerOptions.table {
            #expect(option.isInRange(ColorizerOptions()), "\(option.name)")
        }
    }

    @Test func ownersAreListedUnlessAllHaveAnOption() throws {
        func owners(_ name: String) throws -> String {
            try #require(ColorizerOptions.table.first { $0.name == name }).owners
        }
        #expect(try owners("width") == "")
        #expect(try owners("depth") == " (not eccv16, siggraph17)")
        #expect(try owners("decoder_width") == " (lite-unet, lite-class-unet)")
        #expect(try owners("class_head") == " (siggraph17)")
    }

    @Test(arguments: [
        ColorizerOptions(width: 0.01), .init(depth: 9), .init(decoderWidth: .nan),
        .init(temperature: 11), .init(chromaScale: -0.1),
        .init(certainty: 4.1), .init(neutrality: -1), .init(neutrality: 4.1),
    ])
    func valuesOutOfRangeAreRefused(_ options: ColorizerOptions) {
        let error = #expect(throws: ColorizerError.self) {
            try NetworkDescription.named("lite-class-unet", options).make()
        }
        #expect(error?.description.contains("is out of range; choose one from 0") == true)
    }
}

/// The names of modules in a group.
@Suite struct ModuleGroupTests {
    private struct Group: ModuleGroup {
        let first = Conv2d(1, 1, kernel: 1)
        let absent: Conv2d? = nil
        let second: Conv2d? = Conv2d(1, 1, kernel: 1, bias: false)
    }

    private final class Network: Module {
        let before = Conv2d(1, 1, kernel: 1, bias: false)
        let group = Group()
        let after = Conv2d(1, 1, kernel: 1, bias: false)
    }

    @Test func modulesOfAGroupAreNamedAsTheHoldersOwn() {
        #expect(
            StateSpec(of: Network()).entries.map(\.name) == [
                "before.weight", "first.weight", "first.bias", "second.weight", "after.weight",
            ])
    }
}
