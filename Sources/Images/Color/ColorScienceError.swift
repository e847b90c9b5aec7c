/// Why a measure cannot be computed for an image or a pair of images.
public struct ColorScienceError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The metric, such as "SSIM".
    public let measure: String

    /// What is wrong with the input, and how to correct it.
    public let problem: String

    /// `measure: problem`.
    public var description: String { "\(measure): \(problem)" }

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
