import Backplane
import BackplaneBoundary

/// The calling end of a wire: the contract as the caller compiled it, and the caller's encoded cells.
struct ConsumerEnd {
    let side: LaneSide
    /// The function that creates cells that call a target as JSON; it returns `nil` if the caller calls through the
    /// host.
    let makeCells: (EncodedTarget) -> Cells?
}

extension ComponentClass {
    /// Returns the calling end of one of the class's wires, or `nil` for a label that it does not declare.
    func consumerEnd(ofWire label: String) -> ConsumerEnd? {
        consumerSide(ofWire: label).map { side in ConsumerEnd(side: side) { makeCells(forWire: label, calling: $0) } }
    }
}
