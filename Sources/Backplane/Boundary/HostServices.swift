package import CBackplane

/// The host's services as a plugin reaches them: its offer, kept.
package struct HostServices: Sendable {
    private let find: bp_get_interface

    package init(_ find: @escaping bp_get_interface) { self.find = find }

    /// A service's function table, which lives as long as the process; `nil` when the host does not have it.
    ///
    /// A table that ends before the last function known here counts as missing: what lies behind its end is no function. A
    /// longer one, of a newer host, begins with those known here.
    package func table<Table>(_ id: String, revision: UInt32, as _: Table.Type) -> ConstantPointer<Table>? {
        guard let table = id.withBytes({ find($0, revision) }), Int(table.load(as: UInt32.self)) >= MemoryLayout<Table>.size else { return nil }
        return ConstantPointer(table.assumingMemoryBound(to: Table.self))
    }
}

/// The host's services as one component uses them, by its handle.
public struct ComponentServices: Sendable {
    package let host: HostServices
    /// Names the component to every service; the host looks it up.
    package let handle: UInt64
    /// Those that the plugin names.
    let contracts: ContractRecords
    let log: Log
    let tasks: ComponentTasks
    let resources: Resources
    /// Of what it looked up where the host speaks another lane revision.
    let ownSlots = OwnSlots()

    /// JSON, as the manifest gives it.
    let rawConfiguration: [UInt8]

    init(host: HostServices, _ contracts: ContractRecords, _ creation: ComponentRecord.ReceivedCreation) {
        (self.host, self.contracts) = (host, contracts)
        (handle, rawConfiguration, tasks) = (creation.handle, creation.configuration, ComponentTasks())
        log = Log(host, component: creation.handle)
        resources = Resources(folder: creation.resources.isEmpty ? nil : creation.resources)
    }
}

extension Log {
    /// The host's log; a host without one hears nothing.
    init(_ host: HostServices, component: UInt64) {
        guard let table = host.table(BP_LOG, revision: 1, as: bp_log_1.self) else {
            self.init(isEnabled: { _ in false }, write: { _, _, _ in })
            return
        }
        self.init(
            isEnabled: { table.pointer.pointee.is_enabled(component, $0.rawValue) != 0 },
            write: { level, message, metadata in
                message.withBytes { message in
                    Pairs(metadata.sorted { $0.key < $1.key }).withPairs { pairs in
                        table.pointer.pointee.write(component, level.rawValue, message, pairs.baseAddress, pairs.count)
                    }
                }
            })
    }
}
