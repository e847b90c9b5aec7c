import Foundation
import RetintGraph
import RetintOperationCases
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintEngine
@testable import RetintFloat64

/// Operations in the arithmetics of devices, against the engine and against Swift's own types.
@Suite struct DeviceArithmeticTests {
    /// The largest difference from the engine's kernels in float32, which add in other orders, in
    /// units in the last place of the largest value.
    private func unitsFromEngine(_ testCase: OperationCase) throws -> Double {
        let graph = try CaseGraph(testCase)
        let engine = try graph.output.evaluate(
            inputs: graph.engineInputs, options: .init(threads: 1, winograd: .never)
        ).scalars
        let values = try evaluate(graph.output, graph.doubleFeeds, DeviceArithmetic())
        #expect(values.allSatisfy { Double(Float($0)) == $0 || $0.isNaN })
        #expect(values.count == engine.count)
        let largest = engine.map(\.magnitude).max() ?? 0
        let unit = Double(max(largest.ulp, Float.leastNormalMagnitude))
        let errors = zip(values, engine).map { value, wanted in
            value.isNaN && wanted.isNaN || value == Double(wanted)
                ? 0 : abs(value - Double(wanted)) / unit
        }
        return errors.max() ?? 0
    }

    /// In float32 to the nearest, operations are within 8 units of the engine, but for some sums of
    /// hundreds of terms.
    @Test func float32IsNearTheEngine() throws {
        let cases = OperationTable.cases.sampled("arithmetic")
        var far: [String] = []
        for testCase in cases {
            let units = try unitsFromEngine(testCase)
            #expect(units <= (testCase.name.contains("131k") ? 400 : 64), "\(testCase)")
            if units > 8 { far.append(testCase.name) }
        }
        // A sample may have more of them than its share.
        #expect(far.count <= cases.count / 12 + 8, "\(far)")
    }

    /// Rounds each node of a graph.
    private func evaluate(
        _ tensor: Tensor, _ inputs: [String: [Double]], _ arithmetic: DeviceArithmetic,
        isHalf: Bool = false, threads: Int = 2
    ) throws -> [Double] {
        let feeds = Float64Feeds(input: { inputs[$0] }, variable: { _ in nil })
        let rules = ArithmeticRules(threads: threads) { _ in
            NodeArithmetic(arithmetic, isHalf: isHalf, isResult: true)
        }
        var run = try Float64Run(tensor.graph, [tensor.id], feeds, rules)
        var last: [Double] = []
        while let (id, value) = try run.next() { if id == tensor.id { last = value.values } }
        return last
    }

    private static func half(_ change: (inout DeviceArithmetic) -> Void) -> DeviceArithmetic {
        var arithmetic = DeviceArithmetic()
        (arithmetic.results, arithmetic.sums, arithmetic.steps) = (.float16, .float16, .float16)
        change(&arithmetic)
        return arithmetic
    }

    // MARK: Rounding

    /// Numbers of all sizes, and those at the edges of both formats.
    private static let numbers: [Double] = {
        var random = RandomStream(seed: 7)
        let drawn = (0..<20_000).map { _ -> Double in
            let exponent = Int.random(in: -170...140, using: &random)
            let significand = 1 + Double(Int.random(in: 0..<8192, using: &random)) / 4096 / 2
            let sign = Bool.random(using: &random) ? 1.0 : -1
            let noise = Int.random(in: 0...2, using: &random)
            return sign * Double(sign: .plus, exponent: exponent, significand: significand)
                * (1 + Double(noise - 1) * 0x1p-50)
        }
        let edges: [Double] = [
            0, 65_504, 65_519.999, 65_520, 65_536, 0x1p-14, 0x1.ffcp-15, 0x1.ffep-15, 0x1p-24,
            0x1p-25, 0x1.8p-25, 0x1.8p-24, 0x1p-26, 0x1p-149, 0x1p-150, 0x1.8p-150, 0x1p-126,
            0x1.fffffep127, 0x1.ffffffp127, 0x1.fffffefp127, .infinity, 1 + 0x1p-11,
            1 + 0x1.8p-10, 1 + 0x1p-24, 2049, 2051, 0.1,
        ]
        return drawn + edges + edges.map { -$0 }
    }()

    @Test func nearestIsThatOfSwiftsTypes() {
        let half = Rounding(.float16, flushes: false, key: nil)
        let single = Rounding(.float32, flushes: false, key: nil)
        for number in Self.numbers {
            #expect(half(number, at: 3).bitPattern == Double(Float16(number)).bitPattern)
            #expect(single(number, at: 3).bitPattern == Double(Float(number)).bitPattern)
        }
        for rounding in [half, single] {
            #expect(rounding(.nan, at: 0).isNaN)
            #expect(rounding(Double(bitPattern: 0x7fff_ffff_ffff_ffff), at: 0).isNaN)
        }
    }

    @Test func subnormalsAreFlushed() {
        for number in Self.numbers {
            let half = Rounding(.float16, flushes: true, key: nil)(number, at: 0)
            let isSmall = number.magnitude < 0x1p-14
            #expect(half == (isSmall ? 0 : Double(Float16(number))))
            #expect(half.sign == number.sign)
            let single = Rounding(.float32, flushes: true, key: nil)(number, at: 0)
            #expect(single == (number.magnitude < 0x1p-126 ? 0 : Double(Float(number))))
        }
    }

    /// Between two neighbors, and on average the number itself.
    @Test(arguments: [
        1 + 0.3 * 0x1p-10, -1 - 0.9 * 0x1p-10, 1000.01, 0.7 * 0x1p-24, 5.25 * 0x1p-24,
        -0x1.0004p-14,
    ])
    func stochasticRoundingIsUnbiased(_ number: Double) {
        let count = 40_000
        let rounded = (0..<count).map { index in
            Rounding(.float16, flushes: false, key: UInt64(index / 4))(number, at: index % 4)
        }
        let neighbors = Set(rounded).sorted()
        #expect(neighbors.count == 2)
        #expect(neighbors[0] < number && number < neighbors[1])
        #expect(neighbors.allSatisfy { Double(Float16($0)) == $0 })
        let gap = neighbors[1] - neighbors[0]
        let mean = rounded.reduce(0) { $0 + ($1 - number) / gap } / Double(count)
        #expect(abs(mean) < 5 * 0.5 / Double(count).squareRoot(), "bias \(mean)")
    }

    @Test func numbersOfTheFormatStay() {
        for number in Self.numbers {
            for key in [nil, 1, 2] as [UInt64?] {
                let half = Rounding(.float16, flushes: false, key: key)(number, at: 5)
                #expect(Rounding(.float16, flushes: false, key: 9)(half, at: 1) == half)
                #expect(Rounding(.float16, flushes: false, key: nil)(half, at: 1) == half)
            }
        }
    }

    // MARK: Sums

    private static let orders: [SumOrder] = [
        .sequential, .reversed, .interleaved, .pairwise, .blocks(4), .blocks(32),
    ]

    /// Each term is added once, to a partial sum that has begun.
    @Test(arguments: orders) func plansAddAllTerms(_ order: SumOrder) {
        for count in 1...70 {
            let plan = SumPlan(order, count: count)
            let sum = plan.sum({ Double(1 << min($0, 40)) + Double($0) }, +)
            let wanted = (0..<count).reduce(0) { $0 + Double(1 << min($1, 40)) + Double($1) }
            #expect(sum == wanted, "\(count) terms")
        }
        #expect(SumPlan(order, count: 0).sum({ _ in 1 }, +) == 0)
    }

    /// Ones that are added in float16 no longer change a sum of 2048.
    @Test(arguments: zip(orders, [2048.0, 2048, 4096, 4096, 4096, 4096]))
    func sumsOfOnesStall(_ order: SumOrder, _ wanted: Double) throws {
        let graph = Graph()
        let sum = graph.input("x", [4096]).sum()
        let ones = [Double](repeating: 1, count: 4096)
        func value(_ format: DeviceArithmetic.Format) throws -> [Double] {
            try evaluate(
                sum, ["x": ones], Self.half { ($0.order, $0.sums) = (order, format) },
                isHalf: true)
        }
        #expect(try value(.float16) == [wanted])
        #expect(try value(.float32) == [4096])
    }

    /// The values of a matrix, in float16.
    private static func matrix(_ count: Int, seed: UInt64) -> [Double] {
        var random = RandomStream(seed: seed)
        return (0..<count).map { _ in Double(Float16(random.uniform() * 4 - 2)) }
    }

    @Test(arguments: [false, true], [false, true])
    func productsAreThoseOfFloat16(_ fuses: Bool, _ isTransposed: Bool) throws {
        let (rows, inner, columns) = (3, 37, 300)
        let (x, y) = (Self.matrix(rows * inner, seed: 1), Self.matrix(inner * columns, seed: 2))
        let graph = Graph()
        let shape: Shape = isTransposed ? [columns, inner] : [inner, columns]
        let product = matmul(
            graph.input("x", [rows, inner]), graph.input("y", shape), transposeY: isTransposed)
        let arithmetic = Self.half { $0.fusesProducts = fuses }
        let values = try [1, 2, 3].map { threads in
            try evaluate(
                product, ["x": x, "y": y], arithmetic, isHalf: true, threads: threads)
        }
        #expect(Set(values).count == 1)
        for place in 0..<rows * columns {
            let (row, column) = (place / columns, place % columns)
            var sum: Float16 = 0
            for term in 0..<inner {
                let factor = isTransposed ? y[column * inner + term] : y[term * columns + column]
                let (a, b) = (Float16(x[row * inner + term]), Float16(factor))
                // A double holds the sum before it is rounded.
                sum = fuses ? Float16(Double(sum) + Double(a) * Double(b)) : sum + a * b
            }
            #expect(values[0][place] == Double(sum))
        }
    }

    /// A convolution is the product of its patches.
    @Test func convolutionsAddInOrder() throws {
        let x = Self.matrix(2 * 25, seed: 3)
        let weight = Self.matrix(2 * 9, seed: 4)
        let graph = Graph()
        let y = conv2d(
            graph.input("x", [1, 2, 5, 5]), weight: graph.input("w", [1, 2, 3, 3]), bias: nil)
        for order in Self.orders {
            let values = try evaluate(
                y, ["x": x, "w": weight], Self.half { $0.order = order }, isHalf: true)
            let rounding = Rounding(.float16, flushes: false, key: nil)
            let terms = (0..<18).map { term in
                let (channel, i, j) = (term / 9, term / 3 % 3, term % 3)
                return rounding(
                    weight[term] * x[channel * 25 + (1 + i) * 5 + 2 + j], at: 0)
            }
            let sum = SumPlan(order, count: 18).sum({ terms[$0] }, { rounding($0 + $1, at: 0) })
            #expect(values[1 * 3 + 2] == sum)
        }
    }

    // MARK: Functions

    @Test(arguments: [10, 11], DeviceArithmetic.Format.allCases)
    func errorsOfFunctionsAreWithinTheirBounds(
        _ bits: Int, _ format: DeviceArithmetic.Format
    ) throws {
        let x = (1...4000).map { Double(Float16(Double($0) / 400 + 0.5)) }
        let graph = Graph()
        let input = graph.input("x", [4000])
        let arithmetic = Self.half { ($0.functionBits, $0.steps) = (bits, format) }
        let isHalf = format == .float16
        let bound = Foundation.pow(2, -Double(isHalf ? bits : 2 * bits))
        for (y, function) in [
            (exp(input), Foundation.exp), (log(input), Foundation.log),
            (sqrt(input), { $0.squareRoot() }), (1 / input, { 1 / $0 }),
            (RetintGraph.tanh(input), Foundation.tanh), (erf(input), Foundation.erf),
        ] as [(Tensor, (Double) -> Double)] {
            let values = try evaluate(y, ["x": x], arithmetic, isHalf: isHalf)
            let errors = zip(values, x).filter { $0.0 != 0 }.map { abs($0 / function($1) - 1) }
            #expect(errors.max()! <= bound + (isHalf ? 0x1.01p-11 : 0x1.01p-24))
            #expect(errors.max()! > 0.9 * bound)
        }
    }

    @Test func tablesAreNearTheirFunctions() throws {
        let x = (0..<4000).map { Double(Float16(Double($0) / 200 - 10)) }
        let graph = Graph()
        let input = graph.input("x", [4000])
        let arithmetic = Self.half { $0.sigmoidSegments = 512 }
        for (y, exact) in [
            (sigmoid(input), x.map { 1 / (1 + Foundation.exp(-$0)) }),
            (RetintGraph.tanh(input), x.map { Foundation.tanh($0) }),
        ] {
            let values = try evaluate(y, ["x": x], arithmetic, isHalf: true)
            let errors = zip(values, exact).map { abs($0 - $1) }
            // The error of the table, that of its end, and half a unit in the last place.
            #expect(errors.max()! <= 0x1p-11 + 0x1p-12 && errors.max()! > 0x1p-13)
            #expect(try evaluate(y, ["x": x], arithmetic) != values)
        }
    }

    /// Indices beyond 2048 are not rounded to float16, if they are exact themselves.
    @Test func indicesStay() throws {
        let graph = Graph()
        let (x, indices) = (graph.input("x", [4000]), graph.input("i", [2]))
        let picked = gather(x, axis: 0, indices: indices)
        let values = (0..<4000).map { Double($0 % 7) }
        let feeds = Float64Feeds(
            input: { $0 == "x" ? values : [3001, 3003] }, variable: { _ in nil })
        let rules = ArithmeticRules(threads: 1) { id in
            id == picked.id
                ? NodeArithmetic(Self.half { _ in }, isHalf: true, isResult: true) : nil
        }
        var run = try Float64Run(graph, [picked.id], feeds, rules)
        var last: [Double] = []
        while let next = try run.next() { last = next.value.values }
        #expect(last == [values[3001], values[3003]])
    }

    // MARK: In one line

    @Test func descriptionsAreRead() {
        for precision in DeviceArithmetic.Format.allCases {
            let drawn = DeviceArithmetic.drawn(300, for: precision, seed: 5)
            #expect(Set(drawn).count == 300)
            for arithmetic in drawn {
                #expect(DeviceArithmetic(arithmetic.description) == arithmetic)
                let formats = [arithmetic.results, arithmetic.sums, arithmetic.steps]
                let isSingle = precision == .float32 || arithmetic.results == .float32
                #expect(!isSingle || Set(formats) == [.float32])
            }
        }
        let half = DeviceArithmetic.drawn(400, for: .float16, seed: 5)
        let share = Double(half.count { $0.results == .float16 }) / 400
        #expect(abs(share - 0.75) < 0.08)
        #expect(DeviceArithmetic.drawn(-1, for: .float32, seed: 0).isEmpty)
    }

    @Test(arguments: [
        "", "16", "results", "results=float64", "order=blocks:1", "order=blocks:99999999999999",
        "order=blocks:", "functions=2^-99", "functions=2^--4", "sigmoid=table:x",
        "seed=-1", "seed=1 seed=2", "products=maybe", "speed=fast", "order=sequential:4",
    ])
    func whatIsNoArithmeticIsRefused(_ text: String) {
        #expect(DeviceArithmetic(text) == nil)
    }
}
