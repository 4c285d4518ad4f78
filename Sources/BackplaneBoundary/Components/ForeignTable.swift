/// A copy of a struct of the other side, whose pointers are only passed back.
///
/// It contains the struct itself rather than a `ConstantPointer` to it, because the other side lends its struct for
/// only one call.
package struct ForeignTable<Table>: @unchecked Sendable {  // constant, and never read through on this side
    package let table: Table

    package init(_ table: Table) { self.table = table }
}
