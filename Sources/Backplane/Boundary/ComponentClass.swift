import CBackplane

/// A component class as the host knows it: what its descriptor says, and the functions behind it.
package struct ComponentClass: Sendable {
    package let description: ComponentDescription
    let functions: Functions
    let origin: LaneOrigin
    /// Does it share slots with this host?
    private var sharesSlots: Bool { origin.revision == LaneOrigin.program.revision }

    /// What a component is made with.
    package struct Creation: Sendable {
        package var number: UInt16
        package var handle: UInt64
        package var configuration: [UInt8]
        /// Empty where there is none.
        package var folder: String
        /// Empty where there are none.
        package var resources: String
        package var connections: [Connection]

        package init(
            number: UInt16, handle: UInt64, configuration: [UInt8], folder: String, resources: String, connections: [Connection]
        ) {
            (self.number, self.handle, self.configuration) = (number, handle, configuration)
            (self.folder, self.resources, self.connections) = (folder, resources, connections)
        }
    }

    /// One of its wires, as it is handed over.
    package struct Connection: Sendable {
        package var label: String
        /// The handle that a plugin calls through the host with.
        package var wire: UInt64
        package var slot: Slot

        package init(label: String, wire: UInt64, slot: Slot) {
            (self.label, self.wire, self.slot) = (label, wire, slot)
        }
    }

    /// The descriptor's pointers: constant, and alive as long as the process.
    struct Functions: @unchecked Sendable {
        let component: bp_component
        let lane: bp_component_lane?
        let wireLanes: [bp_wire_lane?]
        let layout: LayoutText
        let wireLayouts: [LayoutText]

        init(_ component: bp_component, _ lane: bp_component_lane?, _ wireLanes: [bp_wire_lane?]) {
            (self.component, self.lane, self.wireLanes) = (component, lane, wireLanes)
            nonisolated(unsafe) let lane = lane     // constant, as all of this
            layout = LayoutText { lane.map { $0.layout($0.type).text } }
            wireLayouts = wireLanes.map { lane in
                nonisolated(unsafe) let lane = lane
                return LayoutText { lane.map { $0.layout($0.type).text } }
            }
        }
    }

    static func all(of answer: bp_answer, from origin: LaneOrigin) throws(BackplaneError) -> [ComponentClass] {
        let descriptors = try Descriptors<bp_component>(answer.components, count: answer.component_count, of: "components")
        var classes: [ComponentClass] = []
        for descriptor in descriptors {
            let next = try ComponentClass(descriptor, from: origin)
            guard !classes.contains(where: { $0.description.className == next.description.className && $0.description.version == next.description.version }) else {
                throw BackplaneError(.pluginInvalidAnswer, "the plugin registers \(next.description.className) \(next.description.version) twice")
            }
            classes.append(next)
        }
        return classes
    }

    private init(_ component: bp_component, from origin: LaneOrigin) throws(BackplaneError) {
        self.origin = origin
        let sharesSlots = origin.revision == LaneOrigin.program.revision
        let texts = AnswerTexts()
        let name = try texts.name(component.class_name, "a component's class name")
        guard let role = Role(rawValue: component.role) else {
            throw BackplaneError(.pluginInvalidAnswer, "\(name): role \(component.role) is none of 1 to 4")
        }
        guard component.create != nil else { throw BackplaneError(.pluginInvalidAnswer, "\(name) has no `create` function") }
        var contract: ContractDescription?
        if component.contract.length > 0 {
            contract = try Self.contract(component.contract, component.contract_version, component.methods, component.method_count, of: name)
        }
        guard contract?.methods.isEmpty != false || component.call != nil else {
            throw BackplaneError(.pluginInvalidAnswer, "\(name) has methods and no `call` function")
        }
        var wires: [WireDescription] = [], lanes: [bp_wire_lane?] = []
        for wire in try Descriptors<bp_wire>(component.wires, count: component.wire_count, of: "\(name)'s wires") {
            let label = try texts.name(wire.label, "\(name): a wire's label")
            guard !wires.contains(where: { $0.label == label }) else {
                throw BackplaneError(.pluginInvalidAnswer, "\(name) declares two wires named `\(label)`")
            }
            wires.append(
                WireDescription(
                    label: label, isOptional: wire.flags & UInt32(BP_WIRE_OPTIONAL) != 0,
                    contract: try Self.contract(wire.contract, wire.contract_version, wire.methods, wire.method_count, of: "\(name).\(label)")))
            lanes.append(sharesSlots ? wire.lane?.assumingMemoryBound(to: bp_wire_lane.self).pointee : nil)
        }
        description = ComponentDescription(
            role: role, className: name, version: try texts.version(component.version, "\(name)'s version"), contract: contract, wires: wires)
        let lane = sharesSlots ? component.lane?.assumingMemoryBound(to: bp_component_lane.self).pointee : nil
        functions = Functions(component, lane, lanes)
    }

    private static func contract(
        _ name: bp_bytes, _ version: bp_bytes, _ methods: UnsafePointer<bp_method>?, _ count: Int, of owner: String
    ) throws(BackplaneError) -> ContractDescription {
        let texts = AnswerTexts()
        var contract = ContractDescription(
            name: try texts.name(name, "\(owner): the contract's name"), version: try texts.version(version, "\(owner): the contract's version"))
        for method in try Descriptors<bp_method>(methods, count: count, of: "\(owner)'s methods") {
            let name = try texts.name(method.name, "\(owner): a method's name")
            guard let kind = MethodDescription.Kind(rawValue: method.kind) else {
                throw BackplaneError(.pluginInvalidAnswer, "\(owner).\(name): kind \(method.kind) is neither BP_ASYNC nor BP_SYNC")
            }
            guard !contract.methods.contains(where: { $0.name == name }) else {
                throw BackplaneError(.pluginInvalidAnswer, "\(owner) has two methods named `\(name)`")
            }
            contract.methods.append(MethodDescription(name: name, kind: kind))
        }
        return contract
    }


    /// Makes an instance.
    ///
    /// - Throws: what the component threw.
    package func create(
        _ creation: Creation, _ watch: Callbacks.Watch, _ launch: Callbacks.Launch
    ) async throws(BackplaneError) -> ComponentInstance {
        let ended = await Callbacks.wait(watch, launch, answered: { releaseLate($0, isLate: $1) }) { [functions] context in
            let labels = Pairs(creation.connections.map { ($0.label, "") })
            labels.withPairs { labels in
                let connections = zip(labels, creation.connections).map { label, connection in
                    bp_connection(
                        size: UInt32(MemoryLayout<bp_connection>.size), reserved: 0, label: label.name, wire: connection.wire,
                        slot: sharesSlots ? connection.slot.pointer : nil)
                }
                creation.configuration.withBytes { configuration in
                    creation.folder.withBytes { folder in
                        creation.resources.withBytes { resources in
                            connections.withUnsafeBufferPointer { connections in
                                var own = bp_creation(
                                    size: UInt32(MemoryLayout<bp_creation>.size), number: UInt32(creation.number), handle: creation.handle,
                                    configuration: configuration, folder: folder, wires: connections.baseAddress, wire_count: connections.count,
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
            throw BackplaneError(.componentFailed, "\(description.className) said that it was made and gave no instance")
        }
        return ComponentInstance(functions.component, instance, lane: functions.lane)
    }

    /// Gives up an instance that was made when nobody waited for it any more.
    private func releaseLate(_ ended: Callbacks.Ended, isLate: Bool) {
        if isLate, let instance = ended.instance.raw { functions.component.release?(instance) }
    }
}
