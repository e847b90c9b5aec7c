/// Two pictures that cannot be compared.
public struct ColorScienceError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The measure that was asked for, such as "SSIM".
    public let measure: String

    /// What is wrong with the input and what would be accepted.
    public let problem: String

    public var description: String { "\(measure): \(problem)" }

    static func requireSameCount(_ measure: String, _ first: Int, _ second: Int) throws {
        guard first == second else {
            throw ColorScienceError(
                measure: measure,
                problem: "the pictures have \(first) and \(second) values; resize one first")
        }
        guard first > 0 else {
            throw ColorScienceError(measure: measure, problem: "the pictures are empty")
        }
    }
}
