/// The layout of a type: all that two separately built programs must agree on to hand each other its values.
///
/// Its text is the fingerprint. It is not hashed, so unequal layouts never look equal and can be compared to say where they
/// differ. What is not of the standard library is described in full: names, order, sizes, cases and generic arguments, down
/// to standard types. `let` or `var` is left out, as it does not matter; what a layout cannot show, such as how values are
/// compared or which raw value a case has, is in nobody's fingerprint.
package indirect enum TypeLayout: Sendable {
    /// A type of the standard library or Foundation that may be taken by name, with its generic arguments.
    case standard(String, [TypeLayout])
    case tuple(TypeSize, [Element])
    case declared(Declaration)
    /// A declared type that the same text describes elsewhere: before this, or around it.
    case reference(Int)

    /// An element of a tuple.
    package struct Element: Sendable {
        package var label: String?
        package var type: TypeLayout

        package init(label: String?, type: TypeLayout) {
            (self.label, self.type) = (label, type)
        }
    }

    /// A struct or an enum of anybody's.
    package struct Declaration: Sendable {
        /// Its place among the declared types of a text. Names would not do: two files may each have a private `State`.
        package var number: Int
        /// An enum, or else a struct.
        package var isEnumeration: Bool
        package var name: QualifiedName
        package var size: TypeSize
        /// Of an enum without payloads that has one.
        package var rawType: TypeLayout?
        /// Fields as declared; of an enum the cases with payload, and then those without.
        package var members: [Member]

        package init(number: Int, isEnumeration: Bool, name: QualifiedName, size: TypeSize, rawType: TypeLayout?, members: [Member]) {
            (self.number, self.isEnumeration, self.name) = (number, isEnumeration, name)
            (self.size, self.rawType, self.members) = (size, rawType, members)
        }
    }

    /// A field of a struct, or a case of an enum.
    package struct Member: Sendable {
        package var name: String
        package var isIndirect: Bool
        /// `nil`: a case without payload.
        package var type: TypeLayout?

        package init(name: String, isIndirect: Bool, type: TypeLayout? = nil) {
            (self.name, self.isIndirect, self.type) = (name, isIndirect, type)
        }
    }

    /// A name from the module down, with the generic arguments of every type in it.
    package struct QualifiedName: Sendable {
        package var components: [Component]

        package init(components: [Component]) { self.components = components }

        package struct Component: Sendable {
            package enum Label: Sendable {
                case name(String)
                /// What follows is private to its file, or local.
                case hidden
                /// What follows stands in an extension in this other module.
                case `extension`(in: String)
            }

            package var label: Label
            package var arguments: [TypeLayout]

            package init(_ label: Label, arguments: [TypeLayout] = []) {
                (self.label, self.arguments) = (label, arguments)
            }
        }
    }

    /// How deep a type may nest: beyond that it is refused, as a generic type that contains ever larger ones of itself is.
    package static let depthLimit = 64

    /// Reads a type's layout from the runtime.
    ///
    /// - Throws: why values of the type do not cross as they are.
    package init(of type: Any.Type) throws(LayoutRefusal) {
        var reader = LayoutReader()
        self = try reader.layout(of: type)
    }
}
