import FoundationEssentials

/// A type of the standard library or Foundation whose values cross without a description of their content.
///
/// The process has one copy of the type, and the type names all types that its values contain. `AnyHashable`,
/// `Predicate`, `AttributedString` and pointers do not qualify.
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

    /// Returns the standard type to which a descriptor belongs.
    static func declared(by descriptor: ContextDescriptor) -> StandardType? {
        let name = descriptor.nameInModule, isSwifts = descriptor.module == "Swift"
        return all.first { standard in
            guard standard.name == name else { return false }
            return standard.type.map { TypeMetadata($0()).descriptor.address == descriptor.address } ?? isSwifts
        }
    }

    private static let all =
        [
            "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
            "UInt128", "Float", "Double", "Bool", "String", "Substring", "Character", "Unicode.Scalar", "Duration",
            "Never", "Optional", "Result", "Array", "ContiguousArray", "Range", "ClosedRange", "PartialRangeFrom",
            "PartialRangeThrough", "PartialRangeUpTo",
        ].map { StandardType(name: $0) } + [
            StandardType(name: "Set", hashed: "an element of a `Set`"),
            StandardType(name: "Dictionary", hashed: "a key of a `Dictionary`"),
            StandardType(name: "Calendar", type: { Calendar.self }),
            StandardType(name: "Data", type: { Data.self }),
            StandardType(name: "Date", type: { Date.self }),
            StandardType(name: "DateComponents", type: { DateComponents.self }),
            StandardType(name: "DateInterval", type: { DateInterval.self }),
            StandardType(name: "Decimal", type: { Decimal.self }),
            StandardType(name: "IndexPath", type: { IndexPath.self }),
            StandardType(name: "Locale", type: { Locale.self }),
            StandardType(name: "TimeZone", type: { TimeZone.self }),
            StandardType(name: "URL", type: { URL.self }),
            StandardType(name: "URLComponents", type: { URLComponents.self }),
            StandardType(name: "UUID", type: { UUID.self }),
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
    /// The runtime has one description of a C struct per process, so the description may come from another library.
    /// `BP_LANE_REVISION` covers these structs.
    static let structsOfTheHeader = ["bp_call"]
}

/// Types of the standard library alone, such as `[String: Int]?`, recognised by their mangled names.
///
/// The runtime would create each type and look up the conformances that it requires of its arguments.
extension MangledName {
    /// The layout of a standard type; `nil` if the runtime has to determine it.
    var standardLayout: String? {
        guard declaration == nil else { return nil }
        var name = StandardName(text: text.utf8[...])
        return name.type().flatMap { name.isAtEnd ? $0 : nil }
    }
}

/// A parser of mangled names without references.
///
/// Such a name consists of a short name, its arguments between `y` and `G`, and an `Sg` for each level of optionality
/// (Swift's docs/ABI/Mangling.rst).
private struct StandardName {
    private var text: Substring.UTF8View
    /// A short name that the compiler repeats by number (`S2S` for two strings), and the number of repetitions left.
    private var repeated: (letter: UInt8, left: Int) = (0, 0)

    init(text: Substring.UTF8View) { self.text = text }

    var isAtEnd: Bool { text.isEmpty && repeated.left == 0 }

    /// The maximum depth that is parsed here.
    ///
    /// Deeper types are rare and are left to the runtime.
    private static let depthLimit = 8

    mutating func type(depth: Int = 0) -> String? {
        guard depth < Self.depthLimit, let letter = letter(), let (name, parameterCount) = Self.short(letter) else {
            return nil
        }
        var layout = name
        if parameterCount > 0 {
            guard skips("y") else { return nil }
            for index in 0..<parameterCount {
                guard let argument = type(depth: depth + 1) else { return nil }
                layout += (index == 0 ? "<" : ",") + argument
            }
            guard skips("G") else { return nil }
            layout += ">"
        }
        for _ in depth..<Self.depthLimit where skips("Sg") { layout = "Optional<\(layout)>" }
        return layout
    }

    private mutating func letter() -> UInt8? {
        if repeated.left == 0 {
            guard skips("S") else { return nil }
            var count = 0
            while let digit = text.first.map({ Int($0) - Int(UInt8(ascii: "0")) }), (0...9).contains(digit), count < 100
            {
                count = count * 10 + digit
                text.removeFirst()
            }
            guard let letter = text.popFirst() else { return nil }
            repeated = (letter, max(count, 1))
        }
        repeated.left -= 1
        return repeated.letter
    }

    private mutating func skips(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard repeated.left == 0, word.withUTF8Buffer({ text.prefix(count).elementsEqual($0) }) else { return false }
        text.removeFirst(count)
        return true
    }

    private static func short(_ letter: UInt8) -> (name: String, parameterCount: Int)? {
        switch letter {
        case UInt8(ascii: "a"): ("Array", 1)
        case UInt8(ascii: "b"): ("Bool", 0)
        case UInt8(ascii: "D"): ("Dictionary", 2)
        case UInt8(ascii: "d"): ("Double", 0)
        case UInt8(ascii: "f"): ("Float", 0)
        case UInt8(ascii: "h"): ("Set", 1)
        case UInt8(ascii: "i"): ("Int", 0)
        case UInt8(ascii: "J"): ("Character", 0)
        case UInt8(ascii: "q"): ("Optional", 1)
        case UInt8(ascii: "S"): ("String", 0)
        case UInt8(ascii: "s"): ("Substring", 0)
        case UInt8(ascii: "u"): ("UInt", 0)
        default: nil
        }
    }
}
