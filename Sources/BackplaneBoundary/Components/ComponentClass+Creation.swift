package import Backplane
import CBackplane

extension ComponentClass {
    /// The arguments with which a component is created.
    package struct OfferedCreation: Sendable {
        package var number: UInt16
        package var handle: UInt64
        package var configuration: [UInt8]
        /// The private folder of the component; empty if it has none.
        package var folder: String
        /// The folder of the plugin's resource files; empty if there are none.
        package var resources: String
        package var connections: [OfferedWire]

        package init(
            number: UInt16, handle: UInt64, configuration: [UInt8], folder: String, resources: String,
            connections: [OfferedWire]
        ) {
            (self.number, self.handle, self.configuration) = (number, handle, configuration)
            (self.folder, self.resources, self.connections) = (folder, resources, connections)
        }
    }

    /// A wire with which a component is created.
    package struct OfferedWire: Sendable {
        package var label: String
        /// The handle with which a plugin calls through the host.
        package var wire: UInt64
        package var slot: Slot

        package init(label: String, wire: UInt64, slot: Slot) {
            (self.label, self.wire, self.slot) = (label, wire, slot)
        }
    }

    /// Creates an instance through the plugin, and waits for the result.
    ///
    /// - Parameters:
    ///   - watch: A function that receives the number of the operation before it starts.
    ///   - launch: A function that runs this and every later step of the instance.
    /// - Throws: The error of the component.
    package func create(
        _ creation: OfferedCreation, _ watch: Callbacks.Watch, _ launch: @escaping Callbacks.Launch
    ) async throws(BackplaneError) -> ComponentInstance {
        let ended = await Callbacks.wait(watch, launch, answered: { releaseLate($0, isLate: $1) }) {
            [functions] context in
            let labels = Pairs(creation.connections.map { ($0.label, "") })
            labels.withPairs { labels in
                let connections = zip(labels, creation.connections).map { label, connection in
                    bp_connection(
                        size: UInt32(MemoryLayout<bp_connection>.size), reserved: 0, label: label.name,
                        wire: connection.wire,
                        slot: sharesSlots ? connection.slot.address : nil)
                }
                creation.configuration.withBytes { configuration in
                    creation.folder.withBytes { folder in
                        creation.resources.withBytes { resources in
                            connections.withUnsafeBufferPointer { connections in
                                var own = bp_creation(
                                    size: UInt32(MemoryLayout<bp_creation>.size), number: UInt32(creation.number),
                                    handle: creation.handle,
                                    configuration: configuration, folder: folder, wires: connections.baseAddress,
                                    wire_count: connections.count,
                                    resources: resources)
                                functions.component.create?(functions.component.type, &own, Callbacks.created, context)
                            }
                        }
                    }
                }
            }
        }
        _ = try ended.answer.get()
        guard let instance = ended.instance.raw else {
            throw BackplaneError(
                .componentFailed, "\(description.className) reported that it was created but returned no instance")
        }
        return ComponentInstance(functions, instance, launch)
    }

    /// Releases an instance whose creation was no longer awaited.
    private func releaseLate(_ ended: Callbacks.Ended, isLate: Bool) {
        if isLate, let instance = ended.instance.raw { functions.component.release?(instance) }
    }
}
