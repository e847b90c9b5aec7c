import Foundation

/// The lines of a text file of the kernel, such as `/proc/stat`; none if it cannot be read.
func procLines(of path: String) -> [Substring] {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n")
}
