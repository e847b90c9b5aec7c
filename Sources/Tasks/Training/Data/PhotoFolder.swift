import RetintFiles
import RetintImages
import RetintLayers
import RetintPhotoData
import RetintRuntime
import RetintTensors

/// The training photos and the validation photos.
struct PhotoFolder {
    var training: [PhotoReference]
    var validation: [PhotoReference]

    /// Lists the photos that a configuration names.
    ///
    /// - Parameter leaveOut: is told of each photo whose path is not UTF-8, which is left out.
    /// - Throws: `FileError` if a folder cannot be read, ``TrainingError`` if one has no photos.
    init(
        _ data: TrainingConfiguration.DataSettings,
        leavingOut leaveOut: @escaping (FileError) -> Void = { _ in }
    ) throws {
        training = try Self.photos(in: data.train, leaveOut)
        validation = []
        if let folder = data.validation {
            validation = try Self.photos(in: folder, leaveOut)
        } else if data.validationFraction > 0 {
            try split(data)
        }
        // Spread over the folder: neighbors are often similar.
        let key = { (photo: PhotoReference) in
            var random = RandomStream(seed: 1, name: "\(photo)")
            return random.next()
        }
        validation.sort { (key($0), "\($0)") < (key($1), "\($1)") }
        validation = Array(validation.prefix(data.validationPhotos))
    }

    /// Some of the training photos, spread over all.
    func sample(_ most: Int) -> [PhotoReference] {
        guard training.count > most else { return training }
        return (0..<most).map { training[$0 * training.count / most] }
    }

    /// A hash of the names of the photos, their file sizes and a digest of both ends of each file.
    /// If it changes, a resumed run differs from an uninterrupted one. The folder may have
    /// moved.
    var fingerprint: String {
        var hash = ContentHash()
        // Asking a pack for each of its photos would take long.
        var packs: [PhotoPack: String] = [:]
        for photos in [training, validation] {
            for photo in photos {
                hash.update(Array("\(Self.line(for: photo, &packs))\n".utf8))
            }
            hash.update(Array("/\n".utf8))
        }
        return hash.digest.hexadecimal
    }

    /// - Parameter packs: the signatures of packed datasets.
    private static func line(
        for photo: PhotoReference, _ packs: inout [PhotoPack: String]
    ) -> String {
        switch photo {
        case .file(let path):
            let signature = try? FileSignature(of: RegularFile(path))
            let name = path.filePath.lastComponent?.string ?? path
            return "\(name) \(signature?.description ?? "missing")"
        case .packed(let pack, let name):
            let signature = packs[pack] ?? pack.signature
            packs[pack] = signature
            return "\(name) \(signature)"
        }
    }

    private static func photos(
        in source: String, _ leaveOut: @escaping (FileError) -> Void
    ) throws -> [PhotoReference] {
        let photos = try PhotoReference.list(source, leavingOut: leaveOut)
        guard !photos.isEmpty else {
            throw TrainingError(
                .noPhotos, file: source,
                "contains no photos; \(ImageFormat.readable) files are read")
        }
        return photos
    }

    /// Only a photo's name decides its split, so that it stays there when others are added.
    private mutating func split(_ data: TrainingConfiguration.DataSettings) throws {
        let all = training
        let share = { (photo: PhotoReference) in
            let name = "\(photo)".dropFirst(data.train.count)
            var random = RandomStream(seed: 0, name: String(name))
            return random.uniform()
        }
        let limit = max(data.validationFraction, all.map(share).min() ?? 0)
        validation = all.filter { share($0) <= limit }
        training = all.filter { share($0) > limit }
        guard !training.isEmpty else {
            let problem =
                all.count == 1
                ? "the only photo went to validation"
                : "all \(all.count) photos went to validation, and none is left to train on"
            throw TrainingError(
                .noPhotos, file: data.train,
                "\(problem); add photos, or set data.validation_fraction to 0")
        }
    }
}
