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
            do {
                return try writeWithOthers(as: format, write, to: path, named: name, options) {
                    "written with other operations: \(refusal.place): \(refusal.rule)"
                }
            } catch let reason as ConversionError where reason.rule == refusal.rule {
                throw refusal
            } catch let reason as any RetintError where reason.fault == refusal.fault {
                throw ConversionError(
                    refusal.kind, file: refusal.file, place: refusal.place, rule: refusal.rule,
                    remedy: "\(refusal.remedy) Others cannot take its place: \(reason)")
            }
        }
    }

    /// Writes the package with the operations of a package that is made of its network anew.
    private func writeWithOthers(
        as format: ModelFormat, _ write: ModelFormat.PackageWriter, to path: String,
        named name: String, _ options: ModelWritingOptions, note: () -> String
    ) throws -> WrittenModel {
        var own = try ExportOptions(keepingThoseOf: self)
        (own.target, own.foldsBatchNorm) = (.iOS26, false)
        let (other, summary) = try Model(self, name: name).converted(
            own, sizes: false, for: format)
        var written = try write(other, path, options)
        written.notes.append(note())
        if !summary.decompressed.isEmpty {
            written.notes.append(
                "\(summary.decompressed.listed()): written decompressed, since other operations "
                    + "use them in another form")
        }
        return written
    }
}
