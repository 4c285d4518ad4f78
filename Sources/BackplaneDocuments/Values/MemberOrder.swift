/// The order in which the members of a value, and of those in it, are written.
package protocol MemberOrder {
    /// The order in the elements of an array that this is the order of.
    var elements: Self { get }
    /// The order in a member.
    func member(_ key: String) -> Self
    func ordered(_ members: [String: DocumentValue]) -> [(key: String, value: DocumentValue)]
}

/// The order of the alphabet everywhere.
struct AlphabeticalOrder: MemberOrder {
    var elements: Self { self }
    func member(_ key: String) -> Self { self }
    func ordered(_ members: [String: DocumentValue]) -> [(key: String, value: DocumentValue)] { members.sorted { $0.key < $1.key } }
}
