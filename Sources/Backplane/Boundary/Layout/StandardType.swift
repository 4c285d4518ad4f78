import FoundationEssentials

/// A type of the standard library or Foundation whose values both sides hand over without looking into it.
///
/// There is one copy of it in the process, and its values hold nothing of types that it does not name. So not `AnyHashable`,
/// `Predicate` or `AttributedString`, nor pointers.
///
/// After a library was loaded the runtime looks through every conformance in the process whenever it first needs one, also one
/// that it knows. So what is used for every plugin asks for none: the list is searched, and only the type that is needed is made.
struct StandardType: Sendable {
    let name: String
    /// What the first generic argument is, where it must have the standard library's own hashing: each copy of another type
    /// may hash in a way of its own, and then finds nothing in the other's tables.
    var hashed: String?
    /// The type itself, where the name of its module does not prove that it is the one: anybody may call a module `Foundation`.
    private var type: (@Sendable () -> Any.Type)?

    private init(_ name: String, hashed: String? = nil) {
        (self.name, self.hashed) = (name, hashed)
    }

    private init(_ name: String, _ type: @autoclosure @escaping @Sendable () -> Any.Type) {
        (self.name, self.type) = (name, type)
    }

    /// The one that a descriptor belongs to.
    static func declared(by descriptor: ContextDescriptor) -> StandardType? {
        let name = descriptor.nameInModule, isSwifts = descriptor.module == "Swift"
        return all.first { standard in
            guard standard.name == name else { return false }
            return standard.type.map { TypeMetadata($0()).descriptor.address == descriptor.address } ?? isSwifts
        }
    }

    private static let all = [
        StandardType("Int"),
        StandardType("Int8"),
        StandardType("Int16"),
        StandardType("Int32"),
        StandardType("Int64"),
        StandardType("Int128"),
        StandardType("UInt"),
        StandardType("UInt8"),
        StandardType("UInt16"),
        StandardType("UInt32"),
        StandardType("UInt64"),
        StandardType("UInt128"),
        StandardType("Float"),
        StandardType("Double"),
        StandardType("Bool"),
        StandardType("String"),
        StandardType("Substring"),
        StandardType("Character"),
        StandardType("Unicode.Scalar"),
        StandardType("Duration"),
        StandardType("Never"),

        StandardType("Optional"),
        StandardType("Result"),
        StandardType("Array"),
        StandardType("ContiguousArray"),
        StandardType("Set", hashed: "an element of a `Set`"),
        StandardType("Dictionary", hashed: "a key of a `Dictionary`"),
        StandardType("Range"),
        StandardType("ClosedRange"),
        StandardType("PartialRangeFrom"),
        StandardType("PartialRangeThrough"),
        StandardType("PartialRangeUpTo"),

        StandardType("Calendar", Calendar.self),
        StandardType("Data", Data.self),
        StandardType("Date", Date.self),
        StandardType("DateComponents", DateComponents.self),
        StandardType("DateInterval", DateInterval.self),
        StandardType("Decimal", Decimal.self),
        StandardType("IndexPath", IndexPath.self),
        StandardType("Locale", Locale.self),
        StandardType("TimeZone", TimeZone.self),
        StandardType("URL", URL.self),
        StandardType("URLComponents", URLComponents.self),
        StandardType("UUID", UUID.self),
    ]

    /// Modules of the toolchain: what they declare is on the list or does not cross.
    static let modules = [
        "Swift", "_Concurrency", "_Differentiation", "_RegexParser", "_StringProcessing", "Cxx", "CxxStdlib", "Dispatch", "Distributed",
        "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking", "FoundationXML", "Glibc",
        "Observation", "RegexBuilder", "Runtime", "Synchronization",
    ]

    /// The C structs of ours that Swift values of ours hold. Of a C struct the runtime knows one description in the whole
    /// process, so what is read of it may be another library's: `BP_LANE_REVISION` answers for them.
    static let structsOfTheHeader = ["bp_call"]
}
