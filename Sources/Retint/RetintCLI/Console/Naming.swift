import Retint

/// Runs `body` and adds the package's name to errors about it.
func naming<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch var error as ConversionError {
        if error.file.isEmpty { error.file = file }
        throw error
    }
}
