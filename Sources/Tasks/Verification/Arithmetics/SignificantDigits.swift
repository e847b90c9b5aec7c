import Glibc

/// The significant decimal digits that different arithmetics leave of a value: those of the
/// differences between the runs, and those of the differences from float64 (Monte Carlo arithmetic:
/// Parker, 1997).
///
/// All elements of all inputs count together: 10⁻ᵈ is the root of the mean square difference,
/// divided by that of the value.
struct SignificantDigits {
    /// Doubles have no more.
    static let most = 15.95

    private var spread = 0.0
    private var means = 0.0
    private var exact = 0.0
    /// The squares of the errors of each run, and whether it had NaN or infinity.
    private(set) var runs: [Run]

    struct Run {
        var squares = 0.0
        var isFinite = true
    }

    init(runs: Int) { self.runs = [Run](repeating: Run(), count: runs) }

    /// Adds the values of some of the runs on one input.
    ///
    /// - Parameters:
    ///   - reference: the values in float64. Where they are infinite, as in masks, nothing is
    ///     compared.
    ///   - first: the number of the first of these runs.
    mutating func add(_ values: [[Double]], first: Int, reference: [Double]) {
        let places = reference.indices.filter { reference[$0].isFinite }
        for (index, run) in values.enumerated() {
            add(run, to: first + index, reference, places)
        }
        if first == 0 { exact += places.reduce(0) { $0 + reference[$1] * reference[$1] } }
        let finite = values.indices.filter { runs[first + $0].isFinite }.map { values[$0] }
        if !finite.isEmpty { addSpread(finite, places) }
    }

    private mutating func add(
        _ values: [Double], to run: Int, _ reference: [Double], _ places: [Int]
    ) {
        var squares = 0.0
        for place in places {
            let error = values[place] - reference[place]
            squares += error * error
        }
        if squares.isFinite { runs[run].squares += squares } else { runs[run].isFinite = false }
    }

    /// Adds the variances and the means of all elements.
    private mutating func addSpread(_ values: [[Double]], _ places: [Int]) {
        let count = Double(values.count)
        // One run has no spread, and says nothing about it.
        guard count > 1 else { return }
        for place in places {
            var mean = 0.0
            for run in values { mean += run[place] }
            mean /= count
            means += mean * mean
            var squares = 0.0
            for run in values { squares += (run[place] - mean) * (run[place] - mean) }
            spread += squares / (count - 1)
        }
    }

    /// The number of runs with NaN or infinity, where float64 has none.
    var nonFinite: Int { runs.count { !$0.isFinite } }

    /// The digits on which the runs agree; 0 if one of them is not finite.
    var digits: Double { nonFinite > 0 ? 0 : Self.digits(spread, of: means) }

    /// The digits on which the runs agree with float64; 0 if one of them is not finite.
    var digitsAgainstFloat64: Double {
        guard nonFinite == 0 else { return 0 }
        let squares = runs.reduce(0) { $0 + $1.squares } / Double(max(runs.count, 1))
        return Self.digits(squares, of: exact)
    }

    /// The fewer of both.
    var fewest: Double { min(digits, digitsAgainstFloat64) }

    /// The digits of one run against float64.
    func digits(ofRun run: Int) -> Double {
        guard runs[run].isFinite else { return 0 }
        return Self.digits(runs[run].squares, of: exact)
    }

    private static func digits(_ squares: Double, of whole: Double) -> Double {
        guard squares > 0 else { return most }
        guard whole > 0 else { return 0 }
        return min(max(-log10(squares / whole) / 2, 0), most)
    }
}
