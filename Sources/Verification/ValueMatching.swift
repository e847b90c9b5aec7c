import MLPackage
import Models
import TensorGraph

/// Which values of two models, or of a model and a file, are the same by their names.
///
/// Names are compared as a package has them, and only where there is no doubt: what is not found
/// so is not compared.
struct ValueMatching {
    /// The indices of the second model's values by those of the first's.
    private(set) var indices: [Int: Int] = [:]

    /// Outputs have names of their own and are paired by their order.
    init(_ model: ModelProgram, _ other: ModelProgram) {
        for (a, b) in NodeMatching(model, other)?.pairs ?? guessedPairs(model, other) {
            add(a, b, model, other)
        }
        guard model.outputIndices.count == other.outputIndices.count else { return }
        for case (let own?, let theirs?) in zip(model.outputIndices, other.outputIndices) {
            add(own, theirs, model, other)
        }
    }

    private func guessedPairs(_ model: ModelProgram, _ other: ModelProgram) -> [(Int, Int)] {
        let (first, second) = (Naming(model), Naming(other))
        return first.groups.keys.flatMap { name -> [(Int, Int)] in
            guard let own = first.group(name, besides: second),
                let theirs = second.group(name, besides: first)
            else { return [] }
            return pairs(own, theirs, model, other)
        }
    }

    private mutating func add(
        _ own: Int, _ theirs: Int, _ model: ModelProgram, _ other: ModelProgram
    ) {
        if model.values[own].shape == other.values[theirs].shape { indices[own] = theirs }
    }

    /// Values of one name: one by one where there are equally many. What a package has to say in
    /// several operations has its value with the last of them.
    private func pairs(
        _ own: [Int], _ theirs: [Int], _ model: ModelProgram, _ other: ModelProgram
    ) -> [(Int, Int)] {
        if own.count == theirs.count { return Array(zip(own, theirs)) }
        let isSaidInSeveral =
            own.count == 1 && !isPackage(model) && isPackage(other)
            || theirs.count == 1 && !isPackage(other) && isPackage(model)
        guard isSaidInSeveral, let a = own.last, let b = theirs.last else { return [] }
        return [(a, b)]
    }
}

private func isPackage(_ program: ModelProgram) -> Bool { program.model.package != nil }

/// A model's values by their names without the numbers that keep equal ones apart.
private struct Naming {
    private(set) var groups: [String: [Int]] = [:]
    /// For a convolution or product that what follows it may have gone into, what follows.
    private var followers: [String: Int] = [:]
    private let names: [String]

    init(_ model: ModelProgram) {
        let (values, outputs) = (model.values, Set(model.outputIndices.compactMap { $0 }))
        let plain = values.map { plainName($0.name) }
        let known = Set(plain)
        names = plain.map { withoutNumber($0, known) }
        for (place, name) in names.enumerated() where !outputs.contains(place) {
            groups[name, default: []].append(place)
        }
        var uses = [Int](repeating: 0, count: values.count)
        for input in values.flatMap(\.inputs) { uses[input] += 1 }
        for (place, value) in values.enumerated() where !outputs.contains(place) {
            guard ["batch_norm", "add"].contains(value.operation), let input = value.inputs.first,
                uses[input] == 1, groups[names[input]]?.count == 1
            else { continue }
            followers[names[input]] = place
        }
    }

    /// The values that have a name in another model. A normalization or bias that the other model
    /// does not have went into the weights before it, and the value there is that of both.
    func group(_ name: String, besides other: Naming) -> [Int]? {
        if let follower = followers[name], other.groups[names[follower]] == nil {
            return [follower]
        }
        return groups[name]
    }
}

/// A name as a package has it, without what coremltools adds for float16.
private func plainName(_ name: String) -> String {
    let legal = MILNames.legal(name)
    let suffix = "_cast_fp16"
    return legal.hasSuffix(suffix) ? String(legal.dropLast(suffix.count)) : legal
}

/// `relu_1` is another `relu` if there is one.
private func withoutNumber(_ name: String, _ known: Set<String>) -> String {
    guard let bar = name.lastIndex(of: "_"), name.index(after: bar) < name.endIndex,
        name[name.index(after: bar)...].allSatisfy(\.isNumber), known.contains(String(name[..<bar]))
    else { return name }
    return String(name[..<bar])
}

/// The values that a module of the original gave as a whole, by the module's path.
struct ActivationMatching {
    /// For places of the model's values, the paths of the activations.
    private(set) var paths: [Int: String] = [:]

    /// - Parameter images: the number of runs that share an activation's first dimension.
    init(_ model: ModelProgram, _ activations: [(path: String, shape: Shape)], images: Int) {
        let known = activations.map(\.path).sorted { $0.count > $1.count }
        let owners = model.values.map { owner(of: $0, known) }
        for (path, shape) in activations {
            let own = owners.indices.filter { isPart(owners[$0], of: path) }
            guard let last = own.last, model.values[last].shape.repeated(images) == shape,
                !model.goesOn(last, owners)
            else { continue }
            // Of a module and the last one in it, the one named first stands for both.
            if paths[last] == nil { paths[last] = path }
        }
    }
}

extension ModelProgram {
    /// Whether an output that is called after its purpose may belong to the same module: it is
    /// computed from the value and looks like it, and to no module by its name.
    fileprivate func goesOn(_ place: Int, _ owners: [String?]) -> Bool {
        zip(outputIndices, outputs).contains { output, name in
            guard let output, output != place, owners[output] == nil,
                values[output].name == name
            else { return false }
            return values[output].inputs.contains(place)
                && values[output].shape == values[place].shape
        }
    }
}

extension Shape {
    /// A batch of so many.
    fileprivate func repeated(_ count: Int) -> Shape {
        guard count > 1, rank > 0 else { return self }
        var shape = self
        shape[0] *= count
        return shape
    }
}

private func isPart(_ owner: String?, of path: String) -> Bool {
    guard let owner else { return false }
    return owner == path || owner.hasPrefix(path + ".")
}

/// The longest path that a value belongs to.
private func owner(of value: ComputedValue, _ paths: [String]) -> String? {
    if !value.module.isEmpty { return paths.first { isPart(value.module, of: $0) } }
    let name = plainName(value.name)
    return paths.first { path in
        let legal = MILNames.legal(path)
        return name == legal || name.hasPrefix(legal + "_")
    }
}
