import BackplaneDocuments

extension ManifestValue {
    /// Returns the value merged with a patch, as defined by JSON Merge Patch (RFC 7396).
    ///
    /// Dictionaries are merged, null removes a member, and any other value, including an array, replaces the existing
    /// value.
    ///
    /// - Parameters:
    ///   - place: The location at which the patch is written.
    ///   - origins: The locations of values that the patch adds or removes, which this method updates.
    func merging(_ patch: ManifestValue, writtenAt place: ManifestPath, _ origins: inout ManifestOrigins)
        -> ManifestValue
    {
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
