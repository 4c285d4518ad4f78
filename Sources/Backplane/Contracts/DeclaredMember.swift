/// All that is stored in a member of a contract.
///
/// A member says itself what it is: to find that out from outside, the runtime would look through everything that is loaded.
struct DeclaredMember: Sendable {
    /// The name it crosses under, where that is not the property's.
    let name: String?
    let type: any EncodedMember.Type
}
