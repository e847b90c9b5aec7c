package import Foundation

/// The path of a recorded file in the `Goldens` folder of a test target.
///
/// - Parameters:
///   - target: The test target whose folder is meant; that of the calling file if nil.
///   - file: The calling file.
package func goldenPath(
    _ name: String, of target: String? = nil, file: String = #filePath
) -> String {
    var folder = URL(filePath: file).deletingLastPathComponent()
    if let target { folder = folder.deletingLastPathComponent().appending(path: target) }
    return folder.appending(path: "Goldens/\(name)").path
}

/// Decodes a recorded JSON file of the calling test target.
///
/// - Parameter keys: How the file spells its keys.
package func decodeGolden<Value: Decodable>(
    _ name: String, keys: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
    file: String = #filePath
) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = keys
    let path = goldenPath(name, file: file)
    return try decoder.decode(Value.self, from: Data(contentsOf: URL(filePath: path)))
}
