import Backplane

/// The names of the two sides whose layouts are compared.
struct LayoutParties {
    let user, provider: String

    /// The sides of a wire.
    static let wire = LayoutParties(user: "user", provider: "provider")
    /// The sides of a transfer of state.
    static let codes = LayoutParties(user: "old code", provider: "new code")
}

/// The first difference between two layouts, in words that explain why a wire or a state is not native.
///
/// Two texts are equal up to their first difference, so a reference before it means the same on both sides.
struct LayoutDifference {
    /// The position of the difference, followed by the types at it unless `clause` describes more.
    var place: LayoutPath
    /// The quoted names of the user's type and the provider's.
    var types: (user: String, provider: String)?
    /// The difference in words, if it is not a difference of types.
    var clause = ""
    var parties: LayoutParties

    /// The difference as a clause to follow a type's name and "where".
    var sentence: String {
        guard let types else { return clause }
        let subject = place.names.isEmpty ? "it" : "`\(place.text)`"
        return "\(subject) is \(types.user) for the \(parties.user) and \(types.provider) for the \(parties.provider)"
    }
}

/// A comparison of layouts from two texts.
struct LayoutComparison {
    let user: LayoutNames
    let provider: LayoutNames
    var parties = LayoutParties.wire

    /// Returns the first difference; `nil` if there is none.
    func difference(_ a: TypeLayout, _ b: TypeLayout, at place: LayoutPath = LayoutPath()) -> LayoutDifference? {
        switch (a, b) {
        case (.standard(let name, let arguments), .standard(let other, let others))
        where name == other && arguments.count == others.count:
            for pair in zip(arguments, others) {
                guard let difference = difference(pair.0, pair.1, at: place.argument) else { continue }
                return isOf(place.argument, difference) ? types(a, b, at: place) : difference
            }
            return nil
        case (.tuple(let size, let elements), .tuple(let otherSize, let others))
        where elements.map(\.label) == others.map(\.label):
            for (index, pair) in zip(elements, others).enumerated() {
                let inside = place.member(pair.0.label ?? String(index))
                if let difference = difference(pair.0.type, pair.1.type, at: inside) { return difference }
            }
            return size == otherSize ? nil : self.size(size, otherSize, of: user.name(of: a), at: place)
        case (.declared(let a), .declared(let b)) where a.name.isDeclared(as: b.name):
            return difference(a, b, at: place)
        case (.reference(let number), .reference(let other)) where number == other:
            return nil
        default:
            return types(a, b, at: place)
        }
    }

    private func difference(_ a: TypeLayout.Declaration, _ b: TypeLayout.Declaration, at place: LayoutPath)
        -> LayoutDifference?
    {
        let name = user.name(of: a), inside = place.inside(name)
        guard a.isEnumeration == b.isEnumeration else {
            let user = a.isEnumeration ? "an enum" : "a struct", provider = b.isEnumeration ? "an enum" : "a struct"
            return clause(
                "`\(name)` is \(user) for the \(parties.user) and \(provider) for the \(parties.provider)", at: place)
        }
        for arguments in zip(a.name.components, b.name.components).lazy.map({ zip($0.arguments, $1.arguments) }) {
            for pair in arguments {
                guard let difference = difference(pair.0, pair.1, at: place.argument) else { continue }
                return isOf(place.argument, difference) ? types(.declared(a), .declared(b), at: place) : difference
            }
        }
        switch (a.rawType, b.rawType) {
        case (nil, nil): break
        case (let raw?, let other?):
            if let difference = difference(raw, other, at: inside.member("rawValue")) { return difference }
        default:
            return clause("`\(name)` has a raw type for the \(side(a.rawType != nil)) only", at: place)
        }
        if let clause = names(a.members.map(\.name), b.members.map(\.name), of: name, isCases: a.isEnumeration) {
            return self.clause(clause, at: place)
        }
        for (member, other) in zip(a.members, b.members) {
            let path = inside.member(member.name)
            guard member.isIndirect == other.isIndirect else {
                return clause(
                    "`\(path.text)` is indirect for the \(side(member.isIndirect)) only", at: place)
            }
            switch (member.type, other.type) {
            case (nil, nil): break
            case (let type?, let other?):
                if let difference = difference(type, other, at: path) { return difference }
            default:
                return clause(
                    "`\(path.text)` has a payload for the \(side(member.type != nil)) only", at: place)
            }
        }
        return a.size == b.size ? nil : size(a.size, b.size, of: name, at: place)
    }

    /// Returns whether a difference is that of a whole generic argument.
    ///
    /// In this case `[Int]` and `[String]` are more informative than `Int` and `String`.
    private func isOf(_ argument: LayoutPath, _ difference: LayoutDifference) -> Bool {
        difference.types != nil && difference.place == argument
    }

    /// Returns the difference between the names of fields or cases.
    private func names(_ a: [String], _ b: [String], of type: String, isCases: Bool) -> String? {
        if a == b { return nil }
        let users = Set(a), providers = Set(b)
        if let only = a.first(where: { !providers.contains($0) }) {
            return "`\(type).\(only)` exists only for the \(parties.user)"
        }
        if let only = b.first(where: { !users.contains($0) }) {
            return "`\(type).\(only)` exists only for the \(parties.provider)"
        }
        return
            "the \(isCases ? "cases" : "fields") of `\(type)` are in a different order for the \(parties.user) than "
            + "for the \(parties.provider)"
    }

    private func types(_ a: TypeLayout, _ b: TypeLayout, at place: LayoutPath) -> LayoutDifference {
        LayoutDifference(place: place, types: LayoutNames.distinct(user, a, provider, b), parties: parties)
    }

    private func clause(_ text: String, at place: LayoutPath) -> LayoutDifference {
        LayoutDifference(place: place, types: nil, clause: text, parties: parties)
    }

    /// The name of the side that alone has something.
    private func side(_ isUser: Bool) -> String { isUser ? parties.user : parties.provider }

    private func size(_ a: TypeSize, _ b: TypeSize, of type: String, at place: LayoutPath) -> LayoutDifference {
        let text =
            a.size == b.size
            ? "`\(type)` is stored differently for the \(parties.user) and for the \(parties.provider)"
            : "`\(type)` is \(a.size) bytes for the \(parties.user) and \(b.size) for the \(parties.provider)"
        return clause(text, at: place)
    }
}

extension TypeLayout.QualifiedName {
    /// Returns whether both names refer to the same declaration, regardless of generic arguments.
    fileprivate func isDeclared(as other: Self) -> Bool {
        components.count == other.components.count
            && zip(components, other.components).allSatisfy {
                $0.label == $1.label && $0.arguments.count == $1.arguments.count
            }
    }
}
