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
