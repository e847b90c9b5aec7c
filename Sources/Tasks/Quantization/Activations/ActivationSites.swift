import RetintMIL
import RetintMLPackage

/// A value of a package that is quantized before operations use it.
struct ActivationSite: Hashable {
    let value: String
    let scheme: ActivationScheme
}

/// The values of a package that a plan quantizes.
struct ActivationSites {
    private(set) var sites: [ActivationSite] = []
    /// The sites of each operation, by its index and the names of its inputs.
    private(set) var uses: [Int: [String: ActivationSite]] = [:]
    private let constants: Set<String>
    private let producers: [String: MILOperation]
    private let types: [String: MILTensorType]
    /// The indices of the operations by their names.
    private let indices: [String: [Int]]

    /// The parameters that hold values, not weights or settings.
    private static let parameters = ["x", "y", "values"]
    /// Operations with a weight: its other input is quantized.
    private static let weighted: Set<String> = ["conv", "conv_transpose", "linear", "matmul"]

    init(_ package: MLPackage, _ plan: SchemeSelection<ActivationScheme>) {
        let operations = package.program.operations
        producers = operations.byOutput
        types = package.program.types
        indices = Dictionary(grouping: operations.indices) { operations[$0].name }
        constants = Set(
            operations.filter { $0.isConstant || $0.isConstantExpression }
                .flatMap { $0.outputs.map(\.name) })
        var seen: Set<ActivationSite> = []
        for (index, operation) in operations.enumerated() where !operation.isConstant {
            let scheme = plan.scheme(
                names: operation.ownNames, type: operation.type, isStandard: isStandard(operation))
            guard let scheme, let values = values(of: operation) else { continue }
            for value in values {
                let site = ActivationSite(value: value, scheme: scheme)
                uses[index, default: [:]][value] = site
                if seen.insert(site).inserted { sites.append(site) }
            }
        }
    }

    private func isStandard(_ operation: MILOperation) -> Bool {
        guard ActivationScheme.standardTypes.contains(operation.type) else { return false }
        let operands = ["x", "y"].compactMap { operation.inputs[$0]?.first?.name }
        return operation.type != "matmul" || operands.contains(where: constants.contains)
    }

    /// The inputs of an operation that can be quantized; nil if it is left as it is. As in
    /// coremltools, an operation without a weight needs all its inputs in integers.
    private func values(of operation: MILOperation) -> [String]? {
        let arguments = Self.parameters.flatMap { operation.inputs[$0] ?? [] }
        let names = arguments.compactMap(\.name).filter { !constants.contains($0) }
        guard names.count == arguments.count || Self.weighted.contains(operation.type) else {
            return nil
        }
        let floats = names.filter { types[$0]?.dataType.isFloat == true }
        guard floats.count == names.count else { return nil }
        return floats.filter { producers[$0]?.type != "dequantize" }
    }

    func type(of site: ActivationSite) -> MILTensorType? { types[site.value] }

    /// A site of an operation; nil if its inputs stay floats.
    func first(of operation: MILOperation) -> ActivationSite? {
        indices[operation.name]?.lazy.compactMap { uses[$0]?.values.first }.first
    }

    /// Those of some operations alone, by their names.
    func used(by operations: Set<String>) -> ActivationSites {
        var result = self
        let own = Set(operations.flatMap { indices[$0] ?? [] })
        result.uses = uses.filter { own.contains($0.key) }
        let used = Set(result.uses.values.joined().map(\.value))
        result.sites = sites.filter(used.contains)
        return result
    }
}

extension MLPackage {
    /// The package with values rounded to integers and restored before operations use them.
    ///
    /// - Parameter grids: the integers of each site; sites without one stay floats.
    /// - Returns: the package, and the names of the restored values.
    func quantizing(
        _ sites: ActivationSites, _ grids: [ActivationSite: AffineGrid]
    ) -> (package: MLPackage, restored: [ActivationSite: String]) {
        var result = self
        var names = Set(program.types.keys)
        var restored: [ActivationSite: String] = [:]
        result.program.operations = []
        for (index, operation) in program.operations.enumerated() {
            var operation = operation
            for (value, site) in (sites.uses[index] ?? [:]).sorted(by: { $0.key < $1.key }) {
                guard let grid = grids[site], let type = sites.type(of: site) else { continue }
                if restored[site] == nil {
                    let pair = QuantizedValue(site, type, grid, &names)
                    result.program.operations += pair.operations
                    restored[site] = pair.name
                }
                operation.replaceInputs(value, by: restored[site] ?? value)
            }
            result.program.operations.append(operation)
        }
        return (result, restored)
    }
}

extension MLPackage {
    /// The package without the rounding of some sites, which operations then use as floats.
    func keepingFloats(_ kept: Set<ActivationSite>, _ restored: [ActivationSite: String])
        -> MLPackage
    {
        let originals = Dictionary(
            kept.compactMap { site in restored[site].map { ($0, site.value) } }
        ) { first, _ in first }
        var result = self
        for index in result.program.operations.indices {
            let names = result.program.operations[index].inputs.values.joined().compactMap(\.name)
            for name in names {
                guard let original = originals[name] else { continue }
                result.program.operations[index].replaceInputs(name, by: original)
            }
        }
        result.program.removeUnused()
        return result
    }
}

extension MILOperation {
    fileprivate mutating func replaceInputs(_ old: String, by new: String) {
        inputs = inputs.mapValues { $0.map { $0.name == old ? .name(new) : $0 } }
    }
}

/// The operations that round a value to integers and restore it.
private struct QuantizedValue {
    let operations: [MILOperation]
    /// The restored value.
    let name: String

    init(
        _ site: ActivationSite, _ type: MILTensorType, _ grid: AffineGrid,
        _ names: inout Set<String>
    ) {
        let integers = names.insertUnused("\(site.value)_quantized")
        name = names.insertUnused("\(site.value)_dequantized")
        var integerType = type
        integerType.dataType = grid.dataType
        var parameters: [String: [MILArgument]] = [
            "scale": [.value(.float(grid.scales[0], as: type.dataType))]
        ]
        if let zero = grid.zeroPoints?[0] {
            parameters["zero_point"] = [.value(.packed([zero], shape: [], as: grid.dataType))]
        }
        let rounding = [
            "input": [MILArgument.name(site.value)],
            "output_dtype": [.value(.string("\(grid.dataType)"))],
        ]
        operations = [
            MILOperation(
                "quantize", inputs: parameters.merging(rounding) { $1 },
                outputs: [MILNamedType(integers, integerType)]),
            MILOperation(
                "dequantize", inputs: parameters.merging(["input": [.name(integers)]]) { $1 },
                outputs: [MILNamedType(name, type)]),
        ]
    }
}
