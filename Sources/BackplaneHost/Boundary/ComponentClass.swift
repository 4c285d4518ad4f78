package import Backplane
package import CBackplane
import Synchronization

/// The host's view of a component class: the content of its descriptor, and the functions behind it.
package struct ComponentClass: Sendable {
    package let description: ComponentDescription
    let functions: Functions
    let origin: LaneOrigin
    /// A Boolean value that indicates whether the class shares slots with this host.
    package var sharesSlots: Bool { origin.sharesSlots }

    /// A Boolean value that indicates whether instances accept another configuration.
    package var isReconfigurable: Bool { functions.component.reconfigure != nil }

    /// Requests the texts of all layouts, which are otherwise read when they are needed.
    package func readLayouts() {
        for layout in [functions.layout, functions.stateLayout] + functions.wireLayouts { _ = layout.read() }
    }

    /// The functions and tables to which the descriptor points.
    struct Functions: Sendable {
        private let descriptor: ForeignTable<bp_component>
        private let stateDescriptor: ForeignTable<bp_state>?
        private let lanePointer: ConstantPointer<bp_component_lane>?
        private let stateLanePointer: ConstantPointer<bp_state_lane>?
        private let wireLanes: [ConstantPointer<bp_wire_lane>?]
        let layout: LayoutText
        let rehearse: LaneSide.Rehearsal
        let wireLayouts: [LayoutText]
        let wireRehearsals: [LaneSide.Rehearsal]
        let stateLayout: LayoutText

        var component: bp_component { descriptor.table }
        var state: bp_state? { stateDescriptor?.table }
        var lane: bp_component_lane? { lanePointer?.pointer.pointee }
        var stateLane: bp_state_lane? { stateLanePointer?.pointer.pointee }

        init(
            _ component: bp_component, _ lane: ConstantPointer<bp_component_lane>?,
            _ wireLanes: [ConstantPointer<bp_wire_lane>?], sharesSlots: Bool
        ) {
            let state: bp_state? = component.state.map { read($0) }
            descriptor = ForeignTable(component)
            stateDescriptor = state.map { ForeignTable($0) }
            (lanePointer, self.wireLanes) = (lane, wireLanes)
            stateLanePointer = sharesSlots ? ConstantPointer(untyped: state?.lane) : nil
            layout = LayoutText(lane.map { ($0.pointer.pointee.layout, $0.pointer.pointee.type) })
            rehearse = rehearsal(lane.map { ($0.pointer.pointee.rehearse, $0.pointer.pointee.type) })
            wireLayouts = wireLanes.map { lane in
                LayoutText(lane.map { ($0.pointer.pointee.layout, $0.pointer.pointee.type) })
            }
            wireRehearsals = wireLanes.map { lane in
                rehearsal(lane.map { ($0.pointer.pointee.rehearse, $0.pointer.pointee.type) })
            }
            stateLayout = LayoutText(stateLanePointer.map { ($0.pointer.pointee.layout, $0.pointer.pointee.type) })
        }

        func wireLane(_ index: Int) -> bp_wire_lane? { wireLanes[index]?.pointer.pointee }
    }
}

/// Reading of plugins' descriptors, none of which are trusted.
extension ComponentClass {
    static func all(of answer: bp_answer, from origin: LaneOrigin) throws(BackplaneError) -> [ComponentClass] {
        let descriptors = try Descriptors.read(answer.components, count: answer.component_count, of: "components")
        var classes: [ComponentClass] = [], known: Set<Name> = []
        for descriptor in descriptors {
            let next = try ComponentClass(descriptor, from: origin)
            guard known.insert(Name(className: next.description.className, version: next.description.version)).inserted
            else {
                throw BackplaneError(
                    .pluginInvalidAnswer,
                    "the plugin registers \(next.description.className) \(next.description.version) twice")
            }
            classes.append(next)
        }
        return classes
    }

    /// The key that identifies a component class of a plugin.
    private struct Name: Hashable {
        var className: String
        var version: Version
    }

    private init(_ component: bp_component, from origin: LaneOrigin) throws(BackplaneError) {
        let texts = AnswerTexts()
        let name = try texts.name(component.class_name, "a component's class name")
        guard let role = Role(rawValue: component.role) else {
            throw BackplaneError(.pluginInvalidAnswer, "\(name): expected a role from 1 to 4, found \(component.role)")
        }
        guard component.create != nil else {
            throw BackplaneError(.pluginInvalidAnswer, "\(name) has no `create` function")
        }
        var contract: ContractDescription?
        if component.contract.length > 0 {
            contract = try Self.contract(
                component.contract, component.contract_version, component.methods, component.method_count, of: name)
        }
        let methods = contract?.methods ?? []
        guard component.call != nil || !methods.contains(where: { !$0.isStream }) else {
            throw BackplaneError(.pluginInvalidAnswer, "\(name) has methods but no `call` function")
        }
        if let stream = methods.first(where: \.isStream) {
            let missing = [
                component.open == nil ? "open" : nil, component.next == nil ? "next" : nil,
                component.close == nil ? "close" : nil,
            ].compactMap(\.self)
            guard missing.isEmpty else {
                throw BackplaneError(
                    .pluginInvalidAnswer,
                    "\(name) has the stream `\(stream.name)` but no function \(missing.map { "`\($0)`" }.joined(separator: ", ")); set it, and set `size` to sizeof(bp_component)"
                )
            }
        }
        var wires: [WireDescription] = [], lanes: [ConstantPointer<bp_wire_lane>?] = []
        for wire in try Descriptors.read(component.wires, count: component.wire_count, of: "\(name)'s wires") {
            let label = try texts.name(wire.label, "\(name): a wire's label")
            guard !wires.contains(where: { $0.label == label }) else {
                throw BackplaneError(.pluginInvalidAnswer, "\(name) declares two wires named `\(label)`")
            }
            wires.append(
                WireDescription(
                    label: label, isOptional: wire.flags & UInt32(BP_WIRE_OPTIONAL) != 0,
                    contract: try Self.contract(
                        wire.contract, wire.contract_version, wire.methods, wire.method_count, of: "\(name).\(label)")))
            lanes.append(origin.sharesSlots ? ConstantPointer(untyped: wire.lane) : nil)
        }
        let description = ComponentDescription(
            role: role, className: name, version: try texts.version(component.version, "\(name)'s version"),
            contract: contract, wires: wires,
            isExclusive: component.traits & UInt32(BP_EXCLUSIVE) != 0,
            restartsOnSwap: component.traits & UInt32(BP_RESTART_ON_SWAP) != 0,
            state: try component.state.map { pointer throws(BackplaneError) in
                let state = try StateDescription(read(pointer), of: name)
                try requireAlignment(pointer, of: "\(name)'s state")
                return state
            }, annotation: try texts.json(component.annotation, "\(name)'s annotation", limit: 262_144))
        let lane: ConstantPointer<bp_component_lane>? =
            origin.sharesSlots ? ConstantPointer(untyped: component.lane) : nil
        self.init(
            description: description, functions: Functions(component, lane, lanes, sharesSlots: origin.sharesSlots),
            origin: origin)
    }

    /// Reads the consumer's end of a wire that a component of this class requests without declaring it.
    ///
    /// - Throws: `plugin.invalid-answer`.
    package func needed(_ wire: UnsafePointer<bp_wire>) throws(BackplaneError) -> NeededEnd {
        let wire: bp_wire = read(wire)
        let contract = try Self.contract(
            wire.contract, wire.contract_version, wire.methods, wire.method_count,
            of: "a lookup of \(description.className)")
        let lane: ConstantPointer<bp_wire_lane>? = sharesSlots ? ConstantPointer(untyped: wire.lane) : nil
        let layout = LayoutText(lane.map { ($0.pointer.pointee.layout, $0.pointer.pointee.type) })
        let rehearse = rehearsal(lane.map { ($0.pointer.pointee.rehearse, $0.pointer.pointee.type) })
        return NeededEnd(side: LaneSide(origin, contract, layout, rehearse), lane: lane)
    }

    private static func contract(
        _ name: bp_bytes, _ version: bp_bytes, _ methods: UnsafePointer<bp_method>?, _ count: Int,
        of owner: @autoclosure () -> String
    ) throws(BackplaneError) -> ContractDescription {
        let texts = AnswerTexts()
        var contract = ContractDescription(
            name: try texts.name(name, "\(owner()): the contract's name"),
            version: try texts.version(version, "\(owner()): the contract's version"))
        for method in try Descriptors.read(methods, count: count, of: "\(owner())'s methods") {
            let name = try texts.name(method.name, "\(owner()): a method's name")
            guard !contract.methods.contains(where: { $0.name == name }) else {
                throw BackplaneError(.pluginInvalidAnswer, "\(owner()) has two methods named `\(name)`")
            }
            contract.methods.append(MethodDescription(name: name, kind: MethodKind(rawValue: method.kind)))
        }
        return contract
    }
}

/// The consumer's end of a wire that a component requests in a lookup.
package struct NeededEnd: Sendable {
    package let side: LaneSide
    let lane: ConstantPointer<bp_wire_lane>?

    /// Creates the encoded cells; `nil` if the plugin calls through handles instead.
    package func makeCells(calling target: EncodedTarget) -> Cells? {
        guard let lane = lane?.pointer.pointee else { return nil }
        return lane.make_cells(lane.type, target.provider).map(Cells.init)
    }
}

extension ConstantPointer {
    /// Creates the pointer to a table whose type the header does not specify.
    init?(untyped table: UnsafeRawPointer?) {
        guard let table else { return nil }
        self.init(table.assumingMemoryBound(to: Pointee.self))
    }
}

extension ComponentClass {
    /// Returns the keys of a configuration that the class does not declare, or the error that an instance would throw
    /// for it.
    ///
    /// The keys are JSON pointers. For a plugin without a function for reviews, there are none.
    package func review(_ configuration: [UInt8]) -> Result<[String], BackplaneError> {
        guard let review = functions.component.review else { return .success([]) }
        let silence = BackplaneError(
            .pluginInvalidAnswer,
            "\(description.className) was asked to review a configuration, but did not answer before returning")
        let answer = Callbacks.immediateAnswer(or: silence) { done, context in
            configuration.withBytes { review(functions.component.type, $0, done, context) }
        }
        return Result { () throws(BackplaneError) in
            try JSON.decode([String].self, answer.get(), failing: .pluginInvalidAnswer)
        }
    }
}

extension ComponentClass {
    /// The provider's end of wires to this class.
    package var providerSide: LaneSide {
        LaneSide(
            origin, description.contract ?? ContractDescription(of: NoContract.self), functions.layout,
            functions.rehearse)
    }

    /// Returns the consumer's end of one of the class's wires; `nil` for a label that it does not declare.
    package func consumerSide(ofWire label: String) -> LaneSide? {
        guard let index = description.wires.firstIndex(where: { $0.label == label }) else { return nil }
        return LaneSide(
            origin, description.wires[index].contract, functions.wireLayouts[index], functions.wireRehearsals[index])
    }

    /// The class's end of a transfer of state; `nil` for a class without state.
    package var stateSide: StateSide? {
        description.state.map { StateSide(origin, $0, functions.stateLayout) }
    }

    /// Creates the encoded cells of one of the class's wires; `nil` if the plugin calls through handles instead.
    package func makeCells(forWire label: String, calling target: EncodedTarget) -> Cells? {
        guard let index = description.wires.firstIndex(where: { $0.label == label }),
            let lane = functions.wireLane(index)
        else { return nil }
        return lane.make_cells(lane.type, target.provider).map(Cells.init)
    }
}

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

// Written by hand, because synthesis beside the types would add the conformances to every plugin, which compares none.

extension ComponentDescription: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.role, a.className, a.version, a.contract) == (b.role, b.className, b.version, b.contract)
            && (a.wires, a.isExclusive, a.restartsOnSwap, a.state, a.annotation) == (
                b.wires, b.isExclusive, b.restartsOnSwap, b.state, b.annotation
            )
    }
}

extension StateDescription: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.schema, a.version, a.accepts, a.writes) == (b.schema, b.version, b.accepts, b.writes)
    }
}

extension ContractDescription: Hashable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.name, a.version, a.methods) == (b.name, b.version, b.methods)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(version)
        hasher.combine(methods)
    }
}

extension MethodDescription: Hashable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.name, a.kind) == (b.name, b.kind)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(kind.rawValue)
    }
}

extension MethodKind: Equatable {
    package static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

extension WireDescription: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.label, a.isOptional, a.contract) == (b.label, b.isOptional, b.contract)
    }
}
