/// The rule: what was released stays where it is, and what is new comes behind it.
extension BoundaryLayout {
    /// What of `kept` is no longer so here, a sentence each; none: whoever was compiled with it may go on.
    func breaches(of kept: BoundaryLayout) -> [String] {
        var breaches: [String] = []
        if !abi.contains(kept.abi.lowerBound) || !abi.contains(kept.abi.upperBound) {
            breaches.append(
                "ABI \(kept.abi.lowerBound) to \(kept.abi.upperBound) was spoken, and now \(abi.lowerBound) to \(abi.upperBound) is"
            )
        }
        for old in kept.structs {
            guard let new = structs.first(where: { $0.name == old.name }) else {
                breaches.append("struct \(old.name) is gone")
                continue
            }
            breaches += new.breaches(of: old)
        }
        breaches += Self.breaches(of: kept.constants, in: constants) + Self.breaches(of: kept.functions, in: functions)
        return breaches
    }

    private static func breaches(of kept: [Named], in named: [Named]) -> [String] {
        kept.compactMap { old in
            guard let new = named.first(where: { $0.name == old.name }) else { return "\(old.name) is gone" }
            return new == old ? nil : "\(old.name) was `\(old.value)` and is `\(new.value)`"
        }
    }
}

extension BoundaryLayout.Struct {
    fileprivate func breaches(of kept: Self) -> [String] {
        var breaches: [String] = []
        if alignment != kept.alignment {
            breaches.append("\(name) was aligned to \(kept.alignment) and is aligned to \(alignment)")
        }
        if size < kept.size { breaches.append("\(name) had \(kept.size) bytes and has \(size)") }
        if kept.neverGrows, size > kept.size || !neverGrows {
            breaches.append("\(name) never grows, and has \(size) bytes for \(kept.size), or may grow")
        }
        for old in kept.fields {
            guard let new = fields.first(where: { $0.name == old.name }) else {
                breaches.append("\(name).\(old.name) is gone")
                continue
            }
            if new.offset != old.offset {
                breaches.append("\(name).\(old.name) has moved from \(old.offset) to \(new.offset)")
            }
            if new.size != old.size { breaches.append("\(name).\(old.name) had \(old.size) bytes and has \(new.size)") }
            if new.type != old.type { breaches.append("\(name).\(old.name) was `\(old.type)` and is `\(new.type)`") }
        }
        // Not in its padding either: whoever was compiled with the kept one says with its `size` that it has filled
        // that.
        for field in fields where field.offset < kept.size && !kept.fields.contains(where: { $0.name == field.name }) {
            breaches.append(
                "\(name).\(field.name) is new at \(field.offset), within the \(kept.size) bytes that were released")
        }
        return breaches
    }
}
