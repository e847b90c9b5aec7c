import Files
import Reports
import Verification

extension VerificationResults {
    /// Writes a JUnit report, as GitLab, Jenkins and others read it: one suite with a test case for
    /// each bound that was judged. It replaces an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public func writeJUnit(to path: some PathConvertible) throws {
        try AtomicFile.write(Array(junit.utf8), to: path)
    }

    private var junit: String {
        let checks = report.checks
        let failures = checks.count { $0.failure != nil }
        let counts = "tests=\"\(checks.count)\" failures=\"\(failures)\" errors=\"0\""
        let name = "\(report.model) against \(report.reference)".escapedForXML
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="retint verify" \(counts)>
              <testsuite name="\(name)" \(counts) skipped="0">
                <properties>
            \(properties.map(property).joined(separator: "\n"))
                </properties>
            \(checks.map(testCase).joined(separator: "\n"))
              </testsuite>
            </testsuites>

            """
    }

    private var properties: [(name: String, value: String)] {
        [
            ("precision", report.precision.rawValue), ("compute", report.compute.rawValue),
            ("runtime", VerificationReport.runtime), ("tolerance", "\(report.tolerance)"),
            ("layer tolerance", "\(report.layerTolerance)"), ("retint", environment.retint),
            ("processor", environment.processor),
        ] + report.diagnosis.properties
    }

    private func property(_ property: (name: String, value: String)) -> String {
        "      <property name=\"\(property.name)\" value=\"\(property.value.escapedForXML)\"/>"
    }

    private func testCase(_ check: VerificationCheck) -> String {
        let model = report.model.escapedForXML
        let start =
            "    <testcase classname=\"retint.verify\" file=\"\(model)\" "
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
