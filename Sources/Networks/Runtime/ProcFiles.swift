import Foundation

/// The lines of a kernel text file, such as `/proc/stat`; empty if it cannot be read.
package func procLines(of path: String) -> [Substring] {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n")
}
