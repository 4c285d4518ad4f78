import CBackplane

/// The cells of one binding, by member.
///
/// Encoded ones live as long as the process, native ones as long as their instance.
package struct Cells: @unchecked Sendable {  // written once, before it is shared
    package let pointer: UnsafePointer<UnsafeRawPointer?>?

    package init(_ pointer: UnsafePointer<UnsafeRawPointer?>?) { self.pointer = pointer }

    static let none = Cells(nil)

    init(of members: [(name: String, type: any EncodedMember.Type)], calling target: EncodedTarget) {
        pointer = forever(
            members.map { member in member.type.makeCell(EncodedMethod(name: member.name, target: target)) })
    }

    /// Creates the cells of an encoded wire of contract `C` for the host program's own use.
    package init<C: Contract>(_: C.Type, calling target: EncodedTarget) {
        self.init(of: Members<C>().all, calling: target)
    }
}
