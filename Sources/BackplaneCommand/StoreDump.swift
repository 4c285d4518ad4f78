import Backplane
import BackplaneControl
import BackplaneDocuments
import BackplaneRecords
import BackplaneStorage
import BackplaneTools
import FoundationEssentials
import Glibc

/// The lines of a file or of standard input, read lazily, and again after ``rewind()``.
final class DumpReader {
    private let path: String
    private let descriptor: Int32
    /// The place of the first line in the file.
    private let beginning: off_t
    /// The number of the last line.
    private(set) var number = 0
    private var bytes: [UInt8] = []
    private var start = 0
    private var isEnded = false
    /// The maximum length of a line: a record of maximum size in base64.
    private static let limit = 128 << 20

    /// Opens a file.
    ///
    /// - Parameter path: The path, or `-` for standard input.
    /// - Throws: `store.unusable`.
    init(_ path: String) throws(BackplaneError) {
        self.path = path
        let given = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard given >= 0 else { throw Self.unreadable(path) }
        let place = lseek(given, 0, SEEK_CUR)
        guard place < 0 else {
            (descriptor, beginning) = (given, place)
            return
        }
        defer { close(given) }
        guard let copy = Self.copy(of: given) else { throw Self.unreadable(path) }
        (descriptor, beginning) = (copy, 0)
        try rewind()
    }

    deinit { close(descriptor) }

    /// Copies the rest of a pipe to an unnamed file, because a pipe can be read only once.
    private static func copy(of pipe: Int32) -> Int32? {
        guard let file = tmpfile() else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(pipe, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 && fflush(file) == 0 ? dup(fileno(file)) : nil }
            guard fwrite(buffer, 1, count, file) == count else { return nil }
        }
    }

    /// Returns to the first line.
    ///
    /// - Throws: `store.unusable`.
    func rewind() throws(BackplaneError) {
        guard lseek(descriptor, beginning, SEEK_SET) >= 0 else { throw Self.unreadable(path) }
        (bytes, start, isEnded, number) = ([], 0, false, 0)
    }

    /// Returns the next line without its newline, or `nil` at the end.
    ///
    /// The byte order mark that some editors put at the start of a file is skipped.
    func next() throws(BackplaneError) -> [UInt8]? {
        guard let line = try nextLine() else { return nil }
        number += 1
        return number == 1 && line.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(line.dropFirst(3)) : line
    }

    private func nextLine() throws(BackplaneError) -> [UInt8]? {
        var searched = start
        while true {
            if let end = bytes[searched...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return Array(bytes[start..<end])
            }
            if isEnded {
                defer { start = bytes.count }
                return start < bytes.count ? Array(bytes[start...]) : nil
            }
            bytes.removeSubrange(..<start)
            (start, searched) = (0, bytes.count)
            guard bytes.count < Self.limit else {
                throw BackplaneError(.callInvalidInput, "a line is longer than \(Self.limit >> 20) MB", at: path)
            }
            try read()
        }
    }

    private func read() throws(BackplaneError) {
        let size = 1 << 16, old = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: size))
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + old, size) }
        guard count >= 0 || errno == EINTR else { throw Self.unreadable(path) }
        bytes.removeLast(size - max(count, 0))
        isEnded = count == 0
    }

    private static func unreadable(_ path: String) -> BackplaneError {
        BackplaneError(.storeUnusable, "the file cannot be read: \(String(cString: strerror(errno)))", at: path)
    }
}

/// A line of a dump: a collection with its indexes, or a record.
///
/// A collection's line precedes the lines of its records:
///
/// ```
/// {"namespace":"BookStore","collection":"loans","indexes":[{"name":"due","paths":["due"],"unique":false}]}
/// {"namespace":"BookStore","collection":"loans","id":"7","value":{"id":"7","due":1}}
/// ```
enum RecordLine {
    case collection(namespace: String, CollectionDefinition)
    case record(namespace: String, collection: String, StoredRecord)

    /// The part of a line that is decoded; the value of a record is copied verbatim from the line.
    private struct Form: Codable {
        var namespace: String
        var collection: String
        var indexes: [IndexDefinition]?
        var id: String?
        /// The record's bytes, unless they are single-line JSON.
        var base64: String?
    }

    /// Returns the line, without a newline.
    ///
    /// - Throws: `control.failed` if a string cannot be encoded.
    func bytes() throws(BackplaneError) -> [UInt8] {
        switch self {
        case .collection(let namespace, let definition):
            return try Self.encode(
                Form(
                    namespace: namespace, collection: definition.name,
                    indexes: definition.indexes))
        case .record(let namespace, let collection, let record):
            let form = Form(namespace: namespace, collection: collection, id: record.id)
            guard JSONReader.isJSON(record.value), !record.value.contains(where: { $0 == 0x0A || $0 == 0x0D }) else {
                var other = form
                other.base64 = Data(record.value).base64EncodedString()
                return try Self.encode(other)
            }
            return try Self.encode(form).dropLast() + Array(#","value":"#.utf8) + record.value + [UInt8(ascii: "}")]
        }
    }

    private static func encode(_ form: Form) throws(BackplaneError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(form))
        } catch {
            throw BackplaneError(.storeUnusable, "the line of \(form.collection) cannot be encoded: \(error)")
        }
    }

    /// Reads a line.
    ///
    /// - Throws: `call.invalid-input` for an invalid line.
    init(_ line: [UInt8]) throws(BackplaneError) {
        let place: Range<Int>?
        do throws(DocumentError) {
            place = try Self.place(ofMember: "value", in: line)
        } catch {
            throw BackplaneError(.callInvalidInput, "expected a JSON object: \(error.reason)")
        }
        let form: Form
        do throws(BackplaneError) {
            form = try JSON.decode(Form.self, line, failing: .callInvalidInput)
        } catch {
            throw error.adding(
                "; expected a line as `backplane store dump` prints it, with `namespace`, `collection`, and the `id` "
                    + "and `value` of a record or the `indexes` of the collection; correct the line")
        }
        try RecordLimits.check(name: form.namespace, "a namespace")
        guard let id = form.id else {
            guard let indexes = form.indexes else {
                throw BackplaneError(
                    .callInvalidInput, "expected the `id` of a record or the `indexes` of a collection")
            }
            let definition = CollectionDefinition(form.collection, indexes: indexes)
            try RecordLimits.check(definition)
            self = .collection(namespace: form.namespace, definition)
            return
        }
        let value: [UInt8]
        if let base64 = form.base64 {
            guard let bytes = Data(base64Encoded: base64).map(Array.init) else {
                throw BackplaneError(.callInvalidInput, "expected base64", at: "/base64")
            }
            value = bytes
        } else if let place {
            value = Array(line[place])
        } else {
            throw BackplaneError(.callInvalidInput, "the record \(id.debugDescription) has no `value`")
        }
        let record = StoredRecord(id: id, value: value)
        try RecordLimits.check(RecordBatch([.save(collection: form.collection, record)]))
        self = .record(namespace: form.namespace, collection: form.collection, record)
    }

    /// Returns the place of a member's value in an object.
    private static func place(ofMember key: String, in object: [UInt8]) throws(DocumentError) -> Range<Int>? {
        var reader = JSONReader(object), place: Range<Int>?
        _ = try reader.next()
        while let token = try reader.next() {
            let name = reader.key, value = try reader.rest(of: token)
            if name == key { place = value }
        }
        return place
    }
}

/// The records of a dump that are stored together.
struct RestoredBatch {
    private let isOverwriting: Bool
    private var records: [(collection: String, record: StoredRecord)] = []
    private var namespace = ""
    /// The size of the values.
    private var size = 0
    /// The line of the batch's last record in the dump, and the line of the last stored record.
    private var last = 0, stored = 0

    init(isOverwriting: Bool) { self.isOverwriting = isOverwriting }

    /// Returns whether there is room for a record.
    func takes(_ record: StoredRecord, in namespace: String) -> Bool {
        records.isEmpty
            || namespace == self.namespace && records.count < 500 && size + record.value.count <= 8 << 20
    }

    mutating func add(_ record: StoredRecord, to collection: String, in namespace: String, line: Int) {
        records.append((collection, record))
        (self.namespace, last) = (namespace, line)
        size += record.value.count
    }

    /// Stores the records, and begins another batch.
    ///
    /// - Throws: The store's error, with the number of records that were stored before the error.
    mutating func write(to store: StoreHandle, _ progress: CountingLine) async throws(BackplaneError) {
        guard !records.isEmpty else { return }
        do throws(BackplaneError) {
            try await store.restore(records, overwriting: isOverwriting, in: namespace)
        } catch {
            var message = error.message
            if error.code == .storeConflict {
                message = "a record with this id already exists; --overwrite replaces such records"
            }
            message += " (\(progress.count) records were restored before, up to line \(stored))"
            throw BackplaneError(error.code, message, at: error.location, causes: error.causes)
        }
        progress.add(records.count)
        stored = last
        (records, size) = ([], 0)
    }
}
