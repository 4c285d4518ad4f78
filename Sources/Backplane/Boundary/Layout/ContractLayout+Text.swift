/// The text of a contract's layouts: a line for each that says what it is of. A declared type is described where it comes
/// up first.
///
///     call: #0=struct Backplane.Call 64/8/64/0{…}
///     failure: #2=struct Backplane.BackplaneError 80/8/80/4096{…}
///     async search takes: #5=struct Library.BookQuery 16/8/16/4096{text:String}
///     refused async search answers: `Book`, where `Book.cover` is `Cover`, a class
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

    /// Reads such a text, which may have come from anywhere; `nil` when it is none.
    package init?(text: String) {
        entries = []
        for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            var parser = LayoutParser(line)
            guard let entry = try? Entry(&parser) else { return nil }
            entries.append(entry)
        }
        guard entries.count >= 2, entries.count.isMultiple(of: 2), entries[0].subject == .call, entries[1].subject == .failure else { return nil }
        // Each member's input, and then its output.
        for index in stride(from: 2, to: entries.count, by: 2) {
            guard case .input(let name, let kind) = entries[index].subject, entries[index + 1].subject == .output(of: name, kind) else { return nil }
        }
    }

    /// Whether a text has the lines of a contract's layouts and none of them is a refusal. Looks no further into it.
    static func isComplete(_ text: String) -> Bool {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count >= 2, lines.count.isMultiple(of: 2) else { return false }
        guard lines[0].starts(with: "call: ".utf8), lines[1].starts(with: "failure: ".utf8) else { return false }
        return lines.dropFirst(2).allSatisfy { $0.starts(with: "async ".utf8) || $0.starts(with: "sync ".utf8) }
    }
}

extension ContractLayout.Subject {
    fileprivate var text: String {
        switch self {
        case .call: "call"
        case .failure: "failure"
        case .input(let name, let kind): "\(kind.text) \(LayoutName.quoted(name)) takes"
        case .output(let name, let kind): "\(kind.text) \(LayoutName.quoted(name)) answers"
        }
    }

    fileprivate init(_ parser: inout LayoutParser) throws(LayoutParser.Malformed) {
        if parser.skips("call") {
            self = .call
        } else if parser.skips("failure") {
            self = .failure
        } else {
            let kind: MethodDescription.Kind
            if parser.skips("async ") { kind = .async } else { try parser.expect("sync "); kind = .sync }
            let name = try parser.name()
            if parser.skips(" takes") { self = .input(of: name, kind) } else { try parser.expect(" answers"); self = .output(of: name, kind) }
        }
        try parser.expect(": ")
    }
}

extension ContractLayout.Entry {
    fileprivate init(_ parser: inout LayoutParser) throws(LayoutParser.Malformed) {
        let isRefused = parser.skips("refused ")
        subject = try ContractLayout.Subject(&parser)
        layout = isRefused ? .refused(parser.rest()) : .type(try parser.type())
        guard parser.isAtEnd else { throw LayoutParser.Malformed() }
    }
}

extension MethodDescription.Kind {
    fileprivate var text: String {
        switch self {
        case .async: "async"
        case .sync: "sync"
        }
    }
}
