import MLPackage

/// Which node of the graph computes each value of a program, as the package's metadata records it.
///
/// A program renames values: names have to be legal and unique, outputs have names of their own,
/// and one operation may stand for several nodes. The record keeps the names of the nodes, so that
/// a reader need not guess them.
package struct NodeRecord: Hashable, Sendable {
    /// The key in the package's user-defined metadata.
    package static let key = "retint.values"

    /// The module's path and the operation of the node, by the value's name in the program:
    /// `model1_0_conv2d` → `model1.0.conv2d`.
    package private(set) var nodes: [String: String] = [:]

    package init(_ nodes: [String: String]) { self.nodes = nodes }

    /// Empty for a package without a record; entries that are no pairs are left out.
    package init(_ package: MLPackage) {
        let text = package.description.metadata.userDefined[Self.key] ?? ""
        for entry in text.split(separator: " ") {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { nodes[parts[0]] = parts[1] }
        }
    }

    /// `value=node` for each value, in the order of the values' names.
    package var text: String {
        nodes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}
