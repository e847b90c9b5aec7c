// The command line, and `operations DEVICE ARITHMETIC PART/PARTS [NAME...]`, which computes a part
// of the table of operations with gradients on a device and compares it with the reference, or of
// the cases whose names begin with one of those: for Scripts/check gpu.
import Glibc
import RetintCLI
import RetintEngine
import RetintGraph
import RetintOperationCases
import RetintTensors

/// The values of a case and its gradients on a device, after two runs that must agree.
func values(
    of graph: CaseGraph, _ device: Execution.Device, _ arithmetic: Arithmetic = .float32
) throws -> [[Float]] {
    let tensors = [graph.output] + graph.gradients
    let names = tensors.indices.map { "value \($0)" }
    var options = CompileOptions()
    (options.device, options.arithmetic) = (device, arithmetic)
    let program = try Program(outputs: Array(zip(names, tensors)), options: options)
    var shapes: [String: Shape] = ["weights": graph.output.shape]
    for (index, input) in graph.inputs.enumerated() { shapes["input \(index)"] = input.shape }
    let feeds = graph.feeds.reduce(into: [String: TensorData]()) { feeds, next in
        if let shape = shapes[next.key] {
            feeds[next.key] = TensorData(shape: shape, scalars: next.value)
        }
    }
    let first = try program.run(feeds)
    for _ in 0..<2 where try program.run(feeds) != first {
        throw ShapeError("a second run has another result")
    }
    return names.map { first[$0]?.scalars ?? [] }
}

/// The normalized mean square error.
func error(_ found: [Float], _ expected: [Float]) -> Double {
    guard found.count == expected.count else { return .infinity }
    var (error, size) = (0.0, 0.0)
    for (found, expected) in zip(found, expected) where found != expected {
        error += (Double(found) - Double(expected)) * (Double(found) - Double(expected))
    }
    for expected in expected { size += Double(expected) * Double(expected) }
    // A value that should be zero may be off by what rounding makes of others.
    return error == 0 ? 0 : error / max(size, 1e-12 * Double(expected.count))
}

func compareOperations(
    _ cases: [OperationCase], _ device: Execution.Device, _ arithmetic: Arithmetic
) -> Bool {
    let bound = [Arithmetic.float32: 1e-9, .tf32: 1e-3][arithmetic] ?? 1e-2
    var (failures, largest) = (0, 0.0)
    for testCase in cases {
        do {
            let graph = try CaseGraph(testCase)
            let expected = try values(of: graph, .reference)
            let found = try values(of: graph, device, arithmetic)
            let errors = zip(found, expected).map { error($0, $1) }
            let worst = errors.max { $1.isNaN || $0 < $1 } ?? 0
            largest = max(largest, worst)
            guard !(worst <= bound) else { continue }
            print("\(testCase.name): errors \(errors)")
        } catch {
            print("\(testCase.name): \(error)")
        }
        failures += 1
    }
    print(
        "operations on \(device.rawValue) in \(arithmetic.rawValue): "
            + "\(cases.count) cases, \(failures) failures, largest error \(largest)")
    return failures == 0
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count >= 4, arguments[0] == "operations",
    let device = Execution.Device(rawValue: arguments[1]),
    let arithmetic = Arithmetic(rawValue: arguments[2])
{
    let names = arguments.dropFirst(4)
    let cases = OperationTable.cases.filter { testCase in
        names.isEmpty || names.contains { testCase.name.hasPrefix($0) }
    }
    let part = arguments[3].split(separator: "/").compactMap { Int($0) }
    guard part.count == 2, part[1] > 0 else { exit(64) }
    let own = cases.enumerated().filter { $0.offset % part[1] == part[0] }.map(\.element)
    exit(compareOperations(own, device, arithmetic) ? 0 : 1)
}
await runRetint()
