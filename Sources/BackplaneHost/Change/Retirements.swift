import Backplane

/// The old instances that have not ended because they have calls in flight or are being released.
final class Retirements {
    struct Entry {
        let component: RunningComponent
        let plugin: LoadedPlugin
        /// The bindings that were removed from slots when wires were connected to another instance.
        let bindings: Set<Binding>
        let end: Task<Void, Never>
        let order: Int

        var callsInFlight: Int {
            let leased = Array(bindings).callsInFlight
            // An encoded call whose caller has abandoned it no longer holds a lease.
            return leased > 0 ? leased : component.calls.callsInFlight
        }
    }
    private let live: LiveComposition
    private let instances: Instances
    private let lookUps: LookUpsUnderWay
    private var entries: [Int: Entry] = [:]
    private var last = 0

    init(_ live: LiveComposition, _ instances: Instances, _ lookUps: LookUpsUnderWay) {
        (self.live, self.instances, self.lookUps) = (live, instances, lookUps)
    }

    /// The retirements, in the order in which they started.
    var all: [Entry] { entries.values.sorted { $0.order < $1.order } }

    /// Retires an instance without callers: returns immediately, and ends the instance once its calls in flight have
    /// ended.
    ///
    /// - Parameters:
    ///   - suspending: Whether the instance must release what it has acquired.
    ///   - hasServed: Whether the instance has started, and not only been created.
    func add(
        _ component: RunningComponent, _ node: LiveNode, of plugin: LoadedPlugin, _ bindings: Set<Binding>,
        suspending: Bool, hasServed: Bool = true,
        in domain: isolated (any Actor)? = #isolation
    ) async {
        node.state = .stopped
        component.streams.interrupt(.streamInterrupted)
        component.gate.disown(bindings)
        // Until it has ended, the instance may itself call other components.
        live.admit(node)
        last += 1
        let order = last
        let end = Task {
            _ = domain
            await finish(component, node, bindings, suspending: suspending, hasServed: hasServed)
            entries[order] = nil
        }
        entries[order] = Entry(component: component, plugin: plugin, bindings: bindings, end: end, order: order)
    }

    /// Waits for all retirements when the host stops.
    func endAll() async {
        for retirement in all { await retirement.end.value }
    }

    private func finish(
        _ component: RunningComponent, _ node: LiveNode, _ bindings: Set<Binding>, suspending: Bool, hasServed: Bool
    ) async {
        let limit = live.options.stopLimit, starter = instances.starter
        let isIdle = {
            bindings.allSatisfy { $0.callsInFlight == 0 } && component.calls.callsInFlight == 0
                && component.streams.count == 0 && !component.instance.isInStep
                && starter.graphs.count(of: component.handle) == 0
        }
        if !Drain.looks(isIdle) {
            await live.waits(for: isIdle)
            if live.isStopped {
                starter.graphs.cancelAll(of: component.handle)
                _ = await live.clock.waits(limit, for: isIdle)
            }
        }
        component.calls.close()
        // A cancellation may have come to it before; nothing does any more.
        guard await live.clock.waits(min(limit, .seconds(1)), for: isIdle) else {
            live.log(
                .error,
                component.stillInUse(isInStep: component.instance.isInStep), component)
            live.leaveBehind(component)
            await starter.retire(component.handle, releasing: nil)
            return instances.giveBack(node)
        }
        if suspending {
            do {
                if let cut = try await instances.suspend(component, limit, canBeGivenUp: false) {
                    live.log(.warning, cut, component)
                }
            } catch {
                live.log(.error, "did not release its resources after it was swapped", component, error)
            }
        }
        if hasServed { live.log(.debug, "stopped", component) }
        lookUps.giveUp(of: node)
        // Its tasks may have opened streams after it was suspended.
        live.endStreams(openedBy: component)
        component.settle()
        await starter.retire(component.handle, releasing: component.instance)
        instances.giveBack(node)
        live.endStreams(openedBy: component)
    }
}
