package import CBackplane
import Synchronization

/// The host's services, as offered to a plugin.
package struct HostServices: Sendable {
    private let find: bp_get_interface

    package init(_ find: @escaping bp_get_interface) { self.find = find }

    /// Returns a service's function table, which lives as long as the process; `nil` if the host does not have it.
    ///
    /// The longer table of a newer host begins with the functions known here.
    package func table<Table>(_ id: String, revision: UInt32, as _: Table.Type) -> ConstantPointer<Table>? {
        guard let table = id.withBytes({ find($0, revision) }),
            Int(table.load(as: UInt32.self)) >= MemoryLayout<Table>.size
        else { return nil }
        return ConstantPointer(table.assumingMemoryBound(to: Table.self))
    }
}

/// The host's services for one component, identified by its handle.
public struct ComponentServices: Sendable {
    package let host: HostServices
    /// The number that identifies the component to every service.
    package let handle: UInt64
    /// The records of the contracts that the plugin names.
    let contracts: ContractRecords
    package let log: Log
    let tasks: ComponentTasks
    let resources: Resources
    /// The path of the component's private folder; empty for managers.
    package let folder: String
    /// The slots of looked-up managers, for a host of another lane revision.
    let ownSlots = OwnSlots()
    /// The objects that other SDK targets store for the component.
    package let attachments = Attachments()

    /// The configuration as written in the manifest, in JSON.
    let rawConfiguration: [UInt8]

    init(host: HostServices, _ contracts: ContractRecords, _ creation: ComponentRecord.ReceivedCreation) {
        (self.host, self.contracts) = (host, contracts)
        (handle, rawConfiguration, folder) = (creation.handle, creation.configuration, creation.folder)
        tasks = ComponentTasks(HostTimers(host, component: creation.handle))
        log = Log(host, component: creation.handle)
        resources = Resources(folder: creation.resources.isEmpty ? nil : creation.resources)
    }
}

extension Log {
    /// Creates the component's access to the host's log; without a log, messages are dropped.
    init(_ host: HostServices, component: UInt64) {
        guard let table = host.table(BP_LOG, revision: 1, as: bp_log_1.self) else {
            self.init(isEnabled: { _ in false }, write: { _, _, _, _ in })
            return
        }
        self.init(
            isEnabled: { table.pointer.pointee.is_enabled(component, $0.rawValue) != 0 },
            write: { level, message, metadata, call in
                let log = table.pointer.pointee
                message.withBytes { message in
                    Pairs(metadata.sorted { $0.key < $1.key }).withPairs { pairs in
                        guard let call else {
                            return log.write(component, level.rawValue, message, pairs.baseAddress, pairs.count)
                        }
                        call.withC {
                            log.write_for_call(
                                component, $0, level.rawValue, message, pairs.baseAddress, pairs.count)
                        }
                    }
                }
            })
    }
}

extension ComponentServices {
    /// Requests a wire to a manager from the host.
    func find<C: Contract>(_ name: String, _: C.Type, _ call: Call?) async throws(BackplaneError) -> Wire<C> {
        let needed = contracts.neededWire(C.self)
        if let problem = needed.wire.problems.first { throw BackplaneError(.wireMismatch, problem) }
        let table = try calls()
        let found: Result<Found, BackplaneError> = await withUnsafeContinuation { continuation in
            let context = Box<@Sendable (Result<Found, BackplaneError>) -> Void> { continuation.resume(returning: $0) }
                .toContext()
            name.withBytes { name in
                if let call {
                    call.withC {
                        table.pointer.pointee.find(handle, name, needed.descriptor.pointer, $0, received, context)
                    }
                } else {
                    table.pointer.pointee.find(handle, name, needed.descriptor.pointer, nil, received, context)
                }
            }
        }
        let connection = try found.get()
        let wire = connection.wire
        guard
            let slot = connection.slot
                ?? ownSlots.slot(of: wire, { needed.wire.ownSlot(component: handle, wire: wire, host) })
        else {
            throw BackplaneError(
                .interfaceMissing,
                "the host connects \(name) in a way that this version of the SDK does not support; rebuild the plugin with a newer SDK"
            )
        }
        return Wire(slot)
    }

    /// Returns the managers that serve a contract.
    func providers<C: Contract>(of _: C.Type) async throws(BackplaneError) -> [ManagerDescription] {
        let answer = PendingAnswer()
        try calls().pointer.pointee.providers(
            handle, contracts.neededWire(C.self).descriptor.pointer, PendingAnswer.done, answer.toContext())
        // A lookup takes no time worth cancelling.
        return try JSON.decode([ListedManager].self, await answer.wait {}.get(), failing: .callInvalidOutput).map(
            \.description)
    }

    private func calls() throws(BackplaneError) -> ConstantPointer<bp_calls_1> {
        guard let table = host.table(BP_CALLS, revision: 1, as: bp_calls_1.self) else {
            throw BackplaneError(
                .interfaceMissing, "the host does not offer \(BP_CALLS)/1, which is needed to look up managers")
        }
        return table
    }
}

/// A manager in the host's list.
private struct ListedManager: Decodable {
    let description: ManagerDescription

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        description = ManagerDescription(
            name: try container.decode(String.self, forKey: TextKey("name")),
            className: try container.decode(String.self, forKey: TextKey("className")),
            version: try container.decode(Version.self, forKey: TextKey("version")),
            plugin: try container.decode(String.self, forKey: TextKey("plugin")))
    }
}

/// The result of a lookup.
private struct Found: Sendable {
    var wire: UInt64
    /// The slot of the wire; `nil` if the host has another lane revision, and the SDK creates the slot.
    var slot: Slot?
}

private let received: bp_found = { context, status, found, payload in
    let answer: Result<Found, BackplaneError>
    if status == Int32(BP_OK), let found {
        let connection: bp_connection = read(found)
        answer = .success(
            Found(wire: connection.wire, slot: connection.slot.map { Slot($0.assumingMemoryBound(to: bp_slot.self)) }))
    } else {
        answer = .failure(EncodedAnswer(status, payload).error)
    }
    Box<@Sendable (Result<Found, BackplaneError>) -> Void>.take(context)(answer)
}

/// The objects that other SDK targets store for a component, one of each class.
package final class Attachments: Sendable {
    // An array: there are few, and a dictionary would make the runtime search every loaded image for `Hashable`.
    private let objects = Mutex<[any AnyObject & Sendable]>([])

    /// Returns the object of a class, which is created when it is first requested.
    package func object<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
        objects.withLock { objects in
            for object in objects where type(of: object) == Object.self { return object as! Object }  // just compared
            let new = make()
            objects.append(new)
            return new
        }
    }
}

/// The cancellation of an operation across the boundary, whether it is requested before or after its id is known.
package struct Cancellation: Sendable {
    private final class State: Sendable {
        let value = Mutex((id: UInt64(0), isCancelled: false))
    }
    private let send: @Sendable (UInt64) -> Void
    private let state = State()

    package init(_ send: @escaping @Sendable (UInt64) -> Void) { self.send = send }

    /// Sets the operation's id, and cancels it if that has been requested.
    ///
    /// - Parameter id: The id; 0 if the operation has already ended.
    package func began(_ id: UInt64) {
        let isCancelled = state.value.withLock { value in
            value.id = id
            return value.isCancelled
        }
        if isCancelled, id != 0 { send(id) }
    }

    package func cancel() {
        let id = state.value.withLock { value in
            value.isCancelled = true
            return value.id
        }
        if id != 0 { send(id) }
    }
}
