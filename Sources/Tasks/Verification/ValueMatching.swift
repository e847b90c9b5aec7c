import RetintGraph
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// Pairs the intermediate values of two models: by recorded nodes if both models have them,
/// otherwise by name.
///
/// Names are compared as they would be in a package. A value without an unambiguous
/// counterpart is not compared.
struct ValueMatching {
    /// The pairs by the indices of the first model's values.
    private(set) var pairs: [Int: StructuralMatching.Pair] = [:]
    /// Whether many values of both models have no counterpart, and their nodes are not known, or
    /// not the same.
    private(set) var leavesMany = false
    /// Whether the nodes of both models are known, and most are not the same.
    private(set) var nodesDiffer = false

    /// Pairs the values of two programs; outputs are paired by their order.
    init(_ model: ModelProgram, _ other: ModelProgram) {
        let nodes = NodeMatching(model, other)
        for (a, b) in nodes?.pairs ?? pairsByName(model, other) {
            add(a, b, nodes == nil ? .name : .recorded, model, other)
        }
        nodesDiffer = nodes?.areOfOneNetwork == false
        leavesMany =
            nodes?.areOfOneNetwork != true
            && 10 * pairs.count < 9 * min(model.values.count, other.values.count)
        guard model.outputIndices.count == other.outputIndices.count else { return }
        for case (let own?, let theirs?) in zip(model.outputIndices, other.outputIndices) {
            add(own, theirs, .name, model, other)
        }
    }

    /// Pairs values by name.
    private func pairsByName(_ model: ModelProgram, _ other: ModelProgram) -> [(Int, Int)] {
        let (first, second) = (Naming(model), Naming(other))
        return first.groups.keys.flatMap { name -> [(Int, Int)] in
            guard let own = first.group(name, comparedWith: second),
                let theirs = second.group(name, comparedWith: first)
            else { return [] }
            return pairs(own, theirs, model, other)
        }
    }

    private mutating func add(
        _ own: Int, _ theirs: Int, _ pairing: VerificationReport.Pairing, _ model: ModelProgram,
        _ other: ModelProgram
    ) {
        guard model.values[own].shape == other.values[theirs].shape else { return }
        pairs[own] = .init(other: theirs, pairing: pairing)
    }

    /// Pairs the values of one name in order if both models have the same number of them. If a
    /// package expresses one operation by several, the last of them has its value.
    private func pairs(
        _ own: [Int], _ theirs: [Int], _ model: ModelProgram, _ other: ModelProgram
    ) -> [(Int, Int)] {
        if own.count == theirs.count { return Array(zip(own, theirs)) }
        let isSplitInPackage =
            own.count == 1 && !runsPackage(model) && runsPackage(other)
            || theirs.count == 1 && !runsPackage(other) && runsPackage(model)
        guard isSplitInPackage, let a = own.last, let b = theirs.last else { return [] }
        return [(a, b)]
    }
}

private func runsPackage(_ program: ModelProgram) -> Bool { program.model.package != nil }

/// A model's values by name, without the numbers that make repeated names unique.
private struct Naming {
    private(set) var groups: [String: [Int]] = [:]
    /// The normalization or addition after a convolution or product, which an export may have
    /// folded into it, by the name of the latter.
    private var followers: [String: Int] = [:]
    private let names: [String]

    init(_ model: ModelProgram) {
        let (values, outputs) = (model.values, Set(model.outputIndices.compactMap { $0 }))
        let plain = values.map { plainName($0.name) }
        let known = Set(plain)
        names = plain.map { withoutNumber($0, known) }
        for (index, name) in names.enumerated() where !outputs.contains(index) {
            groups[name, default: []].append(index)
        }
        var uses = [Int](repeating: 0, count: values.count)
        for input in values.flatMap(\.inputs) { uses[input] += 1 }
        for (index, value) in values.enumerated() where !outputs.contains(index) {
            guard ["batch_norm", "add"].contains(value.operation), let input = value.inputs.first,
                uses[input] == 1, groups[names[input]]?.count == 1
            else { continue }
            followers[names[input]] = index
        }
    }

    /// The values to compare with those of the same name in another model. A normalization or bias
    /// that the other model lacks was folded into the preceding weights there: its result is
    /// compared instead.
    func group(_ name: String, comparedWith other: Naming) -> [Int]? {
        if let follower = followers[name], other.groups[names[follower]] == nil {
            return [follower]
        }
        return groups[name]
    }
}

/// A name as in a package, without the suffix that coremltools adds for float16.
func plainName(_ name: String) -> String {
    let legal = MILNames.legal(name)
    let suffix = "_cast_fp16"
    return legal.hasSuffix(suffix) ? String(legal.dropLast(suffix.count)) : legal
}

/// `relu` for `relu_1`, if there is a `relu`.
private func withoutNumber(_ name: String, _ known: Set<String>) -> String {
    guard let bar = name.lastIndex(of: "_"), name.index(after: bar) < name.endIndex,
        name[name.index(after: bar)...].allSatisfy(\.isNumber), known.contains(String(name[..<bar]))
    else { return name }
    return String(name[..<bar])
}

/// Pairs a model's values with the outputs of the original network's modules.
struct ActivationMatching {
    /// The paths of the activations by the indices of the model's values.
    private(set) var paths: [Int: String] = [:]
    /// The longest path that each value belongs to.
    let owners: [String?]

    /// Pairs the values of a program with activations.
    ///
    /// - Parameter images: the number of runs that share an activation's first dimension.
    init(_ model: ModelProgram, _ activations: [(path: String, shape: Shape)], images: Int) {
        // A module whose last part returns its result is not among the activations.
        let all = Set(activations.flatMap { modules(of: $0.path) })
        let known = all.map(ModulePath.init).sorted {
            ($1.path.count, $0.path) < ($0.path.count, $1.path)
        }
        owners = model.values.map { owner(of: $0, known) }
        for (path, shape) in activations {
            let own = owners.indices.filter { [owners] in isPart(owners[$0], of: path) }
            guard let last = own.last, model.values[last].shape.repeated(images) == shape,
                !model.isContinued(after: last, owners)
            else { continue }
            // A module and its last submodule have the same output; the first one is kept.
            if paths[last] == nil { paths[last] = path }
        }
    }
}

extension ModelProgram {
    /// Whether the module that computes a value may instead end with an output of the model: an
    /// output whose name does not show a module, computed from the value and of the same shape.
    fileprivate func isContinued(after index: Int, _ owners: [String?]) -> Bool {
        zip(outputIndices, outputs).contains { output, name in
            guard let output, output != index, owners[output] == nil,
                values[output].name == name
            else { return false }
            return values[output].inputs.contains(index)
                && values[output].shape == values[index].shape
        }
    }
}

extension Shape {
    /// The shape with the first dimension multiplied, for a count above 1.
    func repeated(_ count: Int) -> Shape {
        guard count > 1, rank > 0 else { return self }
        var shape = self
        shape[0] *= count
        return shape
    }
}

/// The paths of a module and of those that it is a part of.
private func modules(of path: String) -> [String] {
    let parts = path.split(separator: ".")
    return parts.indices.map { parts[...$0].joined(separator: ".") }
}

private func isPart(_ owner: String?, of path: String) -> Bool {
    guard let owner else { return false }
    return owner == path || owner.hasPrefix(path + ".")
}

extension ComputedValue {
    /// The module that computes the value, by the network or by the package's record of nodes; nil
    /// if neither names one.
    fileprivate var knownModule: String? {
        guard module.isEmpty else { return module }
        return node?.lastIndex(of: ".").flatMap { end in node.map { String($0[..<end]) } }
    }
}

/// The longest path that a value belongs to, by its module or its name.
///
/// - Parameter paths: the longest first.
private func owner(of value: ComputedValue, _ paths: [ModulePath]) -> String? {
    let (module, name) = (value.knownModule, plainName(value.name))
    return paths.first { path in
        isPart(module, of: path.path)
            || path.names.contains { name == $0 || name.hasPrefix($0 + "_") }
    }?.path
}

/// A module's dotted path, and how names of its values begin.
private struct ModulePath {
    let path: String
    /// In a package, and in an ONNX file of `torch.onnx.export`, whose names are scopes:
    /// `/layer1/layer1.0/conv1/Conv` of a `Sequential`. A `ModuleList` has none of its own, because
    /// it is not called.
    let names: Set<String>

    /// Lists within lists that are looked at.
    private static let deepest = 4

    init(_ path: String) {
        self.path = path
        var scopes: [[String]] = [[]]
        var depth = 0
        for part in path.split(separator: ".").map(String.init) {
            guard part.allSatisfy(\.isNumber), path != part, depth < Self.deepest else {
                scopes = scopes.map { $0 + [part] }
                continue
            }
            depth += 1
            scopes = scopes.flatMap { scope -> [[String]] in
                let member = ((scope.last.map { [$0] } ?? []) + [part]).joined(separator: ".")
                return [scope + [member], scope.dropLast() + [member]]
            }
        }
        names = Set(([path] + scopes.map { $0.joined(separator: "/") }).map(MILNames.legal))
    }
}
