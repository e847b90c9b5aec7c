package import RetintFiles

/// Why a measure cannot be computed for an image or a pair of images.
/// Its place is the measure, such as "SSIM".
package typealias ColorScienceError = Refusal<ColorScienceProblem>

/// What is refused of images that are measured.
package enum ColorScienceProblem: RefusalKind {
    /// The images are empty, or differ in size.
    case size

    /// The images'.
    package var fault: Fault { .input }
}

extension ColorScienceError {
    init(measure: String, problem: String) {
        self.init(.size, place: measure, problem)
    }

    static func requireSameCount(_ measure: String, _ first: Int, _ second: Int) throws {
        guard first == second else {
            throw ColorScienceError(
                measure: measure,
                problem: "the images have \(first) and \(second) values; resize one first")
        }
        guard first > 0 else {
            throw ColorScienceError(measure: measure, problem: "the images are empty")
        }
    }
}
