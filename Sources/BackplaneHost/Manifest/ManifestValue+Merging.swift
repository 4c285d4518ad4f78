import BackplaneDocuments

extension ManifestValue {
    /// The value with a patch over it, as JSON Merge Patch (RFC 7396) has it: dictionaries are merged, null takes a member
    /// away, everything else, arrays too, takes the place of what was there.
    ///
    /// - Parameters:
    ///   - place: where the patch is written.
    ///   - origins: gets the places of what comes from the patch, and of what it takes away.
    func merging(_ patch: ManifestValue, writtenAt place: ManifestPath, _ origins: inout ManifestOrigins) -> ManifestValue {
        guard case .dictionary(let changes) = patch, case .dictionary(var members) = self else {
            origins = ManifestOrigins(place)
            return patch.withoutNullMembers
        }
        for (key, change) in changes {
            if change == .null {
                members.removeValue(forKey: key)
                origins[key] = ManifestOrigins(place / key)
            } else if let member = members[key] {
                members[key] = member.merging(change, writtenAt: place / key, &origins[key])
            } else {
                members[key] = change.withoutNullMembers
                origins[key] = ManifestOrigins(place / key)
            }
        }
        return .dictionary(members)
    }

    private var withoutNullMembers: ManifestValue {
        guard case .dictionary(let members) = self else { return self }
        return .dictionary(members.filter { $0.value != .null }.mapValues(\.withoutNullMembers))
    }
}
