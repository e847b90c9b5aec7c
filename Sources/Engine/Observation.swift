import TensorGraph

/// A run that goes on from one observed value to the next, so that none but those just computed
/// have to be in memory.
///
///     var run = try program.start(inputs)
///     while let values = run.next() { … }
///     let outputs = run.finish()
///
/// A program has one run at a time; runs of several programs may take turns.
public struct ObservedRun {
    private let program: Program
    private var step = -1

    init(_ program: Program) {
        self.program = program
    }

    /// Goes on until observed values were computed, and gives those: they can be read until the
    /// next call. Nil when all steps are done.
    public mutating func next() -> [ObservedValue]? {
        while step < program.stepCount {
            let values = step < 0 ? program.firstObserved : program.advance(step)
            step += 1
            if !values.isEmpty { return values }
        }
        return nil
    }

    /// Runs what is left, and gives the outputs by name.
    public mutating func finish() -> [String: TensorData] {
        while next() != nil {}
        return program.observedOutputs
    }
}

/// An observed value, where the program keeps it for now.
public struct ObservedValue {
    /// Its place among the values that the program was asked to observe.
    public let index: Int
    let buffer: Buffer

    public var shape: Shape { buffer.shape }

    /// The value, row-major.
    public var data: TensorData { TensorData(shape: shape, scalars: buffer.scalars()) }

    /// Copies the numbers in the order of the engine, which is the same for equal shapes: quicker
    /// to get than ``data`` where two values are compared number by number.
    ///
    /// - Parameter numbers: what was there is lost, but its memory is used again.
    public func copyScalars(to numbers: inout [Float]) {
        numbers.removeAll(keepingCapacity: true)
        numbers.append(
            contentsOf: UnsafeBufferPointer(start: buffer.pointer, count: buffer.count))
    }

    /// The largest |number|; infinite or NaN if any number is.
    public var largestMagnitude: Float {
        let numbers = UnsafeBufferPointer(start: buffer.pointer, count: buffer.count)
        return Float(bitPattern: largestMagnitudeBits(numbers))
    }
}

/// Without their signs, bit patterns are in the order of the magnitudes: infinity comes behind all
/// numbers, and NaN behind that.
private func largestMagnitudeBits(_ numbers: UnsafeBufferPointer<Float>) -> UInt32 {
    typealias Lanes = SIMD16<Int32>
    let bytes = UnsafeRawBufferPointer(numbers)
    let mask = Lanes(repeating: .max)
    var largest = Lanes()
    let whole = numbers.count - numbers.count % Lanes.scalarCount
    for start in stride(from: 0, to: whole, by: Lanes.scalarCount) {
        let lanes = bytes.loadUnaligned(fromByteOffset: 4 * start, as: Lanes.self) & mask
        largest.replace(with: lanes, where: lanes .> largest)
    }
    let rest = numbers[whole...].reduce(0) { max($0, $1.magnitude.bitPattern) }
    return max(UInt32(largest.max()), rest)
}

/// After which step each observed value is there.
struct Observations {
    /// What depends on the inputs or variables alone, before the first step.
    private(set) var atStart: [ObservedValue] = []
    private(set) var afterStep: [Int: [ObservedValue]] = [:]

    init(_ nodes: [Int], in compiler: Compiler) {
        for (index, node) in nodes.enumerated() {
            guard let buffer = compiler.buffers[node] else { continue }
            let value = ObservedValue(index: index, buffer: buffer)
            if let step = compiler.step(computing: node) {
                afterStep[step, default: []].append(value)
            } else {
                atStart.append(value)
            }
        }
    }
}

extension Compiler {
    /// The step of a run that computes a node; nil for what is there before.
    fileprivate func step(computing node: Int) -> Int? {
        let source = origin(node)
        let step = stepWrites.firstIndex { $0.contains(source) }
        return step.flatMap { steps[$0].isHoisted ? nil : $0 }
    }
}
