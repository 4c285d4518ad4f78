import Backplane
import BackplaneBoundary
import CBackplane
import Synchronization

/// The host's services for one component, and what it has under way with them.
final class OfferedServices: Sendable {
    let role: Role
    let name: String
    let log: any LogSink
    let exchanges: Exchanges
    let store: HostStore
    /// Where its records are in the store.
    let namespace: String
    /// How it reaches managers that its wires do not name.
    let managers: ManagerFinder
    /// Its wires by handle, for components that call through the host.
    private let wires: Mutex<[UInt64: ServedWire]>
    private let operations = Mutex(Operations())

    private struct Operations {
        /// What the host still owes an answer for.
        var count = 0
        var isClosed = false
        /// The calls among them, by a number of their own.
        var calls: [UInt64: OwnCall] = [:]
    }
    /// A call that the component makes through the host.
    private struct OwnCall {
        let reply: Reply
        /// Tells the provider that nobody wants its answer; `nil`: it has not begun yet.
        var cancel: (@Sendable () -> Void)?
    }

    init(
        role: Role, name: String, log: any LogSink, exchanges: Exchanges, store: HostStore, namespace: String, wires: [UInt64: ServedWire],
        managers: ManagerFinder
    ) {
        (self.role, self.name, self.log, self.exchanges) = (role, name, log, exchanges)
        (self.store, self.namespace, self.managers) = (store, namespace, managers)
        self.wires = Mutex(wires)
    }

    /// - Throws: `wire.unknown` for a handle that is not one of its wires'.
    func wire(_ handle: UInt64) throws(BackplaneError) -> ServedWire {
        if let wire = wires.withLock({ $0[handle] }) { return wire }
        throw BackplaneError(.wireUnknown, "the component has no wire with the handle \(handle)")
    }

    var allWires: [ServedWire] { wires.withLock { Array($0.values) } }

    /// Takes a wire that was looked up; what it has already stays.
    func add(_ wire: ServedWire, as handle: UInt64) {
        wires.withLock { $0[handle] = wire }
    }

    /// Counts an operation in, whose answer goes to the component; ``end()`` follows once it was given.
    ///
    /// - Throws: `call.retired` once the component was closed.
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

    /// Counts a call in, whose answer goes to `reply`: once, by ``answer(_:_:_:)`` or when the component is closed.
    ///
    /// - Throws: `call.retired` once the component was closed.
    func begin(_ reply: Reply) throws(BackplaneError) -> UInt64 {
        let id = Callbacks.newID()
        try begin { $0.calls[id] = OwnCall(reply: reply) }
        return id
    }

    /// Keeps how a call is cancelled; one that was closed meanwhile is cancelled at once.
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

    /// Refuses what comes, and ends the exchanges and the calls under way.
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

    /// - Throws: `role.forbidden` unless it has one of the roles.
    func require(_ roles: Role..., for service: String) throws(BackplaneError) {
        guard !roles.contains(role) else { return }
        let allowed = roles.map { "\($0)s" }.joined(separator: " and ")
        throw BackplaneError(.roleForbidden, "\(name) is a \(role); only \(allowed) use \(service)")
    }
}

extension BackplaneError {
    static var askerStopped: BackplaneError { BackplaneError(.callRetired, "the component that asks has stopped") }
}
