import RetintMLPackage

/// The graph node that computes each value of a program, as recorded in the package's metadata.
///
/// Values have other names than nodes: names must be legal and unique, outputs are named
/// separately, and one operation may implement several nodes. With the record, a reader need not
/// guess the nodes' names.
package struct NodeRecord: Hashable, Sendable {
    /// The key in the package's user-defined metadata.
    package static let key = "retint.values"

    /// The module path and operation of each node, by the value's name in the program:
    /// `model1_0_conv2d` → `model1.0.conv2d`.
    package private(set) var nodes: [String: String] = [:]

    package init(_ nodes: [String: String]) { self.nodes = nodes }

    /// Reads the record of a package. It is empty if there is none; malformed entries are skipped.
    package init(_ package: MLPackage) {
        let text = package.description.metadata.userDefined[Self.key] ?? ""
        for entry in text.split(separator: " ") {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { nodes[parts[0]] = parts[1] }
        }
    }

    /// `value=node` for each value, sorted by the values' names.
    package var text: String {
        nodes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}
