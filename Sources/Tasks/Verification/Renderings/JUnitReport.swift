import RetintFiles
import RetintPages

extension VerificationResults {
    /// Writes a JUnit report, as GitLab, Jenkins and others read it: for each runtime a suite with
    /// a test case for each checked bound. A runtime that did not run is an error. It replaces
    /// an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public func writeJUnit(to path: some PathConvertible) throws {
        try AtomicFile.write(Array(junit.utf8), to: path)
    }

    private var junit: String {
        let suites = reports.map { suite(of: $0) } + missing.map(suite)
        let checks = reports.flatMap(\.checks)
        let failures = checks.count { $0.failure != nil }
        let counts = counts(checks.count + missing.count, failures, errors: missing.count)
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="retint verify" \(counts)>
            \(suites.joined(separator: "\n"))
            </testsuites>

            """
    }

    private func counts(_ tests: Int, _ failures: Int, errors: Int = 0) -> String {
        "tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\""
    }

    private func suite(of report: VerificationReport) -> String {
        let checks = report.checks
        let failures = checks.count { $0.failure != nil }
        let by = report.judge == .retint ? "" : " by \(report.runtime)"
        let name = "\(report.model) against \(report.reference)\(by)".escapedForXML
        return """
              <testsuite name="\(name)" \(counts(checks.count, failures)) skipped="0">
                <properties>
            \(properties(of: report).map(property).joined(separator: "\n"))
                </properties>
            \(checks.map { testCase($0, report) }.joined(separator: "\n"))
              </testsuite>
            """
    }

    private func suite(of missing: VerificationResults.MissingJudge) -> String {
        let message = missing.description.escapedForXML
        return """
              <testsuite name="\(missing.judge.rawValue)" \(counts(1, 0, errors: 1)) skipped="0">
                <testcase classname="\(missing.judge.className)" name="runs">
                  <error type="missing" message="\(message)"/>
                </testcase>
              </testsuite>
            """
    }

    private func properties(of report: VerificationReport) -> [(name: String, value: String)] {
        [
            ("precision", report.precision.rawValue), ("compute", report.compute.rawValue),
            ("judge", report.judge.rawValue), ("runtime", report.runtime),
            ("tolerance", "\(report.tolerance)"),
            ("layer tolerance", "\(report.layerTolerance)"), ("retint", environment.retint),
            ("processor", environment.processor),
        ] + report.diagnosis.properties
    }

    private func property(_ property: (name: String, value: String)) -> String {
        "      <property name=\"\(property.name)\" value=\"\(property.value.escapedForXML)\"/>"
    }

    private func testCase(_ check: VerificationCheck, _ report: VerificationReport) -> String {
        let model = report.model.escapedForXML
        let start =
            "    <testcase classname=\"\(report.judge.className)\" file=\"\(model)\" "
            + "name=\"\(model): \(check.subject.escapedForXML): \(check.rule.rawValue)\""
        guard let failure = check.failure?.escapedForXML else { return start + "/>" }
        return """
            \(start)>
                  <failure type="\(check.rule.rawValue)" message="\(failure)">\
            \(check.subject.escapedForXML): \(failure)</failure>
                </testcase>
            """
    }
}

extension Judge {
    /// Distinguishes the test cases of the runtimes.
    fileprivate var className: String {
        self == .retint ? "retint.verify" : "retint.verify.\(rawValue)"
    }
}
