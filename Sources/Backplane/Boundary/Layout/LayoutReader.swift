import FoundationEssentials

/// A reader of layouts from the runtime.
///
/// All types of one text are read by one reader, so that each is described once.
struct LayoutReader {
    /// The metadata of the declared types described so far, in the order of their numbers.
    ///
    /// Metadata is unique per type and program.
    ///
    /// It is searched rather than hashed, for the reason stated at ``StandardType``.
    private var described: [UnsafeRawPointer] = []
    private var parts = 0

    /// The maximum number of parts in a type: more than in any type that is intended to cross.
    ///
    /// It stops a generic type that contains ever larger types of its own kind.
    static let partLimit = 10_000

    /// Reads the layout of a type.
    ///
    /// If it throws, everything that it has read of the type is discarded.
    ///
    /// - Throws: The reason why values of the type do not cross unencoded.
    mutating func layout(of type: Any.Type) throws(LayoutRefusal) -> TypeLayout {
        let before = described.count
        parts = 0
        do throws(Finding) {
            return try read(type, at: Place())
        } catch {
            described.removeLast(described.count - before)
            throw LayoutRefusal(
                root: _typeName(type, qualified: false).cut, place: error.path,
                type: _typeName(error.type, qualified: false).cut, reason: error.reason)
        }
    }

    /// The reader's position in a type.
    private struct Place {
        var path = LayoutPath()
        var depth = 0
        /// The description of the type at this position, if it must have standard hashing.
        var hashed: String?

        func member(_ name: String) -> Place { Place(path: path.member(name), depth: depth + 1, hashed: hashed) }
        func argument(hashed: String?) -> Place {
            Place(path: path.argument, depth: depth + 1, hashed: hashed ?? self.hashed)
        }
    }

    /// An obstacle and its position in a type.
    private struct Finding: Error {
        var path: LayoutPath
        var type: Any.Type
        var reason: String
    }

    private mutating func read(_ type: Any.Type, at place: Place) throws(Finding) -> TypeLayout {
        func refused(_ reason: String) -> Finding { Finding(path: place.path, type: type, reason: reason) }
        parts += 1
        guard place.depth <= TypeLayout.depthLimit else {
            throw refused("which is nested deeper than \(TypeLayout.depthLimit) types")
        }
        guard parts <= Self.partLimit else { throw refused("with which it has more than \(Self.partLimit) parts") }
        let metadata = TypeMetadata(type)
        switch metadata.kind {
        case .other(let reason): throw refused(reason)
        case .tuple: return try readTuple(metadata, type, at: place)
        case .structure, .enumeration: break
        }
        let descriptor = metadata.descriptor
        guard metadata.isComplete else { throw refused("a type that is not complete") }
        guard descriptor.hasPlainParameters else {
            throw refused("a type with a generic parameter that is a pack, a value or fixed by an extension")
        }
        if let standard = StandardType.declared(by: descriptor) {
            return try readStandard(standard, metadata, at: place)
        }
        let module = descriptor.module
        if StandardType.modules.contains(module) {
            throw refused("a type of \(module) that is not known to be safe to pass")
        }
        if module.hasPrefix("__C"), !StandardType.structsOfTheHeader.contains(descriptor.name) {
            throw refused("a C type")
        }
        if let hashed = place.hashed { throw refused("\(hashed) that does not have the standard library's hashing") }
        guard metadata.isCopyable else { throw refused("a type that cannot be copied") }
        if let number = described.firstIndex(of: metadata.address) { return .reference(number) }
        return try readDeclared(metadata, type, at: place)
    }

    private mutating func readTuple(_ metadata: TypeMetadata, _ type: Any.Type, at place: Place) throws(Finding)
        -> TypeLayout
    {
        guard let elements = metadata.elements else {
            throw Finding(path: place.path, type: type, reason: "a tuple that cannot be read")
        }
        var layouts: [TypeLayout.Element] = []
        for (index, element) in elements.enumerated() {
            let layout = try read(element.type, at: place.member(element.label ?? String(index)))
            layouts.append(TypeLayout.Element(label: element.label, type: layout))
        }
        return .tuple(metadata.size, layouts)
    }

    private mutating func readStandard(_ standard: StandardType, _ metadata: TypeMetadata, at place: Place)
        throws(Finding) -> TypeLayout
    {
        var arguments: [TypeLayout] = []
        for index in 0..<metadata.descriptor.parameterCount {
            let hashed = index == 0 ? standard.hashed : nil
            arguments.append(try read(metadata.genericArgument(index), at: place.argument(hashed: hashed)))
        }
        return .standard(standard.name, arguments)
    }

    private mutating func readDeclared(_ metadata: TypeMetadata, _ type: Any.Type, at outer: Place) throws(Finding)
        -> TypeLayout
    {
        var place = outer
        place.path = outer.path.inside(_typeName(type, qualified: false).cut)
        func refused(_ reason: String) -> Finding { Finding(path: outer.path, type: type, reason: reason) }
        let descriptor = metadata.descriptor
        guard let records = descriptor.fields?.records, records.count == descriptor.memberCount,
            records.allSatisfy({ !$0.name.isEmpty })
        else {
            throw refused("a type compiled without reflection metadata")
        }
        // The type is recorded before its parts, which may contain it.
        let number = described.count
        described.append(metadata.address)
        var arguments: [TypeLayout] = []
        for index in 0..<descriptor.parameterCount {
            arguments.append(try read(metadata.genericArgument(index), at: place.argument(hashed: nil)))
        }
        guard let name = TypeLayout.QualifiedName(of: descriptor, arguments: arguments) else {
            throw refused("a type whose name is ambiguous where it is declared")
        }
        let isEnumeration = descriptor.isEnumeration
        var rawType: TypeLayout?
        if isEnumeration, records.allSatisfy({ $0.type == nil }), let type = Self.rawType(of: type) {
            rawType = try read(type, at: place.member("rawValue"))
        }
        var members: [TypeLayout.Member] = []
        for record in records {
            var member = TypeLayout.Member(name: record.name, isIndirect: record.isIndirect)
            if let layout = record.type?.standardLayout {
                member.type = layout
            } else if let mangled = record.type {
                guard let type = mangled.type(in: metadata) else {
                    throw Finding(
                        path: outer.path, type: type, reason: "whose `\(member.name)` is of a type that cannot be found"
                    )
                }
                member.type = try read(type, at: place.member(member.name))
            } else if !isEnumeration {
                throw refused("whose `\(member.name)` has no type")
            }
            members.append(member)
        }
        return .declared(
            TypeLayout.Declaration(
                number: number, isEnumeration: isEnumeration, name: name, size: metadata.size, rawType: rawType,
                members: members))
    }

    private static func rawType(of type: Any.Type) -> Any.Type? {
        func rawValue<T: RawRepresentable>(of _: T.Type) -> Any.Type { T.RawValue.self }
        return (type as? any RawRepresentable.Type).map { rawValue(of: $0) }
    }
}

extension TypeLayout.QualifiedName {
    /// Creates the name of a type from the location of its declaration.
    ///
    /// It makes no difference whether a type is declared inside the enclosing type or in an extension in the same
    /// module. The file of a private type is not visible.
    ///
    /// - Parameter arguments: The generic arguments, beginning with those of the enclosing types.
    /// - Returns: `nil` if the type is declared in a context of unknown kind.
    init?(of descriptor: ContextDescriptor, arguments: [TypeLayout]) {
        let kind = descriptor.kind
        if case .other = kind { return nil }
        guard let parent = descriptor.parent else {
            guard case .module = kind else { return nil }
            self.init(components: [Segment(.name(descriptor.name))])
            return
        }
        let around: ContextDescriptor =
            switch kind {
            case .extension: descriptor.extendedType?.declaration ?? parent
            default: parent
            }
        let inherited = min(around.parameterCount, arguments.count)
        guard var name = Self(of: around, arguments: Array(arguments.prefix(inherited))) else { return nil }
        switch kind {
        case .anonymous:
            // A local type is inside several of these.
            if name.components.last?.isHidden != true { name.components.append(Segment(.hidden)) }
        case .extension:
            guard let extended = descriptor.extendedType else { return nil }
            if let declaration = extended.declaration {
                if declaration.module != parent.name { name.components.append(Segment(.extension(in: parent.name))) }
            } else {
                // A type of the standard library with a short name, such as `SS`: mangled text without references.
                name.components = [
                    Segment(.name("Swift")), Segment(.name(extended.text)), Segment(.extension(in: parent.name)),
                ]
            }
        case .module, .protocol, .class, .structure, .enumeration, .other:
            name.components.append(Segment(.name(descriptor.name)))
        }
        name.components[name.components.count - 1].arguments += arguments.dropFirst(inherited)
        self = name
    }
}

extension TypeLayout.QualifiedName.Segment {
    fileprivate var isHidden: Bool {
        if case .hidden = label { true } else { false }
    }
}

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

    private static let all =
        [
            "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
            "UInt128", "Float", "Double", "Bool", "String", "Substring", "Character", "Unicode.Scalar", "Duration",
            "Never", "Optional", "Result", "Array", "ContiguousArray", "Range", "ClosedRange", "PartialRangeFrom",
            "PartialRangeThrough", "PartialRangeUpTo",
        ].map { StandardType($0) } + [
            StandardType("Set", hashed: "an element of a `Set`"),
            StandardType("Dictionary", hashed: "a key of a `Dictionary`"),
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

/// Types of the standard library alone, such as `[String: Int]?`, recognised by their mangled names.
///
/// The runtime would create each type and look up the conformances that it requires of its arguments.
extension MangledName {
    /// The layout of a standard type; `nil` if the runtime has to determine it.
    var standardLayout: TypeLayout? {
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

    mutating func type(depth: Int = 0) -> TypeLayout? {
        guard depth < Self.depthLimit, let letter = letter(), let (name, parameterCount) = Self.short(letter) else {
            return nil
        }
        var arguments: [TypeLayout] = []
        if parameterCount > 0 {
            guard skips("y") else { return nil }
            for _ in 0..<parameterCount {
                guard let argument = type(depth: depth + 1) else { return nil }
                arguments.append(argument)
            }
            guard skips("G") else { return nil }
        }
        var layout = TypeLayout.standard(name, arguments)
        for _ in depth..<Self.depthLimit where skips("Sg") { layout = .standard("Optional", [layout]) }
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
