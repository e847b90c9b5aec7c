import RetintDeviceRules
import RetintONNXReading

extension ONNXModel {
    /// The number of int64 among ONNX's element types, as `Cast` names it.
    private static let int64 = 7

    /// The faults that the nodes may have; none if the file does not state that an affected version
    /// of PyTorch wrote it.
    var converterFaults: [ConverterFinding] {
        guard producer == "pytorch" else { return [] }
        let faults = ConverterFault.known(of: "torch.onnx", producerVersion)
        guard !faults.isEmpty else { return [] }
        let producers = Dictionary(
            nodes.flatMap { node in node.outputs.map { ($0, node) } }, uniquingKeysWith: { $1 })
        func input(_ node: ONNXNode) -> ONNXNode? {
            node.inputs.first.flatMap { producers[$0] }
        }
        func isTruncation(_ node: ONNXNode?) -> Bool {
            node?.operation == "Cast" && node?.attributes["to"] == .integer(Self.int64)
        }
        func matches(_ fault: String, _ node: ONNXNode) -> Bool {
            switch fault {
            case "log-sigmoid": node.operation == "Log" && input(node)?.operation == "Sigmoid"
            case "floor-division": isTruncation(node) && input(node)?.operation == "Div"
            case "softplus-threshold-onnx": node.operation == "Softplus"
            case "any-sum":
                node.operation == "Greater" && input(node)?.operation == "ReduceSum"
                    && isTruncation(input(node).flatMap(input))
            default: false
            }
        }
        return faults.compactMap { fault in
            // A file says nothing about arguments that were left out, or the types of values.
            ConverterFinding(
                fault, producerVersion, fault.id == "log-sigmoid" ? .present : .possible,
                nodes.filter { matches(fault.id, $0) }.map(\.title.plain))
        }
    }
}
