package import Backplane

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
