import Backplane

/// A parser of layout texts.
///
/// A text may come from a plugin and is not trusted.
struct LayoutParser {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    struct Malformed: Error {}

    init(_ text: some Sequence<UInt8>) { bytes = Array(text) }

    var isAtEnd: Bool { position == bytes.count }

    private var next: UInt8? { isAtEnd ? nil : bytes[position] }

    mutating func skips(_ text: StaticString) -> Bool {
        guard bytes.count - position >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[position + index] != text.utf8Start[index] { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    mutating func expect(_ text: StaticString) throws(Malformed) {
        guard skips(text) else { throw Malformed() }
    }

    /// Returns the remaining text unchanged.
    mutating func rest() -> String {
        defer { position = bytes.count }
        return String(decoding: bytes[position...], as: UTF8.self)
    }

    mutating func type() throws(Malformed) -> TypeLayout {
        depth += 1
        defer { depth -= 1 }
        // A reader counts the outermost type as level 0.
        guard depth <= TypeLayout.depthLimit + 1 else { throw Malformed() }
        if skips("#") {
            let number = try number()
            return skips("=") ? .declared(try declaration(number)) : .reference(number)
        }
        if skips("tuple ") { return .tuple(try size(), try elements()) }
        return .standard(try standardName(), try arguments())
    }

    private mutating func elements() throws(Malformed) -> [TypeLayout.Element] {
        try expect("{")
        var elements: [TypeLayout.Element] = []
        while !skips("}") {
            if !elements.isEmpty { try expect(",") }
            let start = position
            var label = try? name()
            if label == nil || !skips(":") { (label, position) = (nil, start) }
            elements.append(TypeLayout.Element(label: label, type: try type()))
        }
        return elements
    }

    private mutating func arguments() throws(Malformed) -> [TypeLayout] {
        guard skips("<") else { return [] }
        var arguments = [try type()]
        while skips(",") { arguments.append(try type()) }
        try expect(">")
        return arguments
    }

    private mutating func declaration(_ number: Int) throws(Malformed) -> TypeLayout.Declaration {
        let isEnumeration = !skips("struct ")
        if isEnumeration { try expect("enum ") }
        let name = try qualifiedName()
        try expect(" ")
        let size = try size()
        let rawType: TypeLayout? = skips(" of ") ? try type() : nil
        try expect("{")
        var members: [TypeLayout.Member] = []
        while !skips("}") {
            if !members.isEmpty { try expect(",") }
            let isIndirect = skips("indirect ")
            members.append(
                TypeLayout.Member(name: try self.name(), isIndirect: isIndirect, type: skips(":") ? try type() : nil))
        }
        return TypeLayout.Declaration(
            number: number, isEnumeration: isEnumeration, name: name, size: size, rawType: rawType, members: members)
    }

    private mutating func qualifiedName() throws(Malformed) -> TypeLayout.QualifiedName {
        var components: [TypeLayout.QualifiedName.Segment] = []
        repeat {
            let label: TypeLayout.QualifiedName.Segment.Label
            if skips("(private)") {
                label = .hidden
            } else if skips("(in ") {
                label = .extension(in: try name())
                try expect(")")
            } else {
                label = .name(try name())
            }
            components.append(TypeLayout.QualifiedName.Segment(label, arguments: try arguments()))
        } while skips(".")
        return TypeLayout.QualifiedName(components: components)
    }

    private mutating func size() throws(Malformed) -> TypeSize {
        let size = try number()
        try expect("/")
        let alignment = try number()
        try expect("/")
        let stride = try number()
        try expect("/")
        return TypeSize(size: size, alignment: alignment, stride: stride, spare: try number())
    }

    private mutating func number() throws(Malformed) -> Int {
        let start = position
        while let next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) { position += 1 }
        guard let number = Int(String(decoding: bytes[start..<position], as: UTF8.self)) else { throw Malformed() }
        return number
    }

    /// Parses a plain name that may contain dots.
    private mutating func standardName() throws(Malformed) -> String {
        let start = position
        while let next, LayoutName.isPlain(next) || next == UInt8(ascii: ".") { position += 1 }
        guard position > start else { throw Malformed() }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    mutating func name() throws(Malformed) -> String {
        guard skips("`") else {
            let start = position
            while let next, LayoutName.isPlain(next) { position += 1 }
            guard position > start else { throw Malformed() }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }
        var name: [UInt8] = []
        while !skips("`") {
            guard let byte = next else { throw Malformed() }
            position += 1
            name.append(byte == UInt8(ascii: "\\") ? try escapedByte() : byte)
        }
        return String(decoding: name, as: UTF8.self)
    }

    private mutating func escapedByte() throws(Malformed) -> UInt8 {
        guard bytes.count - position >= 2,
            let byte = UInt8(String(decoding: bytes[position..<position + 2], as: UTF8.self), radix: 16)
        else {
            throw Malformed()
        }
        position += 2
        return byte
    }
}

/// The names of a text's types in messages.
struct LayoutNames {
    private struct Name {
        var short = "", long = ""
    }

    /// The names by number.
    ///
    /// Each name is created once and limited in length, because a text is not trusted.
    private var declared: [Int: Name] = [:]

    init(_ layout: ContractLayout) {
        layout.forEachDeclaration { declaration in
            declared[declaration.number] = Name(
                short: name(of: declaration.name, isQualified: false).cut,
                long: name(of: declaration.name, isQualified: true).cut)
        }
    }

    /// Returns a type's name as spelled in messages.
    ///
    /// - Parameter isQualified: A Boolean value that indicates whether the name includes the module and the enclosing
    ///   types.
    func name(of type: TypeLayout, isQualified: Bool = false) -> String {
        switch type {
        case .standard(let name, let arguments): name + list(arguments, isQualified)
        case .tuple(_, let elements):
            "("
                + elements.map { ($0.label.map { "\($0): " } ?? "") + name(of: $0.type, isQualified: isQualified) }
                .joined(separator: ", ") + ")"
        case .declared(let declaration): name(ofNumber: declaration.number, isQualified)
        case .reference(let number): name(ofNumber: number, isQualified)
        }
    }

    func name(of declaration: TypeLayout.Declaration) -> String { name(ofNumber: declaration.number, false) }

    private func name(ofNumber number: Int, _ isQualified: Bool) -> String {
        guard let name = declared[number] else { return "#\(number)" }
        return isQualified ? name.long : name.short
    }

    private func name(of name: TypeLayout.QualifiedName, isQualified: Bool) -> String {
        let parts = name.components.enumerated().compactMap { index, component -> String? in
            let arguments = list(component.arguments, isQualified)
            switch component.label {
            case .name(let name): return index == 0 && !isQualified ? nil : name + arguments
            case .hidden: return isQualified ? "(private)" : nil
            case .extension(let module): return isQualified ? "(in \(module))\(arguments)" : nil
            }
        }
        return parts.joined(separator: ".")
    }

    private func list(_ arguments: [TypeLayout], _ isQualified: Bool) -> String {
        arguments.isEmpty
            ? "" : "<" + arguments.map { name(of: $0, isQualified: isQualified) }.joined(separator: ", ") + ">"
    }

    /// Returns two types in quotes, by their short names if those differ.
    static func distinct(_ user: LayoutNames, _ a: TypeLayout, _ provider: LayoutNames, _ b: TypeLayout) -> (
        user: String, provider: String
    ) {
        let short = (user.name(of: a), provider.name(of: b))
        if short.0 != short.1 { return ("`\(short.0)`", "`\(short.1)`") }
        let long = (user.name(of: a, isQualified: true), provider.name(of: b, isQualified: true))
        return long.0 != long.1 ? ("`\(long.0)`", "`\(long.1)`") : ("`\(short.0)`", "another `\(short.1)`")
    }
}
