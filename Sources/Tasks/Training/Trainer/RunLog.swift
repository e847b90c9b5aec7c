import RetintDistributed
import RetintFiles
import RetintGraph
import RetintImages
import RetintTensors

/// What a run reports while it trains: events, and on rank 0 the files of metrics.
final class RunLog {
    /// Called for each event, by the thread that trains.
    let report: (TrainingEvent) -> Void
    private let ranks: Communicator
    private var sinks: [any MetricsSink] = []
    /// Files that could not be written, which is reported once.
    private var unwritten: Set<String> = []
    /// Files of training photos that were reported as unreadable.
    private var reportedPhotos: Set<String> = []

    init(ranks: Communicator, report: @escaping (TrainingEvent) -> Void) {
        (self.ranks, self.report) = (ranks, report)
    }

    /// Opens the files of metrics, the first time.
    func open(_ sinks: () throws -> [any MetricsSink]) throws {
        if self.sinks.isEmpty, ranks.rank == 0 { self.sinks = try sinks() }
    }

    func append(_ record: MetricsRecord) throws {
        try writing { try $0.append(record) }
        report(.metrics(record))
    }

    /// Writes to all sinks. A full disk costs metrics and pictures, but not the training.
    private func writing(_ append: (any MetricsSink) throws -> Void) throws {
        for sink in sinks {
            do {
                try append(sink)
            } catch let error as FileError where error.isWithoutSpace {
                guard unwritten.insert(error.file).inserted else { continue }
                report(.note("\(error); training continues without it"))
            }
        }
    }

    /// - Parameter weights: the trained parameters by name.
    func append(
        _ samples: [ValidationSample], weights: [String: TensorData], step: Int
    ) throws {
        let scalars = weights.mapValues(\.scalars)
        try writing { try $0.append(samples, weights: scalars, step: step) }
    }

    /// Reports photos that were found to be unreadable since the last call.
    func reportNewlyBad(_ photos: [ImageError]) {
        guard ranks.size == 1 else { return }
        for photo in unreported(photos) { report(.badPhoto(photo)) }
    }

    /// As ``reportNewlyBad(_:)``, with the photos of all ranks: rank 0 reports each once.
    func reportNewlyBadOfAll(_ photos: [ImageError]) throws {
        guard ranks.size > 1 else { return }
        let own = unreported(photos).joined(separator: "\n")
        let all = try ranks.gatherToFirst(Array(own.utf8))
        guard ranks.rank == 0 else { return }
        let lines = all.flatMap { String(decoding: $0, as: UTF8.self).split(separator: "\n") }
        for photo in Set(lines).sorted() { report(.badPhoto(String(photo))) }
    }

    private func unreported(_ photos: [ImageError]) -> [String] {
        guard photos.count > reportedPhotos.count else { return [] }
        return photos.filter { reportedPhotos.insert($0.file).inserted }.map { "\($0)" }
    }
}
