import Foundation
import RetintTensorBoardProto
import RetintTestSupport
import Testing

@testable import RetintTraining

/// Event files beside those of TensorBoard's own writer (`Goldens/record_events.py`).
@Suite struct TensorBoardTests {
    @Test func checksums() {
        #expect(crc32c([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        let record = [UInt8]([0x1A, 0x11]) + Array("CRC test, one two".utf8)
        #expect(EventFile.maskedChecksum(record) == 0x5794_D08A)
    }

    @Test func recordsEqualThoseOfTensorBoard() throws {
        let golden = URL(filePath: goldenPath("events.tfevents"))
        let bytes = try events().flatMap { EventFile.record(try $0.serializedBytes()) }
        #expect(bytes == Array(try Data(contentsOf: golden)))
    }

    private func events() -> [Tensorboard_Event] {
        var events = (0..<4).map { index in
            var event = Tensorboard_Event()
            event.wallTime = Double(index) + 1.5
            return event
        }
        events[0].fileVersion = "brain.Event:2"
        events[1].step = 7
        events[1].summary.value = [.init()]
        events[1].summary.value[0].tag = "loss/train"
        events[1].summary.value[0].simpleValue = 0.125
        events[2].step = 300
        events[2].summary.value = [.init(), .init()]
        events[2].summary.value[0].tag = "weights/w"
        events[2].summary.value[0].histo = .with {
            ($0.min, $0.max, $0.num, $0.sum, $0.sumSquares) = (-1, 2, 3, 1.5, 5.25)
            ($0.bucketLimit, $0.bucket) = ([-0.5, 0, 3], [1, 0, 2])
        }
        events[2].summary.value[1].tag = "samples/0"
        events[2].summary.value[1].image = .with {
            ($0.height, $0.width, $0.colorspace) = (2, 3, 3)
            $0.encodedImageString = Data("picture".utf8)
        }
        events[3].step = 301
        events[3].sessionLog.status = .start
        return events
    }

    @Test func histogramsCountAllValues() {
        let values: [Float] = [-3, -1e-13, 0, 0, 1e-13, 0.5, 0.5, 7e19]
        let histogram = Tensorboard_HistogramProto(values)
        #expect(histogram.num == 8 && histogram.min == -3)
        #expect(histogram.bucket.reduce(0, +) == 8)
        #expect(histogram.bucketLimit == histogram.bucketLimit.sorted())
        // Each value is below its bucket's limit, and at least the limit of the previous one.
        for (index, count) in histogram.bucket.enumerated() where count > 0 {
            let low = index > 0 ? histogram.bucketLimit[index - 1] : -.infinity
            let inside = values.filter {
                Double($0) >= low && Double($0) < histogram.bucketLimit[index]
            }
            #expect(Double(inside.count) == count)
        }
        #expect(Tensorboard_HistogramProto([]).bucket.isEmpty)
    }

    @Test func runsLogScalarsImagesAndWeights() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(7)
        #expect(try TrainingRun(scratch.configuration("steps=4")).run() == .finished)
        let resumed = try TrainingRun(scratch.configuration("steps=6"), from: .resumed)
        #expect(try resumed.run() == .finished)
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(scratch.path)/run")
            .filter { $0.contains("tfevents") }.sorted()
        #expect(files.count == 2)
        let events = try files.map { try Self.events("\(scratch.path)/run/\($0)") }
        #expect(events[0][0].fileVersion == "brain.Event:2" && events[1][1].step == 5)
        #expect(events[1][1].sessionLog.status == .start)
        let values = events.joined().flatMap { event in
            event.summary.value.map { (event.step, $0) }
        }
        #expect(values.filter { $0.1.tag == "loss/train" }.map(\.0) == [1, 2, 3, 4, 5, 6])
        #expect(values.filter { $0.1.tag == "validation/delta_e2000" }.map(\.0) == [2, 4, 6])
        let picture = try #require(values.first { $0.1.tag == "samples/0" }?.1.image)
        #expect(picture.width == 3 * 32 + 4 && picture.height == 32)
        #expect(picture.encodedImageString.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(values.contains { $0.1.tag.hasPrefix("weights/stem") && $0.1.histo.num > 0 })
    }

    @Test func canBeLeftOut() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        _ = try TrainingRun(scratch.configuration("steps=2", "tensorboard=false")).run()
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(scratch.path)/run")
        #expect(!names.contains { $0.contains("tfevents") } && names.contains("metrics.jsonl"))
    }

    /// The events of a file, after checking their checksums.
    private static func events(_ path: String) throws -> [Tensorboard_Event] {
        var rest = Array(try Data(contentsOf: URL(filePath: path)))[...]
        var events: [Tensorboard_Event] = []
        while !rest.isEmpty {
            let length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
            let record = Array(rest.prefix(length + 16))
            let data = Array(record[12..<12 + length])
            #expect(EventFile.record(data) == record)
            events.append(try Tensorboard_Event(serializedBytes: data))
            rest = rest.dropFirst(length + 16)
        }
        return events
    }
}
