/// The layouts on which a native lane depends: those of a contract or of a component's state.
///
/// The layouts of a contract are those of the call frame, of errors, and of every member's input and output or element.
package struct ContractLayout: Sendable {
    /// The part of a call that has a layout, or the state.
    package enum Subject: Sendable {
        case state
        case call
        case failure
        case input(of: String, kind: MethodKind)
        case output(of: String, kind: MethodKind)
    }

    package struct Entry: Sendable {
        package enum Layout: Sendable {
            case type(TypeLayout)
            /// The reason why values of the type do not cross unencoded, phrased to follow a verb: "`Cover`, a class".
            case refused(String)
        }

        package var subject: Subject
        package var layout: Layout

        package init(subject: Subject, layout: Layout) {
            (self.subject, self.layout) = (subject, layout)
        }
    }

    /// The state alone; or the call frame, the failure type, then the input and output of each member in order.
    package var entries: [Entry]

    package init(entries: [Entry]) { self.entries = entries }

    /// Reads the layouts of a contract as this program compiled it.
    ///
    /// This takes about 10 µs per type.
    package init<C: Contract>(of _: C.Type) {
        var reader = LayoutReader()
        entries = [Entry(.call, Call.self, &reader), Entry(.failure, BackplaneError.self, &reader)]
        for member in Members<C>().all {
            let types = member.type.types, kind = member.type.kind
            entries.append(Entry(.input(of: member.name, kind: kind), types.input, &reader))
            entries.append(Entry(.output(of: member.name, kind: kind), types.output, &reader))
        }
    }

    /// Reads the layout of a component's state as this program compiled it.
    package init(ofState type: Any.Type) {
        var reader = LayoutReader()
        entries = [Entry(.state, type, &reader)]
    }
}

extension ContractLayout.Entry {
    fileprivate init(_ subject: ContractLayout.Subject, _ type: Any.Type, _ reader: inout LayoutReader) {
        let layout: Layout
        do throws(LayoutRefusal) { layout = .type(try reader.layout(of: type)) } catch {
            layout = .refused(error.object)
        }
        self.init(subject: subject, layout: layout)
    }
}

/// The text of a contract's layouts: a line for each, with its subject.
///
/// A type is described where it first occurs.
///
///     call: #0=struct Backplane.Call 64/8/64/0{…}
///     failure: #2=struct Backplane.BackplaneError 80/8/80/4096{…}
///     async search takes: #5=struct Library.BookQuery 16/8/16/4096{text:String}
///     refused async search answers: `Book`, where `Book.cover` is `Cover`, a class
///
/// The text of a state is one line, which begins with `state: `.
extension ContractLayout {
    package var text: String {
        var text = ""
        for entry in entries {
            if !text.isEmpty { text += "\n" }
            switch entry.layout {
            case .type(let layout):
                text += "\(entry.subject.text): "
                layout.write(to: &text)
            case .refused(let reason):
                text += "refused \(entry.subject.text): \(reason)"
            }
        }
        return text
    }
}

extension ContractLayout.Subject {
    fileprivate var text: String {
        switch self {
        case .state: "state"
        case .call: "call"
        case .failure: "failure"
        case .input(let name, let kind): "\(kind.word ?? "") \(LayoutName.quoted(name)) takes"
        case .output(let name, let kind): "\(kind.word ?? "") \(LayoutName.quoted(name)) answers"
        }
    }
}
