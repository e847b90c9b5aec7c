/// The functions and types that a pickle of torch.save may name. None is looked up or called;
/// ``PickleMachine`` does for each what a state dict needs. Everything else is refused.
enum PyTorchGlobal: Hashable {
    case orderedDict
    case size
    case rebuildTensor
    case rebuildTensorV2
    /// For the newer element types, whose storages have no type.
    case rebuildTensorV3
    case rebuildParameter
    /// A type of storages or of tensors' elements.
    case elements(PyTorchElements)
    case untyped
    /// Numbers and devices other than weights, which are not read.
    case scalar

    init?(module: String, name: String) {
        if let known = Self.known["\(module).\(name)"] {
            self = known
        } else if module == "torch", let type = PyTorchElements(name: name) {
            self = .elements(type)
        } else {
            return nil
        }
    }

    private static let known: [String: PyTorchGlobal] = [
        "collections.OrderedDict": .orderedDict,
        "torch.Size": .size,
        "torch._utils._rebuild_tensor": .rebuildTensor,
        "torch._utils._rebuild_tensor_v2": .rebuildTensorV2,
        "torch._utils._rebuild_tensor_v3": .rebuildTensorV3,
        "torch._utils._rebuild_parameter": .rebuildParameter,
        "torch.storage.UntypedStorage": .untyped,
        "torch.UntypedStorage": .untyped,
        "torch.device": .scalar,
        "numpy.dtype": .scalar,
        "numpy.core.multiarray.scalar": .scalar,
        "numpy._core.multiarray.scalar": .scalar,
        "_codecs.encode": .scalar,
    ]

    /// The problem of an unknown name, and what to do.
    static func refusal(module: String, name: String) -> String {
        let shown = "\(module).\(name)".debugDescription
        let way = "save only the tensors: torch.save(model.state_dict(), path)"
        guard !module.hasPrefix("torch.nn.") else {
            return "is a whole module (\(shown)), which only its own code can rebuild; \(way)"
        }
        return "names \(shown), which is not called: only tensors and plain values are read; \(way)"
    }
}
