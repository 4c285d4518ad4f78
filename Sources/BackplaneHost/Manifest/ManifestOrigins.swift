import BackplaneDocuments

/// Where those values of a manifest are written that an environment has put in the place of others.
///
/// A tree like the manifest itself, but only as far as the environment reaches.
package struct ManifestOrigins: Sendable, Hashable {
    /// Where this value and all in it are written; `nil`: in their own place, unless the members say otherwise.
    private var place: ManifestPath?
    /// By the steps of a pointer.
    private var members: [String: ManifestOrigins] = [:]

    init(_ place: ManifestPath? = nil) {
        self.place = place
    }

    subscript(key: String) -> ManifestOrigins {
        get { members[key.pointerStep] ?? ManifestOrigins() }
        set { members[key.pointerStep] = newValue == ManifestOrigins() ? nil : newValue }
    }

    /// The place of a value that a pointer leads to from here; `nil`: where the pointer says.
    func place(of pointer: String) -> String? {
        if place == nil, members.isEmpty { return nil }
        let (node, rest) = walk(pointer)
        return node.place.map { $0.description + rest }
    }

    /// What is below a value.
    func below(_ path: ManifestPath) -> ManifestOrigins {
        if members.isEmpty { return ManifestOrigins() }
        let (node, rest) = walk(path.description)
        return node.place == nil && rest.isEmpty ? node : ManifestOrigins()
    }

    /// As far down as the tree goes, and what is left of the pointer then.
    private func walk(_ pointer: String) -> (node: ManifestOrigins, rest: String) {
        var node = self, rest = pointer.unicodeScalars[...]
        while node.place == nil, rest.first == "/" {
            let step = rest.dropFirst().prefix { $0 != "/" }
            guard let next = node.members[String(step)] else { break }
            node = next
            rest = rest[step.endIndex...]
        }
        return (node, String(rest))
    }
}
