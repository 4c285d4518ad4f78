package import Backplane
import CBackplane

extension ComponentClass {
    /// The provider's end of wires to this class.
    package var providerSide: LaneSide {
        LaneSide(origin, description.contract ?? ContractDescription(of: NoContract.self), functions.layout)
    }

    /// Returns the consumer's end of one of the class's wires; `nil` for a label that it does not declare.
    package func consumerSide(ofWire label: String) -> LaneSide? {
        guard let index = description.wires.firstIndex(where: { $0.label == label }) else { return nil }
        return LaneSide(origin, description.wires[index].contract, functions.wireLayouts[index])
    }

    /// The class's end of a transfer of state; `nil` for a class without state.
    package var stateSide: StateSide? {
        description.state.map { StateSide(origin, $0, functions.stateLayout) }
    }

    /// Creates the encoded cells of one of the class's wires; `nil` if the plugin calls through handles instead.
    package func makeCells(forWire label: String, calling target: EncodedTarget) -> Cells? {
        guard let index = description.wires.firstIndex(where: { $0.label == label }),
            let lane = functions.wireLane(index)
        else { return nil }
        return lane.make_cells(lane.type, target.provider).map(Cells.init)
    }
}
