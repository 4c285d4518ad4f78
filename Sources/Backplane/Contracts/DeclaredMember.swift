/// The only stored property of a contract's member.
///
/// A member states its own type, because the runtime would search every loaded image to find it from outside.
struct DeclaredMember: Sendable {
    /// The name used across the boundary, if it differs from the property's name.
    let name: String?
    let type: any EncodedMember.Type
}
