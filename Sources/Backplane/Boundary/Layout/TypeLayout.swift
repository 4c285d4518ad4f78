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
        /// A Boolean value that indicates whether the type is an enum rather than a struct.
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
