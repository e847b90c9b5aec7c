import Engine
import Retint
import TensorGraph

/// A model whose colors a smaller one learns from (Hinton et al., "Distilling the Knowledge in a
/// Neural Network", 2015). It infers, and does not learn.
final class Teacher {
    private let program: ModelProgram

    /// - Throws: What reading the model throws; `ModelError` if it does not run on the crops.
    init(_ path: String, _ configuration: TrainingConfiguration) throws {
        let side = configuration.data.crop
        program = try Model(contentsOf: path).program(
            batch: configuration.batch, height: side, width: side,
            options: CompileOptions(threads: configuration.threads))
    }

    /// a and b, divided by 110, as the teacher sees them: [N, 2, H, W].
    func target(for batch: Batch) throws -> TensorData {
        let pictures = try program.predict(lightness: batch.lightness.scalars)
        let scalars = pictures.flatMap { $0.a + $0.b }.map { $0 / Batch.abScale }
        return TensorData(shape: batch.target.shape, scalars: scalars)
    }
}
