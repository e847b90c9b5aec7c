import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// Recurrent layers of one direction.
enum Recurrent: LayerFamily {
    static let readers: [String: LayerReader] = [
        "uniDirectionalLstm": { layer in
            let proto = layer.proto.uniDirectionalLstm
            guard !proto.params.hasPeepholeVectors_p, !proto.params.coupledInputAndForgetGate else {
                throw layer.error("peepholes and coupled gates are not supported")
            }
            return try layer.recurred(proto)
        }
    ]
}

extension ReadLayer {
    /// Smaller bounds of the cell would matter.
    private static let smallestClip: Float = 50

    fileprivate func recurred(
        _ proto: ProtoUniDirectionalLSTMLayerParams
    ) throws -> [LayerValue] {
        guard let x = inputs.first, [1, 3].contains(inputs.count), x.shape.count == 5,
            x.shape.suffix(2) == [1, 1]
        else { throw error("its inputs have to be a sequence of vectors, and two states") }
        let clip = proto.params.cellClipThreshold
        guard clip == 0 || clip >= Self.smallestClip else {
            throw error("a clipped cell (at \(clip)) is not supported")
        }
        let input = try size(proto.inputVectorSize, "the size of the input")
        let output = try size(proto.outputVectorSize, "the size of the output")
        let gates = proto.weightParams
        var parameters: [String: MILOperand] = [
            "x": .name(try squeezed(try exact(x), [3, 4])),
            "weight_ih": .name(
                try stacked(
                    [
                        gates.inputGateWeightMatrix, gates.forgetGateWeightMatrix,
                        gates.outputGateWeightMatrix, gates.blockInputWeightMatrix,
                    ], [output, input], "the weights")),
            "weight_hh": .name(
                try stacked(
                    [
                        gates.inputGateRecursionMatrix, gates.forgetGateRecursionMatrix,
                        gates.outputGateRecursionMatrix, gates.blockInputRecursionMatrix,
                    ], [output, output], "the recursion weights")),
            "direction": .text(proto.reverseInput ? "reverse" : "forward"),
            "output_sequence": .flag(proto.params.sequenceOutput),
            "bias": .name(try biases(proto, output)),
        ]
        for (index, parameter) in ["initial_h", "initial_c"].enumerated() {
            parameters[parameter] = .name(try state(index, [x.shape[1], output]))
        }
        let names = ["recurrent_activation", "cell_activation", "activation"]
        for (name, activation) in zip(names, proto.activations) {
            parameters[name] = .text(try self.name(of: activation))
        }
        let types = [MILDataType](repeating: .float32, count: 3)
        let results = try addSeveral("lstm", parameters, types)
        let whole = LayerValue(try expanded(results[0], [3, 4]))
        guard self.proto.output.count > 1 else { return [whole] }
        return try [whole]
            + results.dropFirst().map {
                LayerValue(try expanded($0, [0, 3, 4]))
            }
    }

    /// The matrices of the gates, one below the other.
    private func stacked(
        _ matrices: [ProtoWeightParams], _ shape: [Int], _ name: String
    ) throws -> Blob {
        let elements = try matrices.flatMap { try self.elements($0, shape, name) }
        return floats(elements, [matrices.count * shape[0]] + shape.dropFirst())
    }

    private func biases(
        _ proto: ProtoUniDirectionalLSTMLayerParams, _ count: Int
    ) throws -> Blob {
        let gates = proto.weightParams
        var vectors = [[Float]](repeating: [Float](repeating: 0, count: count), count: 4)
        if proto.params.hasBiasVectors_p {
            vectors = try [
                gates.inputGateBiasVector, gates.forgetGateBiasVector, gates.outputGateBiasVector,
                gates.blockInputBiasVector,
            ].map { try elements($0, [count], "the bias") }
        }
        if proto.params.forgetBias { vectors[1] = vectors[1].map { $0 + 1 } }
        return floats(vectors.flatMap { $0 }, [4 * count])
    }

    /// A state as [batch, size]; zeros if it is not an input.
    private func state(_ index: Int, _ shape: [Int]) throws -> Blob {
        guard inputs.count == 3 else {
            guard let count = shape.product else { throw error("\(shape) is too large") }
            try create(count)
            return floats([Float](repeating: 0, count: count), shape)
        }
        let state = inputs[index + 1]
        guard state.shape == [1] + shape + [1, 1] else {
            throw error("a state of \(state.shape) does not fit \(shape)")
        }
        return try squeezed(try exact(state), [0, 3, 4])
    }

    private func name(of activation: ProtoActivationParams) throws -> String {
        switch activation.nonlinearityType {
        case .linear: return "linear"
        case .relu: return "relu"
        case .tanh: return "tanh"
        case .scaledTanh: return "scaled_tanh"
        case .sigmoid: return "sigmoid"
        case .sigmoidHard: return "sigmoid_hard"
        default: throw error("an activation is of a type that recurrent layers do not have")
        }
    }
}
