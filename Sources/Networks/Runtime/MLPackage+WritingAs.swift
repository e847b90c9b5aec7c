public import RetintCheckpoints
import RetintExport
import RetintFiles
import RetintMIL
public import RetintMLPackage

extension MLPackage {
    /// Writes the package in a format. Where that does not have all of its operations, others take
    /// their place, as in the package of a network, and a note says so.
    ///
    /// - Parameters:
    ///   - write: of the format.
    ///   - name: of the package, for errors.
    /// - Throws: `ConversionError` for an operation that has no counterpart, nor can be replaced;
    ///   the errors of writing.
    public func write(
        as format: ModelFormat, _ write: ModelFormat.PackageWriter, to path: String,
        named name: String, _ options: ModelWritingOptions = .init()
    ) throws -> WrittenModel {
        do {
            return try write(self, path, options)
        } catch let refusal as ConversionError
            where refusal.kind == .model && !format.options.contains(.target)
        {
            let (other, decompressed): (MLPackage, [String])
            do {
                var own = try ExportOptions(keepingThoseOf: self)
                (own.target, own.foldsBatchNorm) = (.iOS26, false)
                let converted = try Model(self, name: name).converted(
                    own, sizes: false, for: format)
                (other, decompressed) = (converted.package, converted.summary.decompressed)
            } catch let reason as ConversionError {
                throw ConversionError(
                    refusal.kind, file: refusal.file, place: refusal.place, rule: refusal.rule,
                    remedy: "Others cannot take its place: \(reason.place): \(reason.rule). "
                        + refusal.remedy)
            }
            var written = try write(other, path, options)
            written.notes.append(
                "written with other operations: \(refusal.place): \(refusal.rule)")
            if !decompressed.isEmpty {
                written.notes.append(
                    "\(decompressed.listed()): written decompressed, since other operations use "
                        + "them in another form")
            }
            return written
        }
    }
}
