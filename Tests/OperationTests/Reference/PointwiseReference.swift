import Foundation
import TensorGraph

/// A function of one number.
protocol UnaryReference: ReferenceOperation {
    func value(_ x: Double) -> Double
}

extension UnaryReference {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        inputs[0].values.map(value)
    }
}

extension Negate: UnaryReference { func value(_ x: Double) -> Double { -x } }
extension Exp: UnaryReference { func value(_ x: Double) -> Double { Foundation.exp(x) } }
extension Log: UnaryReference { func value(_ x: Double) -> Double { Foundation.log(x) } }
extension SquareRoot: UnaryReference { func value(_ x: Double) -> Double { x.squareRoot() } }
extension Absolute: UnaryReference { func value(_ x: Double) -> Double { x.magnitude } }

extension Floor: UnaryReference {
    func value(_ x: Double) -> Double { x.rounded(.down) }
}
extension Round: UnaryReference {
    func value(_ x: Double) -> Double { x.rounded(.toNearestOrEven) }
}
extension Sine: UnaryReference { func value(_ x: Double) -> Double { Foundation.sin(x) } }
extension Cosine: UnaryReference { func value(_ x: Double) -> Double { Foundation.cos(x) } }
extension ArcTangent: UnaryReference { func value(_ x: Double) -> Double { Foundation.atan(x) } }

extension Clip: UnaryReference {
    func value(_ x: Double) -> Double { Swift.min(Swift.max(x, Double(minimum)), Double(maximum)) }
}

extension Relu: UnaryReference { func value(_ x: Double) -> Double { x > 0 ? x : 0 } }
extension LeakyRelu: UnaryReference {
    func value(_ x: Double) -> Double { x > 0 ? x : x * Double(negativeSlope) }
}
extension Relu6: UnaryReference {
    func value(_ x: Double) -> Double { Swift.min(Swift.max(x, 0), 6) }
}
extension HardSwish: UnaryReference {
    func value(_ x: Double) -> Double { x * Swift.min(Swift.max(x + 3, 0), 6) / 6 }
}
extension Sigmoid: UnaryReference {
    func value(_ x: Double) -> Double { 1 / (1 + Foundation.exp(-x)) }
}
extension Tanh: UnaryReference { func value(_ x: Double) -> Double { Foundation.tanh(x) } }
