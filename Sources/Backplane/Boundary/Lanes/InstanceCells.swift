/// The cells of one component, which native wires to it call.
///
/// They live as long as the component.
struct InstanceCells: @unchecked Sendable {  // written once, freed when no more calls are possible
    private let bodies: [(any MethodBody)?]
    private let table: UnsafeMutableBufferPointer<UnsafeRawPointer?>

    init(_ bodies: [(any MethodBody)?], _ held: UnsafeRawPointer) {
        self.bodies = bodies
        table = .allocate(capacity: bodies.count)
        _ = table.initialize(from: bodies.map { $0.map { UnsafeRawPointer($0.makeCell(held)) } })
    }

    /// The table of cells; `nil` for a component without methods.
    var pointer: UnsafePointer<UnsafeRawPointer?>? { table.isEmpty ? nil : UnsafePointer(table.baseAddress) }

    func free() {
        for (body, cell) in zip(bodies, table) {
            if let body, let cell { body.freeCell(UnsafeMutableRawPointer(mutating: cell)) }
        }
        table.deallocate()
    }
}
