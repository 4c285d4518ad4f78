/// The copy of a struct of the other side, whose pointers are only handed back.
///
/// It keeps the struct itself and not a `ConstantPointer` to it, since the other side lends its struct for one call.
package struct ForeignTable<Table>: @unchecked Sendable {  // constant, and never read through on this side
    package let table: Table

    package init(_ table: Table) { self.table = table }
}
