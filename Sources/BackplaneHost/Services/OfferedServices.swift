import Backplane
import BackplaneBoundary
import CBackplane
import Synchronization

/// The host's services for one component, and its operations in progress.
final class OfferedServices: Sendable {
    let role: Role
    let name: String
    let log: any LogSink
    let exchanges: Exchanges
    let store: HostStore
    /// The component's namespace in the store.
    let namespace: String
    /// The means by which it reaches managers that its wires do not name.
    let managers: ManagerFinder
    /// The component's wires by handle, for components that call through the host.
    private let wires: Mutex<[UInt64: ServedWire]>
    private let operations = Mutex(Operations())

    private struct Operations {
        /// The number of operations that the host has not answered.
        var count = 0
        var isClosed = false
        /// The calls among those operations, by id.
        var calls: [UInt64: OwnCall] = [:]
    }
    /// A call that the component makes through the host.
    private struct OwnCall {
        let reply: Reply
        /// Notifies the provider that its answer is no longer needed; `nil` until the call has begun.
        var cancel: (@Sendable () -> Void)?
    }

    init(
        role: Role, name: String, log: any LogSink, exchanges: Exchanges, store: HostStore, namespace: String,
        wires: [UInt64: ServedWire],
        managers: ManagerFinder
    ) {
        (self.role, self.name, self.log, self.exchanges) = (role, name, log, exchanges)
        (self.store, self.namespace, self.managers) = (store, namespace, managers)
        self.wires = Mutex(wires)
    }

    /// Returns the wire with a handle.
    ///
    /// - Throws: `wire.unknown` if the component has no such wire.
    func wire(_ handle: UInt64) throws(BackplaneError) -> ServedWire {
        if let wire = wires.withLock({ $0[handle] }) { return wire }
        throw BackplaneError(.wireUnknown, "the component has no wire with the handle \(handle)")
    }

    var allWires: [ServedWire] { wires.withLock { Array($0.values) } }

    /// Adds a wire that was looked up; existing ones stay.
    func add(_ wire: ServedWire, as handle: UInt64) {
        wires.withLock { $0[handle] = wire }
    }

    /// Counts an operation whose answer goes to the component; ``end()`` follows when the answer was given.
    ///
    /// - Throws: `call.retired` if the component is closed.
    func begin() throws(BackplaneError) {
        try begin { _ in }
    }

    private func begin(_ note: (inout Operations) -> Void) throws(BackplaneError) {
        let isOpen = operations.withLock { operations in
            guard !operations.isClosed else { return false }
            operations.count += 1
            note(&operations)
            return true
        }
        if !isOpen { throw .askerStopped }
    }

    func end() {
        operations.withLock { $0.count -= 1 }
    }

    /// Counts a call that is answered through `reply` once: by ``answer(_:_:_:)`` or when the component is closed.
    ///
    /// - Throws: `call.retired` if the component is closed.
    func begin(_ reply: Reply) throws(BackplaneError) -> UInt64 {
        let id = Callbacks.newID()
        try begin { $0.calls[id] = OwnCall(reply: reply) }
        return id
    }

    /// Stores the function that cancels a call, and runs it at once if the component was closed meanwhile.
    func keep(_ call: UInt64, cancel: @escaping @Sendable () -> Void) {
        let isClosed = operations.withLock { operations in
            operations.calls[call]?.cancel = cancel
            return operations.isClosed && operations.calls[call] == nil
        }
        if isClosed { cancel() }
    }

    func answer(_ call: UInt64, _ status: Int32, _ payload: bp_bytes) {
        guard let call = operations.withLock({ $0.calls.removeValue(forKey: call) }) else { return }
        call.reply.end(status, payload)
        end()
    }

    /// Refuses further operations, and ends the exchanges and calls in progress.
    func close() {
        let calls = operations.withLock { operations in
            operations.isClosed = true
            defer { operations.calls = [:] }
            return operations.calls.values.map(\.self)
        }
        exchanges.cancelAll()
        for call in calls {
            call.reply.end(.askerStopped)
            end()
            call.cancel?()
        }
    }

    var isBusy: Bool { operations.withLock { $0.count > 0 } }

    /// Requires the component to have one of the roles.
    ///
    /// - Throws: `role.forbidden` if it has none of them.
    func require(_ roles: Role..., for service: String) throws(BackplaneError) {
        guard !roles.contains(role) else { return }
        let allowed = roles.map { "\($0)s" }.joined(separator: " and ")
        throw BackplaneError(.roleForbidden, "\(name) is a \(role); only \(allowed) use \(service)")
    }
}

extension BackplaneError {
    static var askerStopped: BackplaneError { BackplaneError(.callRetired, "the calling component has stopped") }
}
