import Backplane
import BackplaneBoundary

/// The end of a wire that calls: how it compiled the contract, and how it gets cells that call as JSON.
struct ConsumerEnd {
    let side: LaneSide
    /// `nil`: it calls through the host.
    let makeCells: (EncodedTarget) -> Cells?
}

extension ComponentClass {
    /// Its end of one of its wires; `nil` for a label that it does not declare.
    func consumerEnd(ofWire label: String) -> ConsumerEnd? {
        consumerSide(ofWire: label).map { side in ConsumerEnd(side: side) { makeCells(forWire: label, calling: $0) } }
    }
}
