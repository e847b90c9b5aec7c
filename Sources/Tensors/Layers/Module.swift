import RetintGraph

/// A part of a network, with parameters and other modules in stored properties.
///
/// Names are PyTorch's. A property `modelOut` is the child `model_out`; an element of an array is
/// named by its index (`blocks.0`), and so are the layers of a ``Sequential`` (`model1.4`); the
/// modules of a ``ModuleGroup`` are named as if they were properties of the module itself.
/// Properties are listed in the order of their declaration, a superclass's first. Call
/// ``assignNames()`` once on the whole network, at the end of its initializer:
///
/// ```swift
/// final class Tiny: Module, ColorizerArchitecture {
///     static let architecture = "tiny"
///     static let requiredMultiple = 1
///     let first = Conv2d(1, 16, kernel: 3, padding: 1)  // first.weight, first.bias
///     let second = Conv2d(16, 2, kernel: 1)
///
///     init(options: ColorizerOptions) {
///         super.init()
///         assignNames()
///     }
///
///     func forward(_ lightness: Tensor) -> Tensor {
///         checkInput(lightness)
///         let x = relu(first(LabScaling.normalize(lightness: lightness)))
///         return LabScaling.denormalize(ab: tanh(second(x)))
///     }
/// }
/// ```
open class Module {
    /// The last part of the dotted path, such as `4` in `model1.4`; empty for the whole network.
    public internal(set) final var name = ""

    /// Creates a module without a name, which ``assignNames()`` gives it.
    public init() {}

    /// The parameters, counters and children, in the order of declaration.
    func members() -> [Member] {
        var mirrors: [Mirror] = []
        var mirror: Mirror? = Mirror(reflecting: self)
        while let current = mirror {
            mirrors.append(current)
            mirror = current.superclassMirror
        }
        return mirrors.reversed().flatMap(\.children).flatMap { Member.found(in: $0) }
    }

    /// Gives every parameter below this module its name in the state dict, and every module its
    /// name for error messages.
    public final func assignNames() {
        visit(prefix: "") { path, member in
            switch member.value {
            case .module(let module): module.name = member.name
            case .parameter(let parameter): parameter.name = path
            case .counter(let counter): counter.name = path
            }
        }
    }

    /// Runs `body`; its nodes and errors in `graph` get this module's name.
    public final func scoped<Result>(in graph: Graph, _ body: () -> Result) -> Result {
        name.isEmpty ? body() : graph.inModule(name, body)
    }

    /// Visits all members in the order of PyTorch's state dict: parameters, then buffers, then
    /// the child modules one after another. A module that is stored twice is visited once.
    final func visit(prefix: String, _ body: (String, Member) -> Void) {
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        visit(prefix: prefix, seen: &seen, body)
    }

    private func visit(
        prefix: String, seen: inout Set<ObjectIdentifier>, _ body: (String, Member) -> Void
    ) {
        let found = members()
        for rank in Member.Rank.allCases {
            for member in found where member.rank == rank {
                guard seen.insert(member.identity).inserted else { continue }
                body(prefix + member.name, member)
                guard case .module(let module) = member.value else { continue }
                module.visit(prefix: prefix + member.name + ".", seen: &seen, body)
            }
        }
    }
}

/// A group of modules, stored as one property of a module, whose names get no prefix for the group.
///
/// Networks can share a group without adding a level to the names in their state dicts.
public protocol ModuleGroup {}

/// A module that is a function of one tensor.
public protocol Layer: Module {
    /// Adds the layer's operations to `x`'s graph.
    func forward(_ x: Tensor) -> Tensor
}

extension Layer {
    /// Applies the layer; the nodes that it adds get its name.
    public func callAsFunction(_ x: Tensor) -> Tensor {
        scoped(in: x.graph) { forward(x) }
    }
}
