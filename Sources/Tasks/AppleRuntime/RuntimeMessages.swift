import Foundation
import RetintFiles
import RetintTensorFiles
import RetintTensors

/// The file of a tensor, by the tensor's name.
struct NamedFile: Codable {
    let name: String
    let file: String
}

/// What `run_aimodel.py` is asked to do: the files of the inputs of each run.
struct RuntimeRequest: Encodable {
    static let file = "request.json"
    let runs: [[NamedFile]]
}

/// What `run_aimodel.py` answers.
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

    /// Reads the answer in a folder; nil if it is none.
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
    /// Reads the tensor; nil if the file lies elsewhere, or holds no floats.
    func tensor(in folder: String) throws(TensorFileError) -> TensorData? {
        guard !file.isEmpty, !file.contains("/"), file != "..", file != "." else { return nil }
        return try NumPyFile(folder.filePath.appending(file)).read().tensorData
    }
}
