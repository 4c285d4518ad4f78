import Testing

/// A change to the tables of a library, and what is said about it.
struct LoaderDamage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The flags with which the library is linked.
    let flags: [String]
    let apply: @Sendable (inout LoaderImage) throws -> String

    /// Creates a change; `apply` returns the whole message.
    init(_ name: String, _ flags: [String] = [], _ apply: @escaping @Sendable (inout LoaderImage) throws -> String) {
        (testDescription, self.flags, self.apply) = (name, flags, apply)
    }

    /// Checks that the library is accepted without the change, and refused with it.
    func requireRefusal() throws {
        var image = try LoaderImage(flags)
        try #require(image.problem == nil, "the control")
        let message = try apply(&image)
        #expect(image.problem == message)
        #expect(image.withoutSections.problem == message, "the loader does not read sections")
    }
}
