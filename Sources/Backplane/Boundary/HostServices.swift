package import CBackplane

/// The host's services as its offer to a plugin gives them.
package struct HostServices: Sendable {
    private let find: bp_get_interface

    package init(_ find: @escaping bp_get_interface) { self.find = find }

    /// Returns a service's function table, which lives as long as the process; `nil` if the host does not have it.
    ///
    /// A table that ends before the last function known here counts as missing, because there is no function beyond its
    /// end. A newer host's longer table begins with the functions known here.
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
    let log: Log
    let tasks: ComponentTasks
    let resources: Resources
    /// The slots of looked-up managers, for a host of another lane revision.
    let ownSlots = OwnSlots()

    /// The configuration in JSON, as the manifest gives it.
    let rawConfiguration: [UInt8]

    init(host: HostServices, _ contracts: ContractRecords, _ creation: ComponentRecord.ReceivedCreation) {
        (self.host, self.contracts) = (host, contracts)
        (handle, rawConfiguration, tasks) = (creation.handle, creation.configuration, ComponentTasks())
        log = Log(host, component: creation.handle)
        resources = Resources(folder: creation.resources.isEmpty ? nil : creation.resources)
    }
}

extension Log {
    /// Creates the component's access to the host's log; without a log, messages are dropped.
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
