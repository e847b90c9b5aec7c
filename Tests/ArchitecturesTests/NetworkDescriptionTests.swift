import Foundation
import RetintCheckpoints
import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

@testable import RetintArchitectures

/// The value that says which network it is.
@Suite struct NetworkDescriptionTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        let network: NetworkDescription
        /// As it is printed.
        let description: String
        /// As it is encoded.
        let json: String
        var testDescription: String { description }
    }

    private static let cases: [Case] = [
        Case(
            network: .named("mobile-unet"), description: "mobile-unet",
            json: #"{"architecture":"mobile-unet","options":{}}"#),
        Case(
            network: .named("class-unet", .init(width: 0.5, temperature: 0.6)),
            description: "class-unet, temperature 0.6, width 0.5",
            json: #"{"architecture":"class-unet","options":{"temperature":"0.6","width":"0.5"}}"#),
        Case(
            network: .named("siggraph17", .init(hasClassHead: false)),
            description: "siggraph17, class_head false",
            json: #"{"architecture":"siggraph17","options":{"class_head":"false"}}"#),
    ]

    private func imported(_ name: String = "folded") throws -> NetworkDescription {
        try Checkpoint.importing(onnx: goldenPath("imported-\(name).onnx")).checkpoint.network
    }

    private func encoded(_ network: NetworkDescription) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(network)
    }

    private func decoded(_ data: Data) throws -> NetworkDescription {
        try JSONDecoder().decode(NetworkDescription.self, from: data)
    }

    @Test(arguments: cases)
    private func networksArePrintedAndEncoded(_ example: Case) throws {
        #expect("\(example.network)" == example.description)
        #expect(String(decoding: try encoded(example.network), as: UTF8.self) == example.json)
        #expect(try decoded(Data(example.json.utf8)) == example.network)
        #expect(try example.network.make().architecture == example.network.architecture)
    }

    @Test func networksAreTheSameIfAllOfThemIs() throws {
        let all =
            Self.cases.map(\.network) + [
                .named("pico-unet"), .named("mobile-unet", .init(width: 0.5)), try imported(),
                try imported("dynamo"),
            ]
        for (index, network) in all.enumerated() {
            #expect(all.firstIndex(of: network) == index, "\(network)")
            #expect(all.lastIndex(of: network) == index, "\(network)")
        }
        #expect(Set(all + all).count == all.count)
    }

    @Test func importedNetworksHoldTheirDefinition() throws {
        let network = try imported("fixed")
        #expect(network.architecture == "onnx" && "\(network)" == "onnx")
        #expect(network.options == ColorizerOptions())
        #expect(try network.make().onlySize == Pair(40, 48))
        #expect(try NetworkDescription.named("eccv16").make().onlySize == nil)
        let read = try decoded(encoded(network))
        #expect(read == network)
        #expect(try read.definition?.bytes() == network.definition?.bytes())
        #expect(try read.make().onlySize == Pair(40, 48))
    }

    @Test(arguments: [
        (#"{"options":{}}"#, "architecture"),
        (#"{"architecture":"onnx"}"#, "definition"),
        (#"{"architecture":"onnx","definition":[1,2]}"#, "is not an ONNX model"),
        (#"{"architecture":"eccv16","options":{"shape":"9"}}"#, "no option named"),
        (#"{"architecture":"eccv16","options":{"width":"wide"}}"#, "it takes a number"),
    ])
    func damagedDescriptionsAreRefused(_ json: String, _ words: String) {
        let error = #expect(throws: DecodingError.self) { try decoded(Data(json.utf8)) }
        #expect(error.map { "\($0)".contains(words) } == true, "\(String(describing: error))")
    }

    /// Decoded and written descriptions are checked when their network is made.
    @Test(arguments: [
        (NetworkDescription.named("vgg"), "no architecture named \"vgg\""),
        (.named("eccv16", .init(width: 9)), "width 9.0 is out of range"),
        (.named("eccv16", .init(decoderWidth: 0.5)), "eccv16 has no decoder width"),
        (.named("onnx"), "start from its checkpoint"),
    ])
    func networksThatCannotBeMadeAreRefused(_ network: NetworkDescription, _ words: String) {
        let error = #expect(throws: ColorizerError.self) { try network.make() }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    // MARK: Options in one line, as packages state them

    @Test(arguments: [
        ("", ColorizerOptions()), ("width=0.5", .init(width: 0.5)),
        ("class_head=false width=0.25", .init(width: 0.25, hasClassHead: false)),
    ])
    func linesAreReadAsTheyWereWritten(_ line: String, _ options: ColorizerOptions) throws {
        #expect(options.line == line)
        #expect(try ColorizerOptions(line: line) == options)
    }

    @Test(arguments: [
        ("width", ColorizerProblem.malformedOptions("width")),
        ("width=1 width=1", .malformedOptions("width=1 width=1")),
        ("shape=9", .unknownOption("shape")),
        (
            "class_head=1",
            .invalidValue(option: "class_head", text: "1", values: "true or false")
        ),
    ])
    func linesInAnotherFormAreRefused(_ line: String, _ expected: ColorizerProblem) {
        #expect(throws: ColorizerError(expected)) { try ColorizerOptions(line: line) }
    }

    // MARK: Checkpoints

    /// What a checkpoint says about its network without its tensors, and with them.
    @Test func checkpointsSayWhichNetworkTheyHold() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("a.h5")
        let network = NetworkDescription.named("pico-unet", .init(width: 0.0625))
        try Checkpoint(network, seed: 1).write(to: path)
        #expect(try Checkpoint.network(of: path) == network)
        #expect(try Checkpoint(contentsOf: path).network == network)
        #expect(try CheckpointSource(contentsOf: path).network == network)
        try Checkpoint(imported(), seed: 1).write(to: path)
        #expect(throws: ColorizerError(.needsDefinition("onnx"))) {
            try Checkpoint.network(of: path)
        }
        #expect(try Checkpoint(contentsOf: path).network == imported())
    }
}
