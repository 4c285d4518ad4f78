import Backplane

/// Decides the lane of a wire to one component, and makes what its slot holds.
struct Connector {
    let provider: RunningComponent
    let options: HostOptions

    /// - Parameter makeCells: the consumer's encoded cells; `nil`: it calls through the host.
    func connect(_ consumer: LaneSide, _ comparisons: inout LayoutComparisons, makeCells: () -> Cells?) -> (Binding, WireStatus.Lane) {
        let lane = Lane(from: consumer, to: provider.type.providerSide, options.lanes) { comparisons.difference($0, $1) }
        switch (lane, provider.nativeBinding) {
        case (.native, let binding?): return (binding, .native)
        case (.encoded(let reason), _): return encoded(makeCells(), reason)
        case (.native, nil): return encoded(makeCells(), "\(provider.name) brings no native lane")
        }
    }

    private func encoded(_ cells: Cells?, _ reason: String) -> (Binding, WireStatus.Lane) {
        if let cells { return (Binding(cells, counting: options.counting), .encoded(because: reason)) }
        return (.withoutCells(counting: options.counting), .served(because: reason))
    }
}
