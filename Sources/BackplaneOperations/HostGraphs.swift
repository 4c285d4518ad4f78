import Backplane
import CBackplane

/// The host that is told about the graphs of a component, through `backplane.operations/1`.
struct HostGraphs: Sendable {
    private let table: ConstantPointer<bp_operations_1>
    private let component: UInt64

    /// Creates the way to the host; `nil` if that is older than the service.
    init?(_ services: ComponentServices) {
        guard let table = services.host.table(BP_OPERATIONS, revision: 1, as: bp_operations_1.self) else { return nil }
        (self.table, component) = (table, services.handle)
    }

    /// Reports a graph that begins, and returns its number; `nil` if the host does not take it.
    func begin(_ engine: GraphEngine) -> UInt64? {
        let context = Unmanaged.passRetained(engine)
        let number = engine.name.withBytes { name in
            var own = bp_operation(
                size: UInt32(MemoryLayout<bp_operation>.size), reserved: 0, name: name,
                node_count: UInt64(engine.store.steps.count),
                describe: { context, from, most, done, doneContext in
                    let reply = Reply(done, doneContext), engine = GraphEngine.at(context)
                    do throws(BackplaneError) {
                        let rows = engine.rows(from: Int(clamping: from), upTo: Int(clamping: most))
                        reply.end(EncodedAnswer(try JSON.encode(rows, failing: .callInvalidOutput)))
                    } catch {
                        reply.end(error)
                    }
                },
                change: { context, change, node in GraphEngine.at(context).change(change, node: node) },
                release: { Unmanaged<GraphEngine>.fromOpaque($0!).release() }, context: context.toOpaque())
            return table.pointer.pointee.begin(component, &own)
        }
        guard number != 0 else {
            context.release()
            return nil
        }
        return number
    }

    func end(_ number: UInt64) { table.pointer.pointee.end(component, number) }
}

extension GraphEngine {
    fileprivate static func at(_ context: UnsafeMutableRawPointer?) -> GraphEngine {
        guard let context else { preconditionFailure("a function of a graph was called without its context") }
        return Unmanaged<GraphEngine>.fromOpaque(context).takeUnretainedValue()
    }

    /// Returns the names and states of nodes, beginning with one.
    fileprivate func rows(from first: Int, upTo limit: Int) -> [[String]] {
        let count = store.steps.count, start = min(max(0, first), count), end = start + min(max(0, limit), count - start)
        let states = state.withLock { state in (start..<end).map { state.scheduler.nodes[$0].shown.rawValue } }
        return zip(store.steps[start..<end], states).map { [$0.name, $1] }
    }

    /// Changes a node, or all with a negative number.
    fileprivate func change(_ change: UInt32, node: Int64) {
        let count = store.steps.count
        guard node < Int64(count) else { return }
        self.change { scheduler, actions in
            let nodes = node < 0 ? Array(0..<count) : [Int(node)]
            switch Int(change) {
            case Int(BP_OPERATION_PAUSE): scheduler.hold(nodes, &actions)
            case Int(BP_OPERATION_RESUME): scheduler.release(nodes, &actions)
            case Int(BP_OPERATION_CANCEL) where node < 0: scheduler.cancelAll(&actions)
            case Int(BP_OPERATION_CANCEL): scheduler.cancel(nodes, &actions)
            default: break
            }
        }
    }
}
