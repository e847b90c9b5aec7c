import RetintTensors
import Testing

@testable import RetintVerification

/// Pairs of values that do not share names.
@Suite struct StructuralMatchingTests {
    private typealias Item = StructuralMatching.Item

    private func item(
        _ operation: String, _ inputs: [Int], _ scalars: [Float], shape: Shape? = nil
    ) -> StructuralMatching.Item {
        Item(
            operation: operation, shape: shape ?? [scalars.count], inputs: inputs,
            signature: ValueSignature(scalars))
    }

    /// A chain of operations whose values have nothing in common.
    private func chain(_ operations: [String], faultAt fault: Int? = nil) -> [Item] {
        operations.enumerated().map { index, operation in
            let isWrong = fault.map { index >= $0 } ?? false
            let scalars = (0..<8).map { element in
                Float((index * 7 + element * 5) % 11 - 5) + (isWrong ? Float(element * 3) : 0)
            }
            return item(operation, index == 0 ? [] : [index - 1], scalars)
        }
    }

    @Test func valuesPairWhateverTheOrder() {
        let own = chain(["conv2d", "relu", "conv2d", "tanh"])
        let others = [3, 1, 0, 2].map { own[$0] }
        let matching = StructuralMatching(own, others)
        #expect(matching.pairs.mapValues(\.other) == [0: 2, 1: 1, 2: 3, 3: 0])
        #expect(matching.pairs.values.allSatisfy { $0.pairing == .values })
    }

    /// The values of two normalizations resemble each other; a fault changes a value as much.
    @Test func modulesTellResemblingValuesApart() {
        let scalars: [Float] = [1, -2, 3, 4, -5, 6, 7, -8]
        var own = item("", [], scalars)
        for (module, other, isPaired) in [
            ("norm2", "norm1", false), ("norm2", "norm2", true), ("norm2", "norm2.scale", false),
            ("layer.norm", "layer", true), ("norm2", "norm", false), ("layer", "layer.norm", false),
        ] {
            for (offset, isNear) in [(Float(0.3), false), (1e-4, true)] {
                own.module = module
                var theirs = item("", [], scalars.map { $0 + offset })
                theirs.module = other
                let matching = StructuralMatching(
                    [own], [theirs], agreement: 1e-3, outputDifference: 0)
                #expect(
                    (matching.pairs[0] != nil) == (isPaired || isNear),
                    "\(module) \(other) \(offset)")
            }
        }
    }

    /// Behind a fault no value agrees; what is computed in the same way belongs together.
    @Test func structurePairsBehindAFault() {
        let operations = ["conv2d", "relu", "conv2d", "relu", "conv2d"]
        let matching = StructuralMatching(chain(operations), chain(operations, faultAt: 2))
        #expect(matching.pairs.mapValues(\.other) == [0: 0, 1: 1, 2: 2, 3: 3, 4: 4])
        let pairings = (0..<5).map { matching.pairs[$0]?.pairing }
        #expect(pairings == [.values, .values, .structure, .structure, .structure])
    }

    /// Recorded modules: convolutions are folded into their normalizations, and a function between
    /// modules is none of them, so that neither is compared with what comes next.
    @Test func kindsOfModulesLeaveOutWhatIsFolded() {
        let own = chain(["conv2d", "relu", "conv2d", "relu", "conv2d"])
        let wrong = chain(["", "", "", "", ""], faultAt: 0)
        func recorded(_ index: Int, _ name: String, _ scalars: ValueSignature?) -> Item {
            Item(
                operation: "", shape: [8], inputs: [], signature: scalars, module: name,
                kind: ModuleKind(className: name))
        }
        let others = [
            recorded(0, "Conv2d", wrong[3].signature), recorded(1, "BatchNorm2d", own[0].signature),
            recorded(2, "Conv2d", wrong[0].signature),
            recorded(3, "BatchNorm2d", wrong[1].signature),
            recorded(4, "Conv2d", wrong[4].signature),
        ]
        let matching = StructuralMatching(own, others, agreement: 1e-3)
        #expect(matching.pairs.mapValues(\.other) == [0: 1, 2: 3, 4: 4])
        // A package that still has normalizations has the convolutions' own values.
        var whole = own
        whole[1] = item("batch_norm", [0], [1, 2, 3, 4, 5, 6, 7, 9])
        let unfolded = StructuralMatching(whole, others, agreement: 1e-3)
        #expect(unfolded.pairs[2]?.other == 2)
    }

    @Test func classesHaveKinds() {
        #expect(ModuleKind(className: "ConvTranspose2d") == .weighted)
        #expect(ModuleKind(className: "BatchNorm2d") == .normalization(isFixed: true))
        #expect(ModuleKind(className: "GroupNorm") == .normalization(isFixed: false))
        #expect(ModuleKind(className: "GELU") == .unweighted)
        #expect(ModuleKind(className: "Block") == nil)
    }

    /// Another operation at the place of the fault is not a counterpart.
    @Test func anotherOperationIsNotPaired() {
        let own = chain(["conv2d", "relu", "tanh"])
        let others = chain(["conv2d", "sigmoid", "tanh"], faultAt: 1)
        let matching = StructuralMatching(own, others)
        #expect(matching.pairs[0]?.other == 0 && matching.pairs[1] == nil)
    }

    /// Of equal values, the first ones belong together.
    @Test func copiesPairInOrder() {
        let scalars: [Float] = [1, -2, 3, 4]
        let own = [item("relu", [], scalars), item("reshape", [0], scalars, shape: [2, 2])]
        let others = [item("relu", [], scalars), item("reshape", [0], scalars, shape: [2, 2])]
        let matching = StructuralMatching(own, others)
        #expect(matching.pairs.mapValues(\.other) == [0: 0, 1: 1])
    }

    /// An equal name counts after the values, and only for one operation.
    @Test func namesCountAfterValues() {
        let own = chain(["conv2d", "relu"])
        let names = [
            0: StructuralMatching.Pair(other: 1, pairing: .name),
            1: StructuralMatching.Pair(other: 0, pairing: .name),
        ]
        let matching = StructuralMatching(own, chain(["conv2d", "relu"]), names: names)
        #expect(matching.pairs.mapValues(\.other) == [0: 0, 1: 1])
        let faulty = chain(["conv2d", "relu"], faultAt: 0)
        let named = StructuralMatching(
            own, faulty, names: [1: StructuralMatching.Pair(other: 1, pairing: .name)])
        #expect(
            named.pairs == [
                0: StructuralMatching.Pair(other: 0, pairing: .structure),
                1: StructuralMatching.Pair(other: 1, pairing: .name),
            ])
    }

    /// A fault in the first operation, which is computed from the inputs alone.
    @Test func theFirstOperationIsPairedIfOutputsDiffer() {
        let operations = ["conv2d", "relu", "conv2d"]
        let (own, faulty) = (chain(operations), chain(operations, faultAt: 0))
        let matching = StructuralMatching(own, faulty, outputDifference: 0.5)
        #expect(matching.pairs.mapValues(\.other) == [0: 0, 1: 1, 2: 2])
        let agreeing = StructuralMatching(own, faulty, outputDifference: 1e-4)
        #expect(agreeing.pairs.isEmpty)
    }

    private func activations(_ items: [Item]) -> [Item] {
        items.map { Item(operation: "", shape: $0.shape, inputs: [], signature: $0.signature) }
    }

    /// Recorded activations have no edges; behind a fault, they are paired in their order.
    @Test func activationsPairInOrderBehindAFault() {
        let own = chain(["conv2d", "relu", "conv2d"])
        let pairs = StructuralMatching(own, activations(chain(["", "", ""], faultAt: 1))).pairs
        #expect(pairs.mapValues(\.other) == [0: 0, 1: 1, 2: 2])
        #expect(pairs.values.count { $0.pairing == .structure } == 2)
    }

    /// Where the outputs agree, nothing is wrong: the others are other forms of the same network.
    @Test func activationsOfARightNetworkPairByValuesAlone() {
        let own = chain(["conv2d", "relu", "conv2d"])
        let others = activations(chain(["", "", ""], faultAt: 1))
        let matching = StructuralMatching(own, others, outputDifference: 0)
        #expect(matching.pairs.mapValues(\.other) == [0: 0])
    }

    /// What leads to a value that agrees is right, and needs no pair: no module returns it.
    @Test func whatLeadsToAgreementIsNotPaired() {
        let own = chain(["conv2d", "add", "conv2d", "relu"])
        var others = activations(own)
        // A module whose value the program does not have, in the place of the sum.
        others[1] = activations(chain([""], faultAt: 0))[0]
        let pairs = StructuralMatching(own, others).pairs
        #expect(pairs.mapValues(\.other) == [0: 0, 2: 2, 3: 3])
    }

    /// Without an order, nothing can be said.
    @Test func activationsInAnotherOrderPairByValuesAlone() {
        let own = chain(["conv2d", "relu", "conv2d", "tanh", "conv2d", "relu"])
        let faulty = chain(["", "", "", "", "", ""], faultAt: 4)
        let others = activations([3, 1, 0, 2, 5, 4].map { faulty[$0] })
        #expect(Set(StructuralMatching(own, others).pairs.keys) == [0, 1, 2, 3])
    }

    /// Zeros say nothing about what they are.
    @Test func zerosAreNotPaired() {
        let zeros = [item("relu", [], [0, 0, 0])]
        #expect(StructuralMatching(zeros, zeros).pairs.isEmpty)
    }

    /// A million elements are compared at the same few places.
    @Test func signaturesAreShort() {
        let scalars = (0..<1_000_000).map { Float($0 % 977) }
        var signature = ValueSignature(scalars)
        #expect(signature.elements.count == ValueSignature.length)
        signature.add(scalars)
        #expect(signature.elements.count == 2 * ValueSignature.length)
        var other = ValueSignature(scalars.map { $0 * 1.01 })
        #expect(signature.distance(to: other) == .infinity)
        other.add(scalars.map { $0 * 1.01 })
        #expect(abs(signature.distance(to: other) - 0.0099) < 1e-4)
        #expect(ValueSignature([.nan]).distance(to: ValueSignature([1])) == .infinity)
    }
}
