import FoundationEssentials

/// A reader of binary property lists in the format of CFBinaryPList.c in Core Foundation.
///
/// An object can occur in many places, so a few hundred bytes can expand endlessly. Foundation's decoder would then not
/// terminate.
struct BinaryPropertyListReader {
    private let subject: DocumentSubject
    private let bytes: [UInt8]
    /// The offset of each object.
    private var offsets: [Int] = []
    private var bytesPerReference = 1
    private var depth = 0
    private var valuesLeft = DocumentLimits.values
    /// The remaining bytes of strings and data, which can also be referenced many times.
    private var bytesLeft = DocumentLimits.bytes

    init(_ data: Data, as subject: DocumentSubject) { (bytes, self.subject) = (Array(data), subject) }

    /// Reads the trailer, the last 32 bytes: 6 unused bytes, two widths, and three numbers of 8 bytes.
    mutating func document() throws(DocumentError) -> DocumentValue {
        let trailer = bytes.count - 32
        guard trailer >= 8 else { throw broken("it is too short") }
        let width = Int(bytes[trailer + 6])
        bytesPerReference = Int(bytes[trailer + 7])
        guard (1...8).contains(width), (1...8).contains(bytesPerReference) else {
            throw broken("its trailer is invalid")
        }
        let count = try integer(at: trailer + 8, width: 8), top = try integer(at: trailer + 16, width: 8)
        let table = try integer(at: trailer + 24, width: 8)
        guard table <= trailer, count <= (trailer - table) / width else {
            throw broken("its table of objects is incomplete")
        }
        for index in 0..<count { offsets.append(try integer(at: table + index * width, width: width)) }
        return try object(top)
    }

    private mutating func object(_ number: Int) throws(DocumentError) -> DocumentValue {
        guard number < offsets.count, offsets[number] < bytes.count - 32 else {
            throw broken("it refers to an object that does not exist")
        }
        valuesLeft -= 1
        if valuesLeft < 0 { throw DocumentError(.unsupported, subject.tooManyValues) }
        let marker = bytes[offsets[number]], start = offsets[number] + 1
        switch (marker >> 4, marker & 0xF) {
        case (0x0, 0x0): return .null
        case (0x0, 0x8): return .bool(false)
        case (0x0, 0x9): return .bool(true)
        case (0x1, 0...3): return .integer(try signed(at: start, width: 1 << Int(marker & 0xF)))
        case (0x1, 4):
            // Integers of 16 bytes are written only for values beyond signed 64 bits.
            let low = UInt64(bitPattern: try signed(at: start + 8, width: 8))
            return Int64(exactly: low).map(DocumentValue.integer) ?? .number(Double(low))
        case (0x2, 2):
            let bits = UInt32(truncatingIfNeeded: try signed(at: start, width: 4))
            return DocumentValue(canonical: Double(Float(bitPattern: bits)))
        case (0x2, 3): return DocumentValue(canonical: try double(at: start))
        case (0x3, 3): return .date(Date(timeIntervalSinceReferenceDate: try double(at: start)))
        case (0x4, let length): return .data(Data(try contents(length, at: start)))
        case (0x5, let length): return .string(String(decoding: try contents(length, at: start), as: UTF8.self))
        case (0x6, let length):
            let pairs = try contents(length, at: start, width: 2)
            let units = stride(from: pairs.startIndex, to: pairs.endIndex, by: 2).map {
                UInt16(pairs[$0]) << 8 | UInt16(pairs[$0 + 1])
            }
            return .string(String(decoding: units, as: UTF16.self))
        case (0xA, let count):
            let (count, start) = try counted(count, at: start)
            return .array(try objects(count, at: start))
        case (0xD, let count):
            let (count, start) = try counted(count, at: start)
            let keys = try objects(count, at: start)
            valuesLeft += count  // as in the other formats, keys are no values
            return .dictionary(try members(keys, objects(count, at: start + count * bytesPerReference)))
        default: throw broken("it contains an object of an unknown kind, 0x\(String(marker, radix: 16))")
        }
    }

    private func members(_ keys: [DocumentValue], _ values: [DocumentValue]) throws(DocumentError)
        -> [String: DocumentValue]
    {
        var members: [String: DocumentValue] = [:]
        for (key, value) in zip(keys, values) {
            guard case .string(let key) = key else { throw broken("expected a string as a key, found \(key.kind)") }
            if key.utf8.count > DocumentLimits.key { throw DocumentError(.unsupported, DocumentLimits.keyTooLong) }
            guard members.updateValue(value, forKey: key) == nil else { throw broken("the key `\(key)` is repeated") }
        }
        return members
    }

    private mutating func objects(_ count: Int, at start: Int) throws(DocumentError) -> [DocumentValue] {
        _ = try slice(start, count, width: bytesPerReference)
        guard depth < DocumentLimits.depth else { throw DocumentError(.unsupported, DocumentLimits.tooDeep()) }
        depth += 1
        defer { depth -= 1 }
        var values: [DocumentValue] = []
        for index in 0..<count {
            values.append(try object(integer(at: start + index * bytesPerReference, width: bytesPerReference)))
        }
        return values
    }

    /// Returns a length and the offset of the contents.
    ///
    /// The length is in the marker or, if the marker contains 15, in the integer object that follows.
    private func counted(_ length: UInt8, at start: Int) throws(DocumentError) -> (Int, Int) {
        guard length == 0xF else { return (Int(length), start) }
        guard start < bytes.count, bytes[start] >> 4 == 0x1, bytes[start] & 0xF <= 3 else {
            throw broken("a length in it is not an integer")
        }
        let width = 1 << Int(bytes[start] & 0xF)
        return (try integer(at: start + 1, width: width), start + 1 + width)
    }

    private mutating func contents(_ length: UInt8, at start: Int, width: Int = 1) throws(DocumentError)
        -> ArraySlice<UInt8>
    {
        let (count, start) = try counted(length, at: start)
        let contents = try slice(start, count, width: width)
        bytesLeft -= contents.count
        if bytesLeft < 0 { throw subject.tooLarge }
        return contents
    }

    private func slice(_ start: Int, _ count: Int, width: Int) throws(DocumentError) -> ArraySlice<UInt8> {
        guard start <= bytes.count, count <= (bytes.count - start) / width else {
            throw broken("an object in it is truncated")
        }
        return bytes[start..<(start + count * width)]
    }

    /// Reads an integer.
    ///
    /// Integers of 8 bytes are signed; shorter integers are not.
    private func signed(at start: Int, width: Int) throws(DocumentError) -> Int64 {
        try slice(start, width, width: 1).reduce(0) { $0 << 8 | Int64($1) }
    }

    private func double(at start: Int) throws(DocumentError) -> Double {
        Double(bitPattern: UInt64(bitPattern: try signed(at: start, width: 8)))
    }

    /// Reads a length, an offset or an object's number, which is at most 2^32 - 1.
    private func integer(at start: Int, width: Int) throws(DocumentError) -> Int {
        let value = UInt64(bitPattern: try signed(at: start, width: width))
        guard value <= UInt64(UInt32.max) else { throw broken("a number in its structure is out of range") }
        return Int(value)
    }

    private func broken(_ reason: String) -> DocumentError {
        DocumentError(.malformed, "this is not a valid binary property list: \(reason)")
    }
}
