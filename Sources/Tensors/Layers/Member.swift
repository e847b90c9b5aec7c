/// A parameter, counter or child of a module, under the name that PyTorch would give it.
struct Member {
    enum Value {
        case parameter(Parameter)
        case counter(Counter)
        case module(Module)
    }

    /// The order of PyTorch's state dict within one module.
    enum Rank: CaseIterable {
        case parameter, buffer, module
    }

    let name: String
    let value: Value

    var rank: Rank {
        switch value {
        case .parameter(let parameter): parameter.role == .parameter ? .parameter : .buffer
        case .counter: .buffer
        case .module: .module
        }
    }

    var identity: ObjectIdentifier {
        switch value {
        case .parameter(let parameter): ObjectIdentifier(parameter)
        case .counter(let counter): ObjectIdentifier(counter)
        case .module(let module): ObjectIdentifier(module)
        }
    }

    /// The members in one stored property: itself, the elements of an array, or those of a group.
    static func found(in property: Mirror.Child) -> [Member] {
        guard let label = property.label else { return [] }
        let name = snakeCase(label)
        if let member = Member(name: name, any: property.value) { return [member] }
        if let parameters = property.value as? NamedParameters {
            return parameters.entries.map { Member(name: $0, parameter: $1) }
        }
        if property.value is any ModuleGroup {
            return Mirror(reflecting: property.value).children.flatMap { found(in: $0) }
        }
        let elements: [Any]
        switch property.value {
        case let modules as [Module]: elements = modules
        case let parameters as [Parameter]: elements = parameters
        default: return []
        }
        return elements.enumerated().compactMap { Member(name: "\(name).\($0)", any: $1) }
    }

    init(name: String, module: Module) {
        self.name = name
        self.value = .module(module)
    }

    private init(name: String, parameter: Parameter) {
        self.name = name
        self.value = .parameter(parameter)
    }

    private init?(name: String, any: Any) {
        self.name = name
        switch any {
        case let module as Module: value = .module(module)
        case let parameter as Parameter: value = .parameter(parameter)
        case let counter as Counter: value = .counter(counter)
        default: return nil
        }
    }
}

/// `runningMean` → `running_mean`; the leading underscores of a property wrapper are dropped.
func snakeCase(_ label: String) -> String {
    let bare = label.hasPrefix("$__lazy_storage_$_") ? label.dropFirst(18) : label[...]
    return bare.unicodeScalars.drop { $0 == "_" }.reduce(into: "") { result, scalar in
        // Identifiers are nearly always ASCII, and Unicode's tables are slow.
        switch scalar {
        case "A"..."Z": result += "_\(Character(scalar).lowercased())"
        case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
        default:
            if scalar.properties.isUppercase { result += "_" }
            result += scalar.properties.lowercaseMapping
        }
    }
}
