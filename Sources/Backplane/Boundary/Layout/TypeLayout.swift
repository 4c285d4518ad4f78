/// The layout of a type: everything that two separately built programs must agree on to exchange its values.
///
/// Its text is the fingerprint, which is not hashed, so that unequal layouts never look equal and their difference can
/// be described. Types outside the standard library are described in full, down to standard types: names, order, sizes,
/// cases and generic arguments. `let` or `var` does not matter and is omitted. A layout cannot express how values are
/// compared or which raw value a case has, so no fingerprint contains that.
package indirect enum TypeLayout: Sendable {
    /// A type of the standard library or Foundation that is identified by its name, with its generic arguments.
    case standard(String, [TypeLayout])
    case tuple(TypeSize, [Element])
    case declared(Declaration)
    /// A declared type that the same text describes elsewhere, before this type or around it.
    case reference(Int)

    /// An element of a tuple.
    package struct Element: Sendable {
        package var label: String?
        package var type: TypeLayout

        package init(label: String?, type: TypeLayout) {
            (self.label, self.type) = (label, type)
        }
    }

    /// A struct or an enum outside the standard library.
    package struct Declaration: Sendable {
        /// The type's index among the declared types of a text.
        ///
        /// Names are not unique: two files may have a private `State`.
        package var number: Int
        package var isEnumeration: Bool
        package var name: QualifiedName
        package var size: TypeSize
        /// The raw type of an enum without payloads, if it has one.
        package var rawType: TypeLayout?
        /// The fields in declaration order; for an enum, the cases with a payload, followed by those without one.
        package var members: [Member]

        package init(
            number: Int, isEnumeration: Bool, name: QualifiedName, size: TypeSize, rawType: TypeLayout?,
            members: [Member]
        ) {
            (self.number, self.isEnumeration, self.name) = (number, isEnumeration, name)
            (self.size, self.rawType, self.members) = (size, rawType, members)
        }
    }

    /// A field of a struct, or a case of an enum.
    package struct Member: Sendable {
        package var name: String
        package var isIndirect: Bool
        /// The type of a field or payload; `nil` for a case without a payload.
        package var type: TypeLayout?

        package init(name: String, isIndirect: Bool, type: TypeLayout? = nil) {
            (self.name, self.isIndirect, self.type) = (name, isIndirect, type)
        }
    }

    /// A fully qualified name, starting with the module, with the generic arguments of every type in it.
    package struct QualifiedName: Sendable {
        package var components: [Segment]

        package init(components: [Segment]) { self.components = components }

        package struct Segment: Sendable {
            package enum Label: Sendable {
                case name(String)
                /// A context whose content is private to its file, or local.
                case hidden
                /// An extension in another module, which declares the rest of the name.
                case `extension`(in: String)
            }

            package var label: Label
            package var arguments: [TypeLayout]

            package init(_ label: Label, arguments: [TypeLayout] = []) {
                (self.label, self.arguments) = (label, arguments)
            }
        }
    }

    /// The maximum depth of a type.
    ///
    /// It refuses generic types that contain ever larger types of their own kind.
    package static let depthLimit = 64

    /// Reads a type's layout from the runtime.
    ///
    /// - Throws: The reason why values of the type do not cross unencoded.
    package init(of type: Any.Type) throws(LayoutRefusal) {
        var reader = LayoutReader()
        self = try reader.layout(of: type)
    }
}

/// The text of a layout, on one line:
///
///     Array<#0=struct Library.Book 40/8/40/4096{title:String,tags:Optional<Array<String>>,next:Array<#0>}>
///
/// A declared type has a number, its name, size, alignment, stride and spare bit patterns, and its members.
extension TypeLayout {
    package var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    func write(to text: inout String) {
        switch self {
        case .standard(let name, let arguments):
            text += name
            Self.write(arguments, to: &text)
        case .tuple(let size, let elements):
            text += "tuple \(size.text){"
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                if let label = element.label { text += "\(LayoutName.quoted(label)):" }
                element.type.write(to: &text)
            }
            text += "}"
        case .declared(let declaration): declaration.write(to: &text)
        case .reference(let number): text += "#\(number)"
        }
    }

    fileprivate static func write(_ arguments: [TypeLayout], to text: inout String) {
        guard !arguments.isEmpty else { return }
        text += "<"
        for (index, argument) in arguments.enumerated() {
            if index > 0 { text += "," }
            argument.write(to: &text)
        }
        text += ">"
    }
}

extension TypeLayout.Declaration {
    fileprivate func write(to text: inout String) {
        text += "#\(number)=\(isEnumeration ? "enum" : "struct") "
        for (index, component) in name.components.enumerated() {
            if index > 0 { text += "." }
            switch component.label {
            case .name(let name): text += LayoutName.quoted(name)
            case .hidden: text += "(private)"
            case .extension(let module): text += "(in \(LayoutName.quoted(module)))"
            }
            TypeLayout.write(component.arguments, to: &text)
        }
        text += " \(size.text)"
        if let rawType {
            text += " of "
            rawType.write(to: &text)
        }
        text += "{"
        for (index, member) in members.enumerated() {
            if index > 0 { text += "," }
            if member.isIndirect { text += "indirect " }
            text += LayoutName.quoted(member.name)
            if let type = member.type {
                text += ":"
                type.write(to: &text)
            }
        }
        text += "}"
    }
}

extension TypeSize {
    fileprivate var text: String { "\(size)/\(alignment)/\(stride)/\(spare)" }
}

/// The spelling of names in layout texts: identifiers unchanged, all other names quoted so that none reads as syntax.
package enum LayoutName {
    package static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }

    package static func quoted(_ name: String) -> String {
        if !name.isEmpty, name.utf8.allSatisfy(isPlain) { return name }
        var bytes = [UInt8(ascii: "`")]
        for byte in name.utf8 {
            switch byte {
            case 0..<0x20, 0x7F, UInt8(ascii: "`"), UInt8(ascii: "\\"): bytes += escaped(byte)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes + [UInt8(ascii: "`")], as: UTF8.self)
    }

    /// Returns an escaped byte: a backslash and two hexadecimal digits.
    private static func escaped(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return [UInt8(ascii: "\\"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}

extension String {
    /// The text, truncated to a readable length for a message.
    package var cut: String { utf8.count > 120 ? prefix(120) + "…" : self }
}

/// The reason why the values of a type cannot cross unencoded, as the end of a sentence.
package struct LayoutRefusal: Error {
    /// The type whose layout was requested.
    var root: String
    /// The position of the obstacle in the type; empty outside every field.
    var place: LayoutPath
    /// The type at this position, and the obstacle, such as "a class".
    var type: String
    var reason: String

    /// The reason after a verb: "`find` answers" "`Book`, where `Book.cover` is `Cover`, a class".
    package var object: String {
        let found = "`\(type)`, \(reason)"
        if !place.names.isEmpty { return "`\(root)`, where \(sentence)" }
        return place.isContained ? "`\(root)`, which contains \(found)" : found
    }

    private var sentence: String {
        "`\(place.text)` \(place.isContained ? "contains" : "is") `\(type)`, \(reason)"
    }
}

extension LayoutRefusal: CustomStringConvertible {
    /// The reason as a sentence of its own: "`Book.cover` is `Cover`, a class".
    package var description: String {
        if !place.names.isEmpty { return sentence }
        return place.isContained ? "`\(root)` contains `\(type)`, \(reason)" : "`\(type)` is \(reason)"
    }
}

/// A path into a type: the outermost declared type, followed by fields, cases and elements.
package struct LayoutPath: Sendable {
    package private(set) var names: [String] = []
    /// A Boolean value that indicates whether the path ends in a generic argument, such as an array's element.
    package private(set) var isContained = false

    package init() {}

    private init(names: [String], isContained: Bool = false) {
        (self.names, self.isContained) = (names, isContained)
    }

    /// The path as text, cut off after eight names.
    package var text: String {
        names.prefix(8).joined(separator: ".") + (names.count > 8 ? "…" : "")
    }

    package func inside(_ declared: @autoclosure () -> String) -> LayoutPath {
        names.isEmpty ? LayoutPath(names: [declared()]) : self
    }

    package func member(_ name: String) -> LayoutPath {
        LayoutPath(names: names + [name])
    }

    package var argument: LayoutPath {
        LayoutPath(names: names, isContained: true)
    }
}
