import Backplane
import CBackplane
import Synchronization

/// The host that is notified of the graphs of a component, through `backplane.operations/1`.
struct HostGraphs: Sendable {
    private let table: ConstantPointer<bp_operations_1>
    private let component: UInt64

    /// Creates the access to the host; returns `nil` if the host does not have the service.
    init?(_ services: ComponentServices) {
        guard let table = services.host.table(BP_OPERATIONS, revision: 1, as: bp_operations_1.self) else { return nil }
        (self.table, component) = (table, services.handle)
    }

    /// Reports a graph that starts, unless the host refuses it.
    func begin(_ engine: GraphEngine) {
        let context = Unmanaged.passRetained(engine)
        let number = engine.name.withBytes { name in
            engine.queue.name.withBytes { queue in
                var own = bp_operation(
                    size: UInt32(MemoryLayout<bp_operation>.size), reserved: 0, name: name, queue: queue,
                    node_count: UInt64(engine.store.steps.count),
                    count: { context, counts in GraphEngine.at(context).count(counts) },
                    describe: { context, from, most, done, doneContext in
                        let rows = GraphEngine.at(context).rows(from: from, upTo: most)
                        let answer = Reply(done, doneContext)
                        do throws(BackplaneError) {
                            answer.end(EncodedAnswer(try JSON.encode(rows, failing: .callInvalidOutput)))
                        } catch {
                            answer.end(error)
                        }
                    },
                    change: { context, change, node in GraphEngine.at(context).change(change, node: node) },
                    release: { Unmanaged<GraphEngine>.fromOpaque($0!).release() }, context: context.toOpaque(),
                    watch: { context in GraphEngine.at(context).follow() })
                return table.pointer.pointee.begin(component, &own)
            }
        }
        guard number != 0 else { return context.release() }
        engine.state.withLock { $0.number = number }
        // A graph that a user of the host has cancelled in the meantime did not know its number.
        if engine.hasEnded { end(number) }
    }

    /// Reports that the states of a graph's nodes have changed.
    func changed(_ number: UInt64) { table.pointer.pointee.changed(component, number) }

    /// Reports the end of a graph.
    func end(_ number: UInt64) { table.pointer.pointee.end(component, number) }
}

/// The description of a node that the host shows.
private struct DescribedNode: Encodable {
    var name, state: String
    /// The numbers of the nodes that the node waits for, and of the nodes among them that need not succeed.
    var needs, always: [Int]?
}

extension GraphEngine {
    var hasEnded: Bool { state.withLock { $0.scheduler.remaining == 0 } }

    fileprivate static func at(_ context: UnsafeMutableRawPointer?) -> GraphEngine {
        guard let context else { preconditionFailure("a function of a graph was called without its context") }
        return Unmanaged<GraphEngine>.fromOpaque(context).takeUnretainedValue()
    }

    /// Writes the numbers of nodes by state, in the order of `BP_NODE_…` and ``NodeState``.
    fileprivate func count(_ counts: UnsafeMutablePointer<UInt64>) {
        var numbers: [NodeState: UInt64] = [:]
        for node in state.withLock({ $0.scheduler.nodes }) { numbers[node.shown, default: 0] += 1 }
        for (place, state) in NodeState.allCases.enumerated() { counts[place] = numbers[state] ?? 0 }
    }

    /// Returns the descriptions of nodes, beginning with the node `first`.
    fileprivate func rows(from first: UInt64, upTo limit: UInt64) -> [DescribedNode] {
        let count = store.steps.count, first = min(Int(clamping: first), count)
        let scheduler = state.withLock(\.scheduler)
        return (first..<first + min(Int(clamping: limit), count - first)).map { number in
            let needs = scheduler.shape.needs[of: number]
            let always = needs.filter { $0.kind != .plain }
            return DescribedNode(
                name: store.steps[number].name, state: scheduler.nodes[number].shown.rawValue,
                needs: needs.isEmpty ? nil : needs.map(\.node), always: always.isEmpty ? nil : always.map(\.node))
        }
    }

    /// Changes a node, or all nodes for a negative number.
    fileprivate func change(_ change: UInt32, node: Int64) {
        let count = store.steps.count
        guard node < Int64(count) else { return }
        self.change { scheduler in
            let nodes = node < 0 ? 0..<count : Int(node)..<Int(node) + 1
            switch Int(change) {
            case Int(BP_OPERATION_PAUSE): scheduler.hold(nodes)
            case Int(BP_OPERATION_RESUME): scheduler.release(nodes)
            case Int(BP_OPERATION_CANCEL) where node < 0: scheduler.cancelAll()
            case Int(BP_OPERATION_CANCEL): scheduler.cancel(nodes)
            default: break
            }
        }
    }

    /// Reports every change to the host from now on.
    fileprivate func follow() {
        state.withLock { state in
            state.isFollowed = true
            state.observe()
        }
    }
}
