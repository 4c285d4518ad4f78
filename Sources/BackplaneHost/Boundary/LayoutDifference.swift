import Backplane

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
        var comparison = LayoutComparison(user, provider, names: ("user", "provider"))
        for (entry, other) in zip(user.entries, provider.entries) {
            guard entry.subject == other.subject else { return members(entry.subject, other.subject) }
            if let sentence = comparison.sentence(entry, other) { return sentence }
        }
        let counts = (user.entries.count, provider.entries.count)
        guard counts.0 == counts.1 else {
            let longer = counts.0 > counts.1 ? user : provider
            let name = longer.entries[min(counts.0, counts.1)].subject.method
            return "only the \(counts.0 > counts.1 ? "user" : "provider")'s contract has the member `\(name)`"
        }
        return "the layouts of the contract differ"
    }

    /// Returns a sentence that explains why the state of old code cannot be passed to new code as a Swift value.
    ///
    /// - Returns: `nil` if it can: the texts are equal and contain no refusal.
    package static func stateDifference(old: String, new: String) -> String? {
        let isOneLine = !old.utf8.contains(UInt8(ascii: "\n"))
        if old == new, isOneLine, old.utf8.starts(with: "state: ".utf8), old.utf8.count > 7 { return nil }
        guard let old = ContractLayout(text: old), old.entries[0].subject == .state else {
            return "the layout of the old code's state cannot be read"
        }
        guard let new = ContractLayout(text: new), new.entries[0].subject == .state else {
            return "the layout of the new code's state cannot be read"
        }
        var comparison = LayoutComparison(old, new, names: ("old code", "new code"))
        return comparison.sentence(old.entries[0], new.entries[0]) ?? "the layouts of the state differ"
    }

    /// Returns whether a text has the lines of a contract's layouts and contains no refusal.
    ///
    /// Nothing else is checked.
    private static func isComplete(_ text: String) -> Bool {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count >= 2, lines.count.isMultiple(of: 2) else { return false }
        guard lines[0].starts(with: "call: ".utf8), lines[1].starts(with: "failure: ".utf8) else { return false }
        return lines.dropFirst(2).allSatisfy { line in
            ["async ", "sync ", "stream "].contains { line.starts(with: $0.utf8) }
        }
    }

    private static func members(_ user: Subject, _ provider: Subject) -> String {
        guard user.method == provider.method else {
            return
                "the user's contract has the member `\(user.method)` where the provider's has `\(provider.method)`"
        }
        guard user.kind != .stream, provider.kind != .stream else {
            return "`\(user.method)` is a stream for the \(user.kind == .stream ? "user" : "provider") only"
        }
        return "`\(user.method)` is synchronous for the \(user.kind == .sync ? "user" : "provider") only"
    }

    /// Returns the quoted names of a type of this layout and a type of another one: the short names if they differ.
    func distinctNames(_ a: TypeLayout, _ other: ContractLayout, _ b: TypeLayout) -> (own: String, other: String) {
        let short = (name(of: a), other.name(of: b))
        if short.0 != short.1 { return ("`\(short.0)`", "`\(short.1)`") }
        let long = (name(of: a, isQualified: true), other.name(of: b, isQualified: true))
        return long.0 != long.1 ? ("`\(long.0)`", "`\(long.1)`") : ("`\(short.0)`", "another `\(short.1)`")
    }
}

extension ContractLayout.Subject {
    /// The words that precede the type in a sentence.
    fileprivate var verb: String {
        switch part {
        case .state: "the state is"
        case .call: "every call carries"
        case .failure: "every call throws"
        case .input: "`\(method)` takes"
        case .output: "`\(method)` \(kind == .stream ? "gives" : "answers")"
        }
    }
}

/// A comparison of two layouts up to their first difference.
///
/// Up to that difference, a number means the same on both sides. The types are visited in the order of the texts, so
/// that each declared type is compared where it is described.
private struct LayoutComparison {
    let user, provider: ContractLayout
    /// The names of the two sides in sentences.
    let names: (user: String, provider: String)
    /// The numbers of the declared types that were compared, or are being compared.
    private var compared: Set<Int> = []

    init(_ user: ContractLayout, _ provider: ContractLayout, names: (user: String, provider: String)) {
        (self.user, self.provider, self.names) = (user, provider, names)
    }

    /// A difference between two types.
    private enum Difference {
        /// The two are different types.
        case types
        /// The types differ in a part, as the clause states.
        case part(String)
    }

    /// Returns a sentence about the first difference between two lines of one subject; `nil` if there is none.
    mutating func sentence(_ entry: ContractLayout.Entry, _ other: ContractLayout.Entry) -> String? {
        let verb = entry.subject.verb
        switch (entry.layout, other.layout) {
        case (.refused(let reason), .refused(let other)) where reason == other: return "\(verb) \(reason)"
        case (.refused(let reason), _): return "\(verb) \(reason), for the \(names.user)"
        case (_, .refused(let reason)): return "\(verb) \(reason), for the \(names.provider)"
        case (.type(let a), .type(let b)):
            switch difference(a, b, at: []) {
            case nil: return nil
            case .types?: return "\(verb) \(types(a, b))"
            case .part(let clause)?: return "\(verb) `\(user.name(of: a))`, where \(clause)"
            }
        }
    }

    /// Returns the first difference between two types.
    ///
    /// - Parameter path: The outermost declared type, followed by fields, cases and elements.
    private mutating func difference(_ a: TypeLayout, _ b: TypeLayout, at path: [String]) -> Difference? {
        switch (a, b) {
        case (.standard(let name, let arguments), .standard(let other, let others))
        where name == other && arguments.count == others.count:
            return difference(ofArguments: arguments, others, at: path)
        case (.tuple(let size, let elements), .tuple(let otherSize, let others))
        where elements.map(\.label) == others.map(\.label):
            for (index, pair) in zip(elements, others).enumerated() {
                let inside = path + [pair.0.label ?? String(index)]
                if let difference = difference(ofPart: pair.0.type, pair.1.type, at: inside) { return difference }
            }
            return size == otherSize ? nil : self.size(size, otherSize, of: user.name(of: a))
        case (.declared(let number), .declared(let other)) where number == other:
            guard compared.insert(number).inserted else { return nil }
            guard let a = user.declarations[number], let b = provider.declarations[number], a.path == b.path,
                a.arguments.map(\.count) == b.arguments.map(\.count)
            else { return .types }
            return difference(a, b, at: path)
        default:
            return .types
        }
    }

    /// Returns the first difference between two parts of types, as a difference of the enclosing types.
    private mutating func difference(ofPart a: TypeLayout, _ b: TypeLayout, at path: [String]) -> Difference? {
        let difference = difference(a, b, at: path)
        guard case .types? = difference else { return difference }
        return .part("`\(Self.text(path))` is \(types(a, b))")
    }

    /// Returns the first difference between generic arguments.
    ///
    /// If an argument is a different type, so is the whole type: `[Int]` and `[String]` are more informative than `Int`
    /// and `String`.
    private mutating func difference(ofArguments arguments: [TypeLayout], _ others: [TypeLayout], at path: [String])
        -> Difference?
    {
        for (argument, other) in zip(arguments, others) {
            if let difference = difference(argument, other, at: path) { return difference }
        }
        return nil
    }

    private mutating func difference(_ a: TypeLayout.Declaration, _ b: TypeLayout.Declaration, at path: [String])
        -> Difference?
    {
        let name = a.name, inside = path.isEmpty ? [name] : path
        guard a.isEnumeration == b.isEnumeration else {
            let kinds = a.isEnumeration ? ("an enum", "a struct") : ("a struct", "an enum")
            return .part("`\(name)` is \(kinds.0) for the \(names.user) and \(kinds.1) for the \(names.provider)")
        }
        if let difference = difference(ofArguments: a.arguments.flatMap(\.self), b.arguments.flatMap(\.self), at: path)
        {
            return difference
        }
        switch (a.rawType, b.rawType) {
        case (nil, nil): break
        case (let raw?, let other?):
            if let difference = difference(ofPart: raw, other, at: inside + ["rawValue"]) { return difference }
        default: return .part("`\(name)` has a raw type for the \(side(a.rawType != nil)) only")
        }
        if let clause = difference(ofNames: a.members.map(\.name), b.members.map(\.name), of: a) {
            return .part(clause)
        }
        for (member, other) in zip(a.members, b.members) {
            let path = inside + [member.name]
            guard member.isIndirect == other.isIndirect else {
                return .part("`\(Self.text(path))` is indirect for the \(side(member.isIndirect)) only")
            }
            switch (member.type, other.type) {
            case (nil, nil): break
            case (let type?, let other?):
                if let difference = difference(ofPart: type, other, at: path) { return difference }
            default: return .part("`\(Self.text(path))` has a payload for the \(side(member.type != nil)) only")
            }
        }
        return a.size == b.size ? nil : size(a.size, b.size, of: name)
    }

    /// Returns the difference between the names of fields or cases.
    private func difference(ofNames a: [String], _ b: [String], of type: TypeLayout.Declaration) -> String? {
        if a == b { return nil }
        let users = Set(a), providers = Set(b)
        if let only = a.first(where: { !providers.contains($0) }) {
            return "`\(type.name).\(only)` exists only for the \(names.user)"
        }
        if let only = b.first(where: { !users.contains($0) }) {
            return "`\(type.name).\(only)` exists only for the \(names.provider)"
        }
        let members = type.isEnumeration ? "cases" : "fields"
        return
            "the \(members) of `\(type.name)` are in a different order for the \(names.user) than "
            + "for the \(names.provider)"
    }

    private func size(_ a: TypeLayout.Size, _ b: TypeLayout.Size, of type: String) -> Difference {
        .part(
            a.size == b.size
                ? "`\(type)` is stored differently for the \(names.user) and for the \(names.provider)"
                : "`\(type)` is \(a.size) bytes for the \(names.user) and \(b.size) for the \(names.provider)")
    }

    private func types(_ a: TypeLayout, _ b: TypeLayout) -> String {
        let types = user.distinctNames(a, provider, b)
        return "\(types.own) for the \(names.user) and \(types.other) for the \(names.provider)"
    }

    /// The name of the side that alone has something.
    private func side(_ isUser: Bool) -> String { isUser ? names.user : names.provider }

    /// The path as text, cut off after eight names.
    private static func text(_ path: [String]) -> String {
        path.prefix(8).joined(separator: ".") + (path.count > 8 ? "…" : "")
    }
}
