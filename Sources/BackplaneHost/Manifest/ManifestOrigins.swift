import BackplaneDocuments

/// The locations of values that an environment has contributed to a manifest.
///
/// They form a tree like the manifest itself, but only as deep as the environment.
package struct ManifestOrigins: Sendable, Hashable {
    /// The location at which this value and its contents are written; `nil` means their own, unless `members` differ.
    private var place: ManifestPath?
    /// The origins of the members, keyed by reference token of a JSON pointer.
    private var members: [String: ManifestOrigins] = [:]

    init(_ place: ManifestPath? = nil) {
        self.place = place
    }

    subscript(key: String) -> ManifestOrigins {
        get { members[key.pointerStep] ?? ManifestOrigins() }
        set { members[key.pointerStep] = newValue == ManifestOrigins() ? nil : newValue }
    }

    /// Returns the location of the value to which a pointer refers from here; `nil` if it is the pointer's own.
    func place(of pointer: String) -> String? {
        if place == nil, members.isEmpty { return nil }
        let (node, rest) = walk(pointer)
        return node.place.map { $0.description + rest }
    }

    /// Returns the origins of the values below a path.
    func below(_ path: ManifestPath) -> ManifestOrigins {
        if members.isEmpty { return ManifestOrigins() }
        let (node, rest) = walk(path.description)
        return node.place == nil && rest.isEmpty ? node : ManifestOrigins()
    }

    /// Returns the deepest node of the tree on the path to a value, and the rest of the pointer.
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
