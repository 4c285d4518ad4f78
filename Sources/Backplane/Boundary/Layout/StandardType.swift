import FoundationEssentials

/// A type of the standard library or Foundation whose values cross without a description of their content.
///
/// The process has one copy of it, and its values contain no types that it does not name. `AnyHashable`, `Predicate`,
/// `AttributedString` and pointers do not qualify.
///
/// After a library has been loaded, the runtime searches every conformance in the process whenever it first needs one,
/// even one that it already knows. Code that runs for every plugin therefore avoids this by searching the list and
/// creating only the type that is needed.
struct StandardType: Sendable {
    let name: String
    /// The description of the first generic argument, if it must have the standard library's own hashing.
    ///
    /// Separate copies of any other type may hash differently, and would then find nothing in each other's tables.
    var hashed: String?
    /// The type itself, if the module's name does not prove its identity: any module may be called `Foundation`.
    private var type: (@Sendable () -> Any.Type)?

    private init(_ name: String, hashed: String? = nil) {
        (self.name, self.hashed) = (name, hashed)
    }

    private init(_ name: String, _ type: @autoclosure @escaping @Sendable () -> Any.Type) {
        (self.name, self.type) = (name, type)
    }

    /// Returns the standard type to which a descriptor belongs.
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

    /// The modules of the toolchain, whose types either are in the list or do not cross.
    static let modules = [
        "Swift", "_Concurrency", "_Differentiation", "_RegexParser", "_StringProcessing", "Cxx", "CxxStdlib",
        "Dispatch", "Distributed",
        "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking", "FoundationXML",
        "Glibc",
        "Observation", "RegexBuilder", "Runtime", "Synchronization",
    ]

    /// The C structs of the project that its Swift values contain.
    ///
    /// The runtime knows one description of a C struct per process, so the one that is read may be another library's.
    /// `BP_LANE_REVISION` covers these structs.
    static let structsOfTheHeader = ["bp_call"]
}
