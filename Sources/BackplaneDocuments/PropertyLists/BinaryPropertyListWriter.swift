internal import FoundationEssentials

/// A writer of binary property lists in the format of CFBinaryPList.c in Core Foundation.
///
/// Each string is written once.
struct BinaryPropertyListWriter {
    /// The encoded objects, in which references have 4 bytes.
    private var objects: [[UInt8]] = []
    /// The numbers of the strings, keyed by their bytes: texts that look the same may differ in them.
    private var texts: [[UInt8]: Int] = [:]

    private let subject: DocumentSubject

    private static let bytesPerReference = 4

    private init(_ subject: DocumentSubject) { self.subject = subject }

    static func write(_ value: DocumentValue, _ order: some MemberOrder, _ subject: DocumentSubject)
        throws(DocumentError) -> Data
    {
        var writer = Self(subject)
        let top = try writer.add(value, order, at: DocumentPath())
        return writer.file(top: top)
    }

    /// Adds an object after the objects that it contains, and returns its number.
    private mutating func add(_ value: DocumentValue, _ order: some MemberOrder, at path: DocumentPath)
        throws(DocumentError) -> Int
    {
        switch value {
        case .null: throw DocumentError(unwritable: PropertyListWriter.noNull(subject), at: path)
        case .bool(let value): return append([value ? 0x09 : 0x08])
        case .integer(let value): return append(Self.integer(value))
        case .number(let value): return append([0x23] + Self.bigEndian(value.bitPattern))
        case .date(let value): return append([0x33] + Self.bigEndian(value.timeIntervalSinceReferenceDate.bitPattern))
        case .data(let value): return append(Self.marker(0x40, value.count) + value)
        case .string(let value): return add(value)
        case .array(let values):
            var references: [UInt8] = []
            for (index, value) in values.enumerated() {
                references += Self.reference(try add(value, order.elements, at: path / index))
            }
            return append(Self.marker(0xA0, values.count) + references)
        case .dictionary(let members):
            var keys: [UInt8] = [], values: [UInt8] = []
            for (key, value) in order.ordered(members) {
                keys += Self.reference(add(key))
                values += Self.reference(try add(value, order.member(key), at: path / key))
            }
            return append(Self.marker(0xD0, members.count) + keys + values)
        }
    }

    private mutating func add(_ text: String) -> Int {
        let bytes = Array(text.utf8)
        if let number = texts[bytes] { return number }
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        let wide = { text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }
        let number = append(
            isASCII ? Self.marker(0x50, text.utf8.count) + text.utf8 : Self.marker(0x60, text.utf16.count) + wide())
        texts[bytes] = number
        return number
    }

    private mutating func append(_ object: [UInt8]) -> Int {
        objects.append(object)
        return objects.count - 1
    }

    private func file(top: Int) -> Data {
        var file = Array("bplist00".utf8), offsets: [UInt8] = []
        for object in objects {
            offsets += Self.bigEndian(UInt64(file.count))
            file += object
        }
        let table = file.count
        file += offsets + [0, 0, 0, 0, 0, 0, 8, UInt8(Self.bytesPerReference)]
        for number in [objects.count, top, table] { file += Self.bigEndian(UInt64(number)) }
        return Data(file)
    }

    /// Returns a marker: a kind and a length, which follows as an integer if it does not fit.
    private static func marker(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 0xF ? [kind | UInt8(count)] : [kind | 0xF] + integer(Int64(count))
    }

    /// Returns an integer object.
    ///
    /// Integers of 8 bytes are signed; shorter ones are not.
    private static func integer(_ value: Int64) -> [UInt8] {
        switch value {
        case 0...0xFF: [0x10, UInt8(value)]
        case 0...0xFFFF: [0x11] + bigEndian(UInt64(value)).suffix(2)
        case 0...0xFFFF_FFFF: [0x12] + bigEndian(UInt64(value)).suffix(4)
        default: [0x13] + bigEndian(UInt64(bitPattern: value))
        }
    }

    private static func reference(_ number: Int) -> ArraySlice<UInt8> {
        bigEndian(UInt64(number)).suffix(bytesPerReference)
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
    }
}
