/// The fields of a struct or the cases of an enum, as the compiler left them for reflection.
struct FieldDescriptor {
    let address: UnsafeRawPointer

    /// More than any type has that a compiler gets through.
    static let limit = 65_535

    struct Record {
        /// As declared; a case's without its payload.
        var name: String
        /// `nil`: a case without payload.
        var type: MangledName?
        var isIndirect: Bool
    }

    /// `nil` when it is not the record of a struct or an enum. An enum's cases with payload come before those without, as
    /// in its memory.
    var records: [Record]? {
        let kind = (address + 8).load(as: UInt16.self)
        let size = Int((address + 10).load(as: UInt16.self)), count = Int((address + 12).load(as: UInt32.self))
        guard [0, 2, 3].contains(kind), size >= 12, count <= Self.limit else { return nil }
        return (0..<count).map { index in
            let record = address + 16 + index * size
            return Record(
                name: (record + 8).relative?.name ?? "", type: (record + 4).relative.flatMap(MangledName.init),
                isIndirect: record.load(as: UInt32.self) & 1 != 0)
        }
    }
}
