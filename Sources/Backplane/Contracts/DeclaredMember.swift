/// The only stored content of a contract's member.
///
/// A member states its own type. To find it from outside, the runtime would search every loaded image.
struct DeclaredMember: Sendable {
    /// The name used across the boundary, where it differs from the property's.
    let name: String?
    let type: any EncodedMember.Type
}
