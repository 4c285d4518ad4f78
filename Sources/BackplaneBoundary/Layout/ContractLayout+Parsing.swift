package import Backplane

/// Parsing of untrusted text that describes the layouts of a contract or of a state.
extension ContractLayout {
    /// Parses a contract's layout text.
    ///
    /// - Returns: `nil` if the text is malformed.
    package init?(text: String) {
        var entries: [Entry] = []
        for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            var parser = LayoutParser(line)
            guard let entry = try? Entry(&parser) else { return nil }
            entries.append(entry)
        }
        if entries.count == 1, entries[0].subject == .state {
            self.init(entries: entries)
            return
        }
        guard entries.count >= 2, entries.count.isMultiple(of: 2), entries[0].subject == .call,
            entries[1].subject == .failure
        else { return nil }
        // Each member has an input, followed by an output.
        for index in stride(from: 2, to: entries.count, by: 2) {
            guard case .input(let name, let kind) = entries[index].subject,
                entries[index + 1].subject == .output(of: name, kind: kind)
            else { return nil }
        }
        self.init(entries: entries)
    }

    /// Returns whether a text is a single line that begins like the layout of a state and is not a refusal.
    ///
    /// It checks nothing else.
    static func isCompleteState(_ text: String) -> Bool {
        text.utf8.starts(with: "state: ".utf8) && text.utf8.count > 7 && !text.utf8.contains(UInt8(ascii: "\n"))
    }

    /// Returns whether a text has the lines of a contract's layouts, none of which is a refusal.
    ///
    /// It checks nothing else.
    static func isComplete(_ text: String) -> Bool {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count >= 2, lines.count.isMultiple(of: 2) else { return false }
        guard lines[0].starts(with: "call: ".utf8), lines[1].starts(with: "failure: ".utf8) else { return false }
        return lines.dropFirst(2).allSatisfy { line in
            ["async ", "sync ", "stream "].contains { line.starts(with: $0.utf8) }
        }
    }
}

extension ContractLayout.Subject {
    fileprivate init(_ parser: inout LayoutParser) throws(LayoutParser.Malformed) {
        if parser.skips("state") {
            self = .state
        } else if parser.skips("call") {
            self = .call
        } else if parser.skips("failure") {
            self = .failure
        } else {
            let kind: MethodKind
            if parser.skips("async ") {
                kind = .async
            } else if parser.skips("stream ") {
                kind = .stream
            } else {
                try parser.expect("sync ")
                kind = .sync
            }
            let name = try parser.name()
            if parser.skips(" takes") {
                self = .input(of: name, kind: kind)
            } else {
                try parser.expect(" answers")
                self = .output(of: name, kind: kind)
            }
        }
        try parser.expect(": ")
    }
}

extension ContractLayout.Entry {
    fileprivate init(_ parser: inout LayoutParser) throws(LayoutParser.Malformed) {
        let isRefused = parser.skips("refused ")
        self.init(
            subject: try ContractLayout.Subject(&parser),
            layout: isRefused ? .refused(parser.rest()) : .type(try parser.type()))
        guard parser.isAtEnd else { throw LayoutParser.Malformed() }
    }
}
