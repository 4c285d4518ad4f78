import FoundationEssentials

/// A type of the standard library or Foundation whose values both sides hand over without looking into it.
///
/// There is one copy of it in the process, and its values hold nothing of types that it does not name. So not `AnyHashable`,
/// `Predicate` or `AttributedString`, nor pointers.
struct StandardType: Sendable {
    let name: String
    /// What the first generic argument is, where it must have the standard library's own hashing: each copy of another type
    /// may hash in a way of its own, and then finds nothing in the other's tables.
    let hashed: String?

    /// The one that a descriptor belongs to. Not by name: a module of anybody's may have a `Data`.
    static func declared(by descriptor: ContextDescriptor) -> StandardType? {
        all[Int(bitPattern: descriptor.address)]
    }

    private static let all: [Int: StandardType] = {
        var all: [Int: StandardType] = [:]
        func add(_ name: String, _ type: Any.Type, hashed: String? = nil) {
            all[Int(bitPattern: TypeMetadata(type).descriptor.address)] = StandardType(name: name, hashed: hashed)
        }
        add("Int", Int.self)
        add("Int8", Int8.self)
        add("Int16", Int16.self)
        add("Int32", Int32.self)
        add("Int64", Int64.self)
        add("Int128", Int128.self)
        add("UInt", UInt.self)
        add("UInt8", UInt8.self)
        add("UInt16", UInt16.self)
        add("UInt32", UInt32.self)
        add("UInt64", UInt64.self)
        add("UInt128", UInt128.self)
        add("Float", Float.self)
        add("Double", Double.self)
        add("Bool", Bool.self)
        add("String", String.self)
        add("Substring", Substring.self)
        add("Character", Character.self)
        add("Unicode.Scalar", Unicode.Scalar.self)
        add("Duration", Duration.self)
        add("Never", Never.self)

        add("Optional", Int?.self)
        add("Result", Result<Int, Never>.self)
        add("Array", [Int].self)
        add("ContiguousArray", ContiguousArray<Int>.self)
        add("Set", Set<Int>.self, hashed: "an element of a `Set`")
        add("Dictionary", [Int: Int].self, hashed: "a key of a `Dictionary`")
        add("Range", Range<Int>.self)
        add("ClosedRange", ClosedRange<Int>.self)
        add("PartialRangeFrom", PartialRangeFrom<Int>.self)
        add("PartialRangeThrough", PartialRangeThrough<Int>.self)
        add("PartialRangeUpTo", PartialRangeUpTo<Int>.self)

        add("Calendar", Calendar.self)
        add("Data", Data.self)
        add("Date", Date.self)
        add("DateComponents", DateComponents.self)
        add("DateInterval", DateInterval.self)
        add("Decimal", Decimal.self)
        add("IndexPath", IndexPath.self)
        add("Locale", Locale.self)
        add("TimeZone", TimeZone.self)
        add("URL", URL.self)
        add("URLComponents", URLComponents.self)
        add("UUID", UUID.self)
        return all
    }()

    /// Modules of the toolchain: what they declare is on the list or does not cross.
    static let modules: Set<String> = [
        "Swift", "_Concurrency", "_Differentiation", "_RegexParser", "_StringProcessing", "Cxx", "CxxStdlib", "Dispatch", "Distributed",
        "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking", "FoundationXML", "Glibc",
        "Observation", "RegexBuilder", "Runtime", "Synchronization",
    ]

    /// The C structs of ours that Swift values of ours hold. Of a C struct the runtime knows one description in the whole
    /// process, so what is read of it may be another library's: `BP_LANE_REVISION` answers for them.
    static let structsOfTheHeader: Set<String> = ["bp_call"]
}
