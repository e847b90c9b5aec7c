import Foundation
import RetintFiles
import RetintTensorFiles
import RetintTensors

/// The file of a tensor, by the tensor's name.
struct NamedFile: Codable {
    let name: String
    let file: String
}

/// The request to `run_aimodel.py`: the files of the inputs of each run.
struct RuntimeRequest: Encodable {
    static let file = "request.json"
    let runs: [[NamedFile]]
}

/// The answer of `run_aimodel.py`.
struct RuntimeAnswer: Decodable {
    static let file = "result.json"
    private static let maximumBytes = 16 << 20

    struct Input: Decodable {
        let name: String
        let shape: [Int?]
    }

    let precision: String
    let compute: String
    let inputs: [Input]
    /// The files of the outputs of each run.
    let runs: [[NamedFile]]

    /// Reads the answer in a folder; nil if it is invalid.
    init?(in folder: String) {
        let path = folder.filePath.appending(Self.file)
        guard let file = try? RegularFile(path, followingLinks: false),
            let bytes = try? file.contents(maximumBytes: Self.maximumBytes),
            let answer = try? JSONDecoder().decode(Self.self, from: Data(bytes))
        else { return nil }
        self = answer
    }
}

extension NamedFile {
    /// Reads the tensor; nil if the file is outside the folder, or does not contain floats.
    func tensor(in folder: String) throws(TensorFileError) -> TensorData? {
        guard !file.isEmpty, !file.utf8.contains(UInt8(ascii: "/")), file != "..", file != "."
        else { return nil }
        return try NumPyFile(folder.filePath.appending(file)).read().tensorData
    }
}
