import Foundation

@testable import RetintTraining

/// What a run that is resumed finds: the state in `last.h5` as JSON, then `metrics.jsonl`.
struct ResumeTarget: PartsTarget {
    let name = "resume"
    let partCount = 2

    func seeds() throws -> [[UInt8]] {
        var progress = TrainingProgress(configuration: TrainingConfiguration())
        progress.step = 20
        progress.bestLoss = 0.5
        let records = """
            {"epoch":0,"kind":"train","loss":1.5,"step":10,"learning_rate":0.001}
            {"epoch":1,"kind":"validation","step":20,"validation":{"photos":3,"loss":1,\
            "psnr_db":20,"delta_e2000":9.5,"colorfulness":20,"photo_colorfulness":30}}

            """
        return [Parts([Array(try progress.json().utf8), Array(records.utf8)]).bytes]
    }

    func run(_ input: [UInt8]) throws {
        let parts = Parts(input, count: 2)
        if let progress = TrainingProgress(json: String(decoding: parts.files[0], as: UTF8.self)) {
            try use(progress)
        }
        let path = WorkFolder.write(parts.files[1], to: "metrics.jsonl")
        let log = try MetricsLog(path, resumingAt: 1000)
        try log.append(MetricsRecord(kind: "train", step: 1001, epoch: 1))
        // What is kept is a log that keeps all of itself.
        let kept = WorkFolder.read(path)
        _ = try MetricsLog(path, resumingAt: 1001)
        precondition(WorkFolder.read(path) == kept, "records get lost")
    }

    private func use(_ progress: TrainingProgress) throws {
        let again = TrainingProgress(json: try progress.json())
        precondition(again != nil, "its own state is lost")
        var changed = progress
        _ = changed.change(to: "other photos")
        let configuration = try TrainingConfiguration(
            yaml: progress.configuration, name: "last.h5")
        _ = TrainingConfiguration().differences(from: configuration)
    }
}
