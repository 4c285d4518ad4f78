import Backplane
import BackplaneBoundary
import CBackplane
import Synchronization

/// The functions of `backplane.operations/1`.
let operationFunctions = bp_operations_1(
    size: UInt32(MemoryLayout<bp_operations_1>.size), reserved: 0,
    begin: { handle, operation in
        guard let component = ComponentHandles.find(handle), component.role != .dataAccessController else { return 0 }
        let operation: bp_operation = read(operation)
        guard operation.describe != nil else { return 0 }
        return component.beginOperation(operation, owner: handle)
    },
    end: { handle, number in ComponentHandles.find(handle)?.operations.host.end(number, owner: handle) })

/// The plugin's side of a graph: its functions and their context, which is released with this object.
final class OperationFunctions: Sendable {
    /// The number of nodes that are asked for at once.
    private static let page: UInt64 = 1_000
    private let functions: ForeignTable<bp_operation>
    private let isReleased = Mutex(true)
    private var operation: bp_operation { functions.table }

    init(_ operation: bp_operation) { functions = ForeignTable(operation) }

    deinit {
        if isReleased.withLock(\.self) { operation.release?(operation.context) }
    }

    /// Leaves the context to the plugin, since the graph was not taken.
    func keepsContext() { isReleased.withLock { $0 = false } }

    /// The names and states of the nodes, as far as the plugin says them.
    var nodes: [(name: String, state: String)] {
        var nodes: [(name: String, state: String)] = []
        while nodes.count < Int(clamping: operation.node_count) {
            let said = Said()
            operation.describe?(
                operation.context, UInt64(nodes.count), Self.page,
                { context, status, payload in
                    guard let context else { return }
                    let said = Unmanaged<Said>.fromOpaque(context).takeUnretainedValue()
                    said.answer.withLock { $0 = EncodedAnswer(status, payload) }
                }, Unmanaged.passUnretained(said).toOpaque())
            guard let answer = said.answer.withLock(\.self), let json = try? answer.get(),
                let page = try? JSON.decode([[String]].self, json, failing: .callInvalidOutput), !page.isEmpty
            else { break }
            for node in page where node.count == 2 { nodes.append((node[0], node[1])) }
            if page.contains(where: { $0.count != 2 }) { break }
        }
        return nodes
    }

    func change(_ change: UInt32, node: Int?) { operation.change?(operation.context, change, node.map { Int64($0) } ?? -1) }

    /// The answer to a function that answers before it returns.
    private final class Said: Sendable {
        let answer = Mutex<EncodedAnswer?>(nil)
    }
}

extension OfferedServices {
    /// Adds a graph of the component, unless that is closed.
    fileprivate func beginOperation(_ operation: bp_operation, owner: UInt64) -> UInt64 {
        do throws(BackplaneError) { try begin() } catch { return 0 }
        defer { end() }
        return operations.host.begin(operation, of: operations, owner: owner)
    }
}
