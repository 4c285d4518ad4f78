/// The order in which the members of a value, and of the values in it, are written.
package protocol MemberOrder {
    /// The order within the elements of an array.
    var elements: Self { get }
    /// Returns the order within a member.
    func member(_ key: String) -> Self
    func ordered(_ members: [String: DocumentValue]) -> [(key: String, value: DocumentValue)]
}

/// The alphabetical order, at every level.
struct AlphabeticalOrder: MemberOrder {
    var elements: Self { self }
    func member(_ key: String) -> Self { self }
    func ordered(_ members: [String: DocumentValue]) -> [(key: String, value: DocumentValue)] {
        members.sorted { $0.key < $1.key }
    }
}
