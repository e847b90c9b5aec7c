import Foundation
import TensorGraph

/// A function of two numbers with broadcasting.
protocol BinaryReference: ReferenceOperation {
    func value(_ x: Double, _ y: Double) -> Double
}

extension BinaryReference {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        let (x, y) = (repeated(inputs[0], to: shape), repeated(inputs[1], to: shape))
        return zip(x, y).map(value)
    }
}

/// The elements of `array` broadcast to `shape`: repeated axes are walked with stride 0.
func repeated(_ array: ReferenceArray, to shape: Shape) -> [Double] {
    let added = [Int](repeating: 0, count: shape.rank - array.shape.rank)
    let own = zip(array.shape.dimensions, array.shape.strides).map { $0 == 1 ? 0 : $1 }
    return offsets(shape.dimensions, strides: added + own).map { array[$0] }
}

extension Add: BinaryReference { func value(_ x: Double, _ y: Double) -> Double { x + y } }
extension Subtract: BinaryReference { func value(_ x: Double, _ y: Double) -> Double { x - y } }
extension Multiply: BinaryReference { func value(_ x: Double, _ y: Double) -> Double { x * y } }
extension Divide: BinaryReference { func value(_ x: Double, _ y: Double) -> Double { x / y } }
extension Power: BinaryReference {
    func value(_ x: Double, _ y: Double) -> Double { Foundation.pow(x, y) }
}
extension Maximum: BinaryReference {
    func value(_ x: Double, _ y: Double) -> Double { x > y ? x : y }
}
extension Minimum: BinaryReference {
    func value(_ x: Double, _ y: Double) -> Double { x < y ? x : y }
}

extension ReluGradient: BinaryReference {
    func value(_ x: Double, _ y: Double) -> Double { y > 0 ? x : 0 }
}
extension Greater: BinaryReference {
    func value(_ x: Double, _ y: Double) -> Double { x > y ? 1 : 0 }
}
extension GreaterOrEqual: BinaryReference {
    func value(_ x: Double, _ y: Double) -> Double { x >= y ? 1 : 0 }
}
extension Equal: BinaryReference {
    func value(_ x: Double, _ y: Double) -> Double { x == y ? 1 : 0 }
}

extension Broadcast: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        repeated(inputs[0], to: shape)
    }
}
