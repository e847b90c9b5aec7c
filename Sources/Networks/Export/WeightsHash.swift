import RetintFiles
import RetintGraph
import RetintTensors

/// SHA-256 of the weights as little-endian float32 values, in the order of their names' bytes: the
/// same for equal weights, whichever file they come from.
package func weightsHash(_ variables: [String: TensorData]) -> String {
    var hash = ContentHash()
    for (_, data) in variables.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
        hash.update(data.scalars)
    }
    return hash.digest.hexadecimal
}
