/// A reader of layouts from the runtime.
///
/// The layout of a type contains everything on which two separately built programs must agree to exchange its values.
///
/// A layout is a text on one line:
///
///     Array<#0=struct Library.Book 40/8/40/4096{title:String,tags:Optional<Array<String>>,next:Array<#0>}>
///
/// The text is not hashed, so unequal layouts never look equal, and their difference can be described.
///
/// A type outside the standard library is described in full where it first occurs, down to standard types: its number,
/// its name with all generic arguments, its size, alignment, stride and spare bit patterns, the raw type of an enum,
/// and its fields or cases in order. Elsewhere only its number occurs, because names are not unique: two files may have
/// a private `State`. `let` and `var` make no difference and are omitted. The comparison of values and the raw values
/// of cases are not visible.
package struct LayoutReader {
    /// The metadata of the declared types described so far, in the order of their numbers.
    ///
    /// Metadata is unique per type and program. It is searched rather than hashed, for the reason stated at
    /// ``StandardType``.
    private var described: [UnsafeRawPointer] = []
    /// The type whose layout was requested.
    private var root: Any.Type = Never.self
    private var parts = 0

    /// The maximum depth of a type.
    ///
    /// This limit and ``partLimit`` stop generic types that contain ever larger types of their own kind.
    package static let depthLimit = 64
    /// The maximum number of parts in a type: more than any type for exchange has.
    static let partLimit = 10_000

    /// Returns the layout of a type.
    ///
    /// If it throws, everything that it has read of the type is discarded.
    ///
    /// - Throws: The reason why values of the type do not cross unencoded.
    mutating func layout(of type: Any.Type) throws(LayoutRefusal) -> String {
        let before = described.count
        (root, parts) = (type, 0)
        do throws(LayoutRefusal) { return try read(type, at: Place()) } catch {
            described.removeLast(described.count - before)
            throw error
        }
    }

    /// The reader's position in a type.
    private struct Place {
        /// The outermost declared type, followed by fields, cases and elements.
        var path: [String] = []
        /// A Boolean value that indicates whether the position is a generic argument, such as an array's element.
        var isContained = false
        var depth = 0
        /// The description of the type at this position, if it must have standard hashing.
        var hashed: String?

        func member(_ name: String) -> Place { Place(path: path + [name], depth: depth + 1, hashed: hashed) }
        func argument(hashed: String? = nil) -> Place {
            Place(path: path, isContained: true, depth: depth + 1, hashed: hashed ?? self.hashed)
        }
    }

    private func refusal(_ reason: String, of type: Any.Type, at place: Place) -> LayoutRefusal {
        let whole = "`\(_typeName(root, qualified: false).cut)`"
        let obstacle = "`\(_typeName(type, qualified: false).cut)`, \(reason)"
        guard !place.path.isEmpty else {
            return LayoutRefusal(reason: place.isContained ? "\(whole), which contains \(obstacle)" : obstacle)
        }
        let path = place.path.prefix(8).joined(separator: ".") + (place.path.count > 8 ? "…" : "")
        return LayoutRefusal(reason: "\(whole), where `\(path)` \(place.isContained ? "contains" : "is") \(obstacle)")
    }

    private mutating func read(_ type: Any.Type, at place: Place) throws(LayoutRefusal) -> String {
        func refused(_ reason: String) -> LayoutRefusal { refusal(reason, of: type, at: place) }
        parts += 1
        guard place.depth <= Self.depthLimit else {
            throw refused("which is nested deeper than \(Self.depthLimit) types")
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
            var arguments: [String] = []
            for index in 0..<descriptor.parameterCount {
                let inside = place.argument(hashed: index == 0 ? standard.hashed : nil)
                arguments.append(try read(metadata.genericArgument(index), at: inside))
            }
            return standard.name + Self.list(arguments[...])
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
        if let number = described.firstIndex(of: metadata.address) { return "#\(number)" }
        return try readDeclared(metadata, type, at: place)
    }

    private mutating func readTuple(_ metadata: TypeMetadata, _ type: Any.Type, at place: Place) throws(LayoutRefusal)
        -> String
    {
        guard let elements = metadata.elements else {
            throw refusal("a tuple that cannot be read", of: type, at: place)
        }
        var layouts: [String] = []
        for (index, element) in elements.enumerated() {
            let layout = try read(element.type, at: place.member(element.label ?? String(index)))
            layouts.append((element.label.map { "\(LayoutName.quoted($0)):" } ?? "") + layout)
        }
        return "tuple \(metadata.size){\(layouts.joined(separator: ","))}"
    }

    private mutating func readDeclared(_ metadata: TypeMetadata, _ type: Any.Type, at outer: Place)
        throws(LayoutRefusal) -> String
    {
        func refused(_ reason: String) -> LayoutRefusal { refusal(reason, of: type, at: outer) }
        var place = outer
        if place.path.isEmpty { (place.path, place.isContained) = ([_typeName(type, qualified: false).cut], false) }
        let descriptor = metadata.descriptor
        guard let records = descriptor.fields?.records, records.count == descriptor.memberCount,
            records.allSatisfy({ !$0.name.isEmpty })
        else {
            throw refused("a type compiled without reflection metadata")
        }
        // The type is recorded before its parts, which may contain it.
        let number = described.count
        described.append(metadata.address)
        var arguments: [String] = []
        for index in 0..<descriptor.parameterCount {
            arguments.append(try read(metadata.genericArgument(index), at: place.argument()))
        }
        guard let name = Self.name(of: descriptor, arguments[...]) else {
            throw refused("a type whose name is ambiguous where it is declared")
        }
        let isEnumeration = descriptor.isEnumeration
        var rawType = ""
        if isEnumeration, records.allSatisfy({ $0.type == nil }), let type = Self.rawType(of: type) {
            rawType = " of " + (try read(type, at: place.member("rawValue")))
        }
        var members: [String] = []
        for record in records {
            var member = (record.isIndirect ? "indirect " : "") + LayoutName.quoted(record.name)
            if let layout = record.type?.standardLayout {
                member += ":\(layout)"
            } else if let mangled = record.type {
                guard let type = mangled.type(in: metadata) else {
                    throw refused("whose `\(record.name)` is of a type that cannot be found")
                }
                member += ":" + (try read(type, at: place.member(record.name)))
            } else if !isEnumeration {
                throw refused("whose `\(record.name)` has no type")
            }
            members.append(member)
        }
        return "#\(number)=\(isEnumeration ? "enum" : "struct") \(name) \(metadata.size)\(rawType)"
            + "{\(members.joined(separator: ","))}"
    }

    private static func rawType(of type: Any.Type) -> Any.Type? {
        func rawValue<T: RawRepresentable>(of _: T.Type) -> Any.Type { T.RawValue.self }
        return (type as? any RawRepresentable.Type).map { rawValue(of: $0) }
    }

    /// Returns the name of a type from the location of its declaration, such as `Library.Shelf<Int>.(private).Place`.
    ///
    /// It makes no difference whether a type is declared inside the enclosing type or in an extension in the same
    /// module. The file of a private type is not visible.
    ///
    /// - Parameter arguments: The generic arguments, beginning with those of the enclosing types.
    /// - Returns: `nil` if the type is declared in a context of unknown kind.
    private static func name(of descriptor: ContextDescriptor, _ arguments: ArraySlice<String>) -> String? {
        let kind = descriptor.kind
        if case .other = kind { return nil }
        guard let parent = descriptor.parent else {
            if case .module = kind { return LayoutName.quoted(descriptor.name) } else { return nil }
        }
        let extended = if case .extension = kind { descriptor.extendedType } else { MangledName?.none }
        let around = extended?.declaration ?? parent, inherited = min(around.parameterCount, arguments.count)
        let own = list(arguments.dropFirst(inherited))
        guard let outer = name(of: around, arguments.prefix(inherited)) else { return nil }
        switch kind {
        case .anonymous:
            // A local type is inside several of these.
            if case .anonymous = parent.kind, own.isEmpty { return outer }
            return "\(outer).(private)\(own)"
        case .extension:
            guard let extended else { return nil }
            let module = "(in \(LayoutName.quoted(parent.name)))"
            guard let declaration = extended.declaration else {
                // A type of the standard library with a short name, such as `SS`: mangled text without references.
                return "Swift.\(LayoutName.quoted(extended.text)).\(module)\(own)"
            }
            return declaration.module == parent.name ? outer + own : "\(outer).\(module)\(own)"
        case .module, .protocol, .class, .structure, .enumeration, .other:
            return "\(outer).\(LayoutName.quoted(descriptor.name))\(own)"
        }
    }

    private static func list(_ arguments: ArraySlice<String>) -> String {
        arguments.isEmpty ? "" : "<\(arguments.joined(separator: ","))>"
    }
}

/// The layouts on which a native lane depends: of a contract, or of a component's state.
extension LayoutReader {
    /// Returns the layouts of a contract as this program compiled it, one per line, each with its subject.
    ///
    /// There is a line for the call frame, for errors, and for every member's input and output or element.
    ///
    /// Reading them takes about 10 µs per type.
    ///
    ///     call: #0=struct Backplane.Call 64/8/64/0{…}
    ///     failure: #2=struct Backplane.BackplaneError 80/8/80/4096{…}
    ///     async search takes: #5=struct Library.BookQuery 16/8/16/4096{text:String}
    ///     refused async search answers: `Book`, where `Book.cover` is `Cover`, a class
    package static func layouts<C: Contract>(of _: C.Type) -> String {
        var reader = LayoutReader()
        var lines = [reader.line("call", Call.self), reader.line("failure", BackplaneError.self)]
        for member in Members<C>().all {
            let types = member.type.types
            let subject = "\(member.type.kind.word ?? "") \(LayoutName.quoted(member.name))"
            lines.append(reader.line("\(subject) takes", types.input))
            lines.append(reader.line("\(subject) answers", types.output))
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the layout of a component's state as this program compiled it, in a line that begins with `state: `.
    package static func layout(ofState type: Any.Type) -> String {
        var reader = LayoutReader()
        return reader.line("state", type)
    }

    private mutating func line(_ subject: String, _ type: Any.Type) -> String {
        do throws(LayoutRefusal) {
            let layout = try layout(of: type)
            return "\(subject): \(layout)"
        } catch {
            return "refused \(subject): \(error.reason)"
        }
    }
}

/// The reason why the values of a type cannot cross unencoded.
struct LayoutRefusal: Error {
    /// The reason after a verb: "`find` answers" "`Book`, where `Book.cover` is `Cover`, a class".
    let reason: String
}

/// The spelling of names in layouts: identifiers unchanged, all other names quoted so that none reads as syntax.
package enum LayoutName {
    package static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    static func quoted(_ name: String) -> String {
        if !name.isEmpty, name.utf8.allSatisfy(isPlain) { return name }
        var quoted = "`"
        for scalar in name.unicodeScalars {
            if scalar.value < 0x20 || scalar == "\u{7F}" || scalar == "`" || scalar == "\\" {
                // An escape is a backslash and two hexadecimal digits.
                quoted += (scalar.value < 16 ? "\\0" : "\\") + String(scalar.value, radix: 16)
            } else {
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "`"
    }
}

extension String {
    /// The text, truncated to a readable length for a message.
    package var cut: String { utf8.count > 120 ? prefix(120) + "…" : self }
}
