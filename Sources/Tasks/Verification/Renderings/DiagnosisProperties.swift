extension VerificationReport.Diagnosis {
    /// The results as names and values, for reports read by other programs.
    var properties: [(name: String, value: String)] {
        var properties: [(name: String, value: String)] = []
        if !stages.isEmpty {
            properties.append(("first failing stage", firstFailingStage?.rawValue ?? "none"))
        }
        if let errorSources {
            for (index, output) in errorSources.weights.enumerated() {
                let share = errorSources.weightShare(of: index).map { "\($0)" } ?? "unknown"
                properties.append(("share of weights in the noise of \(output.name)", share))
            }
        }
        if let precisionSearch {
            let names = precisionSearch.keptInFloat32?.map(\.name).joined(separator: " ")
            properties.append(("kept in float32", names ?? "not even all are enough"))
            properties.append(("minimality", precisionSearch.minimality.rawValue))
        }
        if let reduction {
            let names = reduction.operations.map(\.name).joined(separator: " ")
            properties.append(("smallest failing part", names))
        }
        if let arithmetics {
            let passing = arithmetics.passing
            properties.append(
                ("arithmetics that pass", "\(passing.passed) of \(passing.count)"))
            let names = arithmetics.fragile.map(\.name).joined(separator: " ")
            properties.append(("fragile operations", names))
        }
        if let certificate {
            let names = certificate.gaps.map(\.name).joined(separator: " ")
            properties.append(("not shown to be finite for all inputs", names))
            for output in certificate.outputs {
                properties.append(
                    ("largest error of \(output.name) for any input", "\(output.error)"))
            }
        }
        return properties
    }
}
