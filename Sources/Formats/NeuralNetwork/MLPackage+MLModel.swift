public import RetintFiles
import RetintMIL
public import RetintMLPackage

extension MLPackage {
    /// Reads a `.mlmodel` file with a neural network, the form of Core ML's models before
    /// packages, as a package in memory.
    ///
    /// The layers are converted to the operations of a program, in float32; float16 and quantized
    /// weights are unpacked. Arrays of float64 and float16 at the inputs and outputs become
    /// float32. A classifier gives its probabilities as an array.
    ///
    /// - Parameter path: The file.
    /// - Throws: ``MLPackageError`` if it cannot be read, is damaged or contains another kind of
    ///   model; `ConversionError` if it has a layer that is not supported.
    public init(contentsOfMLModel path: some PathConvertible) throws {
        let path = path.filePath
        do {
            self = try ModelFileReader.read(path)
        } catch var error as ConversionError {
            if error.file.isEmpty { error.file = path.string }
            throw error
        } catch let error as MLPackageError where error.file.isEmpty {
            throw MLPackageError(
                file: path.string, place: error.place, rule: error.rule, remedy: error.remedy)
        } catch {
            throw MLPackageError(error, file: path.string, remedy: ModelFileReader.remedy)
        }
    }
}
