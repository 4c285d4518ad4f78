#if Engines
/// The values of a row, read from SQLite's record format.
///
/// A row consists of the types of its values, followed by the values ("Database File Format" of SQLite, section 2.1,
/// "Record Format").
struct RowValues {
    enum Value: Equatable {
        case null, integer(Int), real(Double), text(String), bytes([UInt8])
    }
    let values: [Value]

    /// Reads a row, or returns `nil` if the bytes are not exactly one row.
    init?(_ payload: [UInt8]) {
        var place = 0
        guard let headerSize = payload.variableInteger(at: &place), headerSize >= place, headerSize <= payload.count
        else { return nil }
        var types: [Int] = []
        while place < headerSize {
            guard let type = payload.variableInteger(at: &place), type >= 0 else { return nil }
            types.append(type)
        }
        guard place == headerSize else { return nil }
        var values: [Value] = []
        for type in types {
            let size = Self.size(of: type)
            guard size <= payload.count - place, let value = Self.value(of: type, payload[place..<place + size]) else {
                return nil
            }
            values.append(value)
            place += size
        }
        guard place == payload.count else { return nil }
        self.values = values
    }

    /// Returns the size of a value in bytes.
    private static func size(of type: Int) -> Int {
        switch type {
        case 0, 8, 9: 0
        case 1...4: type
        case 5: 6
        case 6, 7: 8
        default: max(0, (type - 12) / 2)
        }
    }

    /// Returns a value, or `nil` if its type is reserved or its text is not UTF-8.
    private static func value(of type: Int, _ bytes: ArraySlice<UInt8>) -> Value? {
        switch type {
        case 0: .null
        case 1...6:
            .integer(bytes.dropFirst().reduce(Int(Int8(bitPattern: bytes.first ?? 0))) { $0 << 8 | Int($1) })
        case 7: .real(Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
        case 8, 9: .integer(type - 8)
        case 10, 11: nil
        case _ where type % 2 == 0: .bytes(Array(bytes))
        default: String(validating: bytes, as: UTF8.self).map { .text($0) }
        }
    }
}
#endif
