/// The compiler's reflection metadata about the fields of a struct or the cases of an enum.
struct FieldDescriptor {
    let address: UnsafeRawPointer

    /// The maximum number of fields, which is higher than that of any type that a compiler can process.
    static let limit = 65_535

    struct FieldRecord {
        /// The name in the declaration; for a case, without its payload.
        var name: String
        /// The type of a field or payload; `nil` for a case without a payload.
        var type: MangledName?
        var isIndirect: Bool
    }

    /// The fields or cases; `nil` if this does not describe a struct or an enum.
    ///
    /// The cases with a payload precede those without one, as they do in memory.
    var records: [FieldRecord]? {
        let kind = (address + 8).load(as: UInt16.self)
        let size = Int((address + 10).load(as: UInt16.self)), count = Int((address + 12).load(as: UInt32.self))
        guard [0, 2, 3].contains(kind), size >= 12, count <= Self.limit else { return nil }
        return (0..<count).map { index in
            let record = address + 16 + index * size
            return FieldRecord(
                name: (record + 8).relative?.name ?? "", type: (record + 4).relative.flatMap(MangledName.init),
                isIndirect: record.load(as: UInt32.self) & 1 != 0)
        }
    }
}
