package import CBackplane
import Synchronization

/// The host's services, as offered to a plugin.
package struct HostServices: Sendable {
    private let find: bp_get_interface

    package init(_ find: @escaping bp_get_interface) { self.find = find }

    /// Returns a service's function table, which lives as long as the process; `nil` if the host does not have it.
    ///
    /// An older host's table may end before the last function known here; functions beyond its end are `NULL`. A newer
    /// host's longer table begins with the functions known here.
    ///
    /// - Parameter first: The size of the table when it was first released, in bytes; a smaller table counts as
    ///   missing.
    package func table<Table>(
        _ id: String, revision: UInt32, as _: Table.Type, first: Int = MemoryLayout<Table>.size
    ) -> ConstantPointer<Table>? {
        guard let table = id.withBytes({ find($0, revision) }) else { return nil }
        let size = Int(table.load(as: UInt32.self))
        guard size >= first else { return nil }
        let whole =
            size < MemoryLayout<Table>.size
            ? LengthenedTables.copy(table, size: size, to: MemoryLayout<Table>.size) : table
        return ConstantPointer(whole.assumingMemoryBound(to: Table.self))
    }
}

/// The copies of an older host's function tables, with `NULL` for the functions that they lack.
///
/// They belong to the process, as the tables do: no host says when a table that it has given out is no longer used.
private enum LengthenedTables {
    /// The copies, keyed by the address of the table, so that each table is copied once.
    private static let copies = Mutex<[(table: UInt, copy: UInt)]>([])

    static func copy(_ table: UnsafeRawPointer, size: Int, to whole: Int) -> UnsafeRawPointer {
        let address = UInt(bitPattern: table)
        let copy = copies.withLock { copies -> UInt in
            if let known = copies.first(where: { $0.table == address }) { return known.copy }
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: whole, alignment: 16)
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            memory.copyMemory(from: UnsafeRawBufferPointer(start: table, count: size))
            let copy = UInt(bitPattern: memory.baseAddress)
            copies.append((address, copy))
            return copy
        }
        return UnsafeRawPointer(bitPattern: copy)!
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
        let first = MemoryLayout<bp_log_1>.offset(of: \.write_for_call)!
        guard let table = host.table(BP_LOG, revision: 1, as: bp_log_1.self, first: first) else {
            self.init(isEnabled: { _ in false }, write: { _, _, _, _ in })
            return
        }
        self.init(
            isEnabled: { table.pointer.pointee.is_enabled(component, $0.rawValue) != 0 },
            write: { level, message, metadata, call in
                let functions = table.pointer.pointee
                var metadata = metadata
                // A host that has no such function is given the trace as any other metadata.
                if functions.write_for_call == nil, let trace = call?.trace { metadata["trace"] = trace.id }
                message.withBytes { message in
                    Pairs(metadata.sorted { $0.key < $1.key }).withPairs { pairs in
                        guard let call, let write = functions.write_for_call else {
                            return functions.write(
                                component, level.rawValue, message, pairs.baseAddress, pairs.count)
                        }
                        call.withC {
                            write(component, $0, level.rawValue, message, pairs.baseAddress, pairs.count)
                        }
                    }
                }
            })
    }
}
