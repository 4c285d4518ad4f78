package import Backplane

extension ContractLayout {
    /// Calls a function with every declared type; those in a name's arguments precede it, and those of its members
    /// follow it.
    package func forEachDeclaration(_ body: (TypeLayout.Declaration) -> Void) {
        for case .type(let type) in entries.lazy.map(\.layout) { type.forEachDeclaration(body) }
    }
}

extension TypeLayout {
    fileprivate func forEachDeclaration(_ body: (Declaration) -> Void) {
        switch self {
        case .standard(_, let arguments): for argument in arguments { argument.forEachDeclaration(body) }
        case .tuple(_, let elements): for element in elements { element.type.forEachDeclaration(body) }
        case .reference: break
        case .declared(let declaration):
            for argument in declaration.name.components.lazy.flatMap(\.arguments) { argument.forEachDeclaration(body) }
            body(declaration)
            declaration.rawType?.forEachDeclaration(body)
            for case let type? in declaration.members.lazy.map(\.type) { type.forEachDeclaration(body) }
        }
    }
}

// A plugin writes layouts and compares none: see `ComponentDescription+Equatable.swift`.

extension ContractLayout: Equatable {
    /// Compares the texts, which are complete.
    package static func == (a: Self, b: Self) -> Bool { a.text == b.text }
}

extension TypeLayout: Equatable {
    package static func == (a: Self, b: Self) -> Bool { a.text == b.text }
}

extension ContractLayout.Subject: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.state, .state), (.call, .call), (.failure, .failure): true
        case (.input(let name, let kind), .input(let other, let otherKind)),
            (.output(let name, let kind), .output(let other, let otherKind)):
            name == other && kind == otherKind
        default: false
        }
    }
}

extension LayoutPath: Equatable {
    package static func == (a: Self, b: Self) -> Bool { a.names == b.names && a.isContained == b.isContained }
}

extension TypeSize: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.size, a.alignment, a.stride, a.spare) == (b.size, b.alignment, b.stride, b.spare)
    }
}

extension TypeLayout.QualifiedName.Segment.Label: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.name(let name), .name(let other)), (.extension(let name), .extension(let other)): name == other
        case (.hidden, .hidden): true
        default: false
        }
    }
}

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

extension ContractLayout {
    /// Returns a sentence that explains why two sides of a wire cannot exchange Swift values.
    ///
    /// Both texts may come from plugins and are not trusted. Equal texts, the usual case, are only searched for
    /// refusals.
    ///
    /// - Parameters:
    ///   - consumer: The text of the calling side, which the sentence calls the user.
    ///   - provider: The text of the called side.
    /// - Returns: `nil` if they can exchange values: the texts are equal and contain no refusal.
    package static func difference(consumer: String, provider: String) -> String? {
        if consumer == provider, isComplete(consumer) { return nil }
        guard let user = ContractLayout(text: consumer) else {
            return "the layouts of the user's contract cannot be read"
        }
        guard let provider = ContractLayout(text: provider) else {
            return "the layouts of the provider's contract cannot be read"
        }
        let comparison = LayoutComparison(user: LayoutNames(user), provider: LayoutNames(provider))
        for (entry, other) in zip(user.entries, provider.entries) {
            guard entry.subject == other.subject else { return Self.members(entry.subject, other.subject) }
            if let sentence = entry.difference(from: other, comparison) { return sentence }
        }
        guard user.entries.count == provider.entries.count else {
            let longer = user.entries.count > provider.entries.count ? user : provider
            let name = longer.entries[min(user.entries.count, provider.entries.count)].subject.memberName
            return "only the \(longer == user ? "user" : "provider")'s contract has the member `\(name)`"
        }
        return "the layouts of the contract differ"
    }

    /// Returns a sentence that explains why the state of old code cannot be passed to new code as a Swift value.
    ///
    /// - Returns: `nil` if it can: the texts are equal and contain no refusal.
    package static func stateDifference(old: String, new: String) -> String? {
        if old == new, isCompleteState(old) { return nil }
        guard let old = ContractLayout(text: old)?.entries.first, old.subject == .state else {
            return "the layout of the old code's state cannot be read"
        }
        guard let new = ContractLayout(text: new)?.entries.first, new.subject == .state else {
            return "the layout of the new code's state cannot be read"
        }
        let comparison = LayoutComparison(
            user: LayoutNames(ContractLayout(entries: [old])), provider: LayoutNames(ContractLayout(entries: [new])),
            parties: .codes)
        return old.difference(from: new, comparison) ?? "the layouts of the state differ"
    }

    private static func members(_ user: Subject, _ provider: Subject) -> String {
        guard user.memberName == provider.memberName else {
            return
                "the user's contract has the member `\(user.memberName)` where the provider's has `\(provider.memberName)`"
        }
        guard user.kind != .stream, provider.kind != .stream else {
            return "`\(user.memberName)` is a stream for the \(user.kind == .stream ? "user" : "provider") only"
        }
        return "`\(user.memberName)` is synchronous for the \(user.kind == .sync ? "user" : "provider") only"
    }
}

extension ContractLayout.Subject {
    fileprivate var memberName: String {
        switch self {
        case .state, .call, .failure: ""
        case .input(let name, _), .output(let name, _): name
        }
    }

    fileprivate var kind: MethodKind {
        switch self {
        case .state, .call, .failure: .async
        case .input(_, let kind), .output(_, let kind): kind
        }
    }

    /// The words that precede the type in a sentence.
    fileprivate var verb: String {
        switch self {
        case .state: "the state is"
        case .call: "every call carries"
        case .failure: "every call throws"
        case .input(let name, _): "`\(name)` takes"
        case .output(let name, let kind): "`\(name)` \(kind == .stream ? "gives" : "answers")"
        }
    }
}

extension ContractLayout.Entry {
    fileprivate func difference(from other: Self, _ comparison: LayoutComparison) -> String? {
        let (user, provider) = (comparison.parties.user, comparison.parties.provider)
        switch (layout, other.layout) {
        case (.refused(let reason), .refused(let other)) where reason == other: return "\(subject.verb) \(reason)"
        case (.refused(let reason), _): return "\(subject.verb) \(reason), for the \(user)"
        case (_, .refused(let reason)): return "\(subject.verb) \(reason), for the \(provider)"
        case (.type(let a), .type(let b)):
            guard let difference = comparison.difference(a, b) else { return nil }
            if difference.place == LayoutPath(), let types = difference.types {
                return "\(subject.verb) \(types.user) for the \(user) and \(types.provider) for the \(provider)"
            }
            return "\(subject.verb) `\(comparison.user.name(of: a))`, where \(difference.sentence)"
        }
    }
}
