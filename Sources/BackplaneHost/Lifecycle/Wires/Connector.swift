import Backplane
import BackplaneBoundary

/// The choice of the lane of a wire to one component, and the creation of the slot's binding.
struct Connector {
    let provider: RunningComponent
    let options: LifecycleOptions

    /// Returns the binding and the lane for a wire.
    ///
    /// - Parameter consumer: The calling end, or `nil` for calls by name.
    func connect(_ consumer: ConsumerEnd?, _ comparisons: inout LayoutComparisons) -> (Binding, WireStatus.Lane) {
        guard let consumer else { return served([], "it is called by name") }
        let lane = LaneChoice(from: consumer.side, to: provider.type.providerSide, options.lanes) {
            comparisons.difference($0, $1)
        }
        switch (lane, provider.instance.nativeCells) {
        case (.native, let cells?):
            return (Binding(cells, counting: options.counting, keeper: provider.target), .native)
        case (.encoded(let reason), _): return encoded(consumer, reason)
        case (.native, nil): return encoded(consumer, "\(provider.name) has no native lane")
        }
    }

    private func encoded(_ consumer: ConsumerEnd, _ reason: String) -> (Binding, WireStatus.Lane) {
        guard let cells = consumer.makeCells(provider.target) else {
            return served(consumer.side.contract.methods, reason)
        }
        return (Binding(cells, counting: options.counting), .encoded(because: reason))
    }

    private func served(_ methods: [MethodDescription], _ reason: String) -> (Binding, WireStatus.Lane) {
        (Binding(keeping: ServedTarget(provider.calls, methods), counting: options.counting), .served(because: reason))
    }
}
