/// The layouts that the native lane of a contract depends on.
///
/// They are those of the call frame, of errors, and of the input and the output or element of every member.
package struct ContractLayout: Sendable {
    /// The part of a call that has a layout.
    package enum Subject: Sendable {
        case call
        case failure
        case input(of: String, kind: MethodKind)
        case output(of: String, kind: MethodKind)
    }

    package struct Entry: Sendable {
        package enum Layout: Sendable {
            case type(TypeLayout)
            /// The reason why values of the type do not cross as they are, phrased to follow a verb: "`Cover`, a
            /// class".
            case refused(String)
        }

        package var subject: Subject
        package var layout: Layout

        package init(subject: Subject, layout: Layout) {
            (self.subject, self.layout) = (subject, layout)
        }
    }

    /// The call frame, the failure type, then the input and output of each member in order.
    package var entries: [Entry]

    package init(entries: [Entry]) { self.entries = entries }

    /// Reads the layouts of a contract as this program compiled it.
    ///
    /// Costs about 10 µs per type.
    package init<C: Contract>(of _: C.Type) {
        var reader = LayoutReader()
        func entry(_ subject: Subject, _ type: Any.Type) -> Entry {
            do throws(LayoutRefusal) {
                return Entry(subject: subject, layout: .type(try reader.layout(of: type)))
            } catch {
                return Entry(subject: subject, layout: .refused(error.object))
            }
        }

        entries = [entry(.call, Call.self), entry(.failure, BackplaneError.self)]
        for member in Members<C>().all {
            let types = member.type.types, kind = member.type.kind
            entries.append(entry(.input(of: member.name, kind: kind), types.input))
            entries.append(entry(.output(of: member.name, kind: kind), types.output))
        }
    }
}
