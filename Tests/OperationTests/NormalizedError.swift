/// The normalized mean square error, Σ (values − expected)² / Σ expected²: infinite for another
/// number of values, or if one is not a number.
func normalizedError(_ values: [Float], _ expected: [some BinaryFloatingPoint]) -> Double {
    guard values.count == expected.count else { return .infinity }
    var (error, size) = (0.0, 0.0)
    for (value, wanted) in zip(values, expected) {
        let difference = Double(value) - Double(wanted)
        error += difference * difference
        size += Double(wanted) * Double(wanted)
    }
    guard error.isFinite else { return .infinity }
    return error == 0 ? 0 : error / size
}
