/// Zip files, also such as no program writes.
package struct ZipMaker {
    package struct Record {
        package let name: [UInt8]
        package let content: [UInt8]
        package var method = 0
        package var flags = 0
        /// 0 says that there is none.
        package var checksum = 0
        /// What the directory says, if it is not the truth.
        package var storedBytes: Int?
        package var byteCount: Int?
        package var offset: Int?
        package var extra: [UInt8] = []
        /// The name in the record's own header, if it is another one.
        package var headerName: [UInt8]?

        package init(_ name: String, _ content: [UInt8]) {
            (self.name, self.content) = (Array(name.utf8), content)
        }

        package init(rawName: [UInt8]) { (name, content) = (rawName, []) }

        /// The record with something else in it.
        package func with<Value>(_ path: WritableKeyPath<Record, Value>, _ value: Value) -> Record {
            var record = self
            record[keyPath: path] = value
            return record
        }
    }

    package var records: [Record]
    package var disk = 0
    /// What the end says, if it is not the truth.
    package var entryCount: Int?
    package var directoryBytes: Int?
    package var directoryOffset: Int?
    /// Bytes between the directory and the end.
    package var beforeEnd: [UInt8] = []

    package init(records: [Record]) { self.records = records }

    package var bytes: [UInt8] {
        var (file, directory) = ([UInt8](), [UInt8]())
        for record in records {
            let offset = file.count
            let name = record.headerName ?? record.name
            file += number(0x0403_4b50, 4) + fields(of: record) + number(name.count, 2)
            file += number(0, 2) + name + record.content
            directory += number(0x0201_4b50, 4) + number(20, 2) + fields(of: record)
            directory += number(record.name.count, 2) + number(record.extra.count, 2)
            directory += number(0, 2 + 2 + 2 + 4) + number(record.offset ?? offset, 4)
            directory += record.name + record.extra
        }
        let end =
            number(0x0605_4b50, 4) + number(disk, 2) + number(disk, 2)
            + number(entryCount ?? records.count, 2) + number(entryCount ?? records.count, 2)
            + number(directoryBytes ?? directory.count, 4)
            + number(directoryOffset ?? file.count, 4) + number(0, 2)
        return file + directory + beforeEnd + end
    }

    private func fields(of record: Record) -> [UInt8] {
        number(20, 2) + number(record.flags, 2) + number(record.method, 2) + number(0, 4)
            + number(record.checksum, 4) + number(record.storedBytes ?? record.content.count, 4)
            + number(record.byteCount ?? record.content.count, 4)
    }

    private func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 < 8 ? value >> ($0 * 8) : 0) }
    }
}
