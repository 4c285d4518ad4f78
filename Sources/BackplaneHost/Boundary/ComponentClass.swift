package import Backplane
import CBackplane
import Synchronization

/// The host's view of a component class: the content of its descriptor, and the functions behind it.
package struct ComponentClass: Sendable {
    package let description: ComponentDescription
    let functions: Functions
    let origin: LaneOrigin
    /// The provider's end of wires to this class.
    package let providerSide: LaneSide
    /// The calling ends of the class's wires, in the order of their descriptions.
    private let consumerEnds: [ConsumerEnd]
    /// The class's end of a transfer of state; `nil` for a class without state.
    package let stateSide: StateSide?

    /// Whether instances accept another configuration.
    package var isReconfigurable: Bool { functions.component.reconfigure != nil }

    /// Returns the calling end of one of the class's wires, or `nil` for a label that it does not declare.
    func consumerEnd(ofWire label: String) -> ConsumerEnd? {
        description.wires.firstIndex { $0.label == label }.map { consumerEnds[$0] }
    }

    package func consumerSide(ofWire label: String) -> LaneSide? { consumerEnd(ofWire: label)?.side }

    /// Requests the texts of all layouts, which are otherwise read when they are needed.
    package func readLayouts() {
        for layout in [providerSide.layout, stateSide?.layout] + consumerEnds.map(\.side.layout) { _ = layout?.read() }
    }

    /// The functions and tables to which the descriptor points.
    struct Functions: Sendable {
        private let descriptor: ForeignTable<bp_component>
        private let stateDescriptor: ForeignTable<bp_state>?
        private let lanePointer: ConstantPointer<bp_component_lane>?
        private let stateLanePointer: ConstantPointer<bp_state_lane>?

        var component: bp_component { descriptor.table }
        var state: bp_state? { stateDescriptor?.table }
        var lane: bp_component_lane? { lanePointer?.pointer.pointee }
        var stateLane: bp_state_lane? { stateLanePointer?.pointer.pointee }

        init(_ component: bp_component, sharesSlots: Bool) {
            let state: bp_state? = component.state.map { read($0) }
            descriptor = ForeignTable(component)
            stateDescriptor = state.map { ForeignTable($0) }
            lanePointer = sharesSlots ? ConstantPointer(untyped: component.lane) : nil
            stateLanePointer = sharesSlots ? ConstantPointer(untyped: state?.lane) : nil
        }
    }
}

/// The calling end of a wire: the contract as the caller compiled it, and the caller's encoded cells.
package struct ConsumerEnd: Sendable {
    package let side: LaneSide
    /// The function that creates cells that call a target as JSON; it returns `nil` for a caller that calls through the
    /// host.
    let makeCells: @Sendable (EncodedTarget) -> Cells?
}

/// The reading of plugins' descriptors, which are not trusted.
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
        var wires: [WireDescription] = [], ends: [ConsumerEnd] = []
        for wire in try Descriptors.read(component.wires, count: component.wire_count, of: "\(name)'s wires") {
            let label = try texts.name(wire.label, "\(name): a wire's label")
            guard !wires.contains(where: { $0.label == label }) else {
                throw BackplaneError(.pluginInvalidAnswer, "\(name) declares two wires named `\(label)`")
            }
            let end = try ConsumerEnd(wire, of: "\(name).\(label)", from: origin)
            wires.append(
                WireDescription(
                    label: label, isOptional: wire.flags & UInt32(BP_WIRE_OPTIONAL) != 0, contract: end.side.contract))
            ends.append(end)
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
        let functions = Functions(component, sharesSlots: origin.sharesSlots), lane = functions.lane
        let stateLayout = LayoutText(functions.stateLane.map { ($0.layout, $0.type) })
        self.init(
            description: description, functions: functions, origin: origin,
            providerSide: LaneSide(
                origin, contract ?? ContractDescription(of: NoContract.self),
                lane.map { ($0.layout, $0.rehearse, $0.type) }),
            consumerEnds: ends, stateSide: description.state.map { StateSide(origin, $0, stateLayout) })
    }

    /// Reads the consumer's end of a wire that a component of this class requests without declaring it.
    ///
    /// - Throws: `plugin.invalid-answer`.
    func needed(_ wire: UnsafePointer<bp_wire>) throws(BackplaneError) -> ConsumerEnd {
        try ConsumerEnd(read(wire), of: "a lookup of \(description.className)", from: origin)
    }

    fileprivate static func contract(
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

extension ConsumerEnd {
    /// Reads a plugin's descriptor of a wire.
    fileprivate init(_ wire: bp_wire, of owner: @autoclosure () -> String, from origin: LaneOrigin)
        throws(BackplaneError)
    {
        let contract = try ComponentClass.contract(
            wire.contract, wire.contract_version, wire.methods, wire.method_count, of: owner())
        let pointer: ConstantPointer<bp_wire_lane>? = origin.sharesSlots ? ConstantPointer(untyped: wire.lane) : nil
        side = LaneSide(
            origin, contract, (pointer?.pointer.pointee).map { ($0.layout, $0.rehearse, $0.type) })
        makeCells = { target in
            guard let lane = pointer?.pointer.pointee else { return nil }
            return lane.make_cells(lane.type, target.provider).map(Cells.init)
        }
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
    /// The keys are JSON pointers. A plugin without a function for reviews reports no keys.
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
    /// The arguments with which a component is created.
    struct OfferedCreation: Sendable {
        var number: UInt16
        var handle: UInt64
        var configuration: [UInt8]
        /// The private folder of the component; empty if it has none.
        var folder: String
        /// The folder of the plugin's resource files; empty if there are none.
        var resources: String
        var connections: [OfferedWire]
    }

    /// A wire with which a component is created.
    struct OfferedWire: Sendable {
        var label: String
        /// The handle with which a plugin calls through the host.
        var wire: UInt64
        var slot: Slot
    }

    /// Creates an instance through the plugin, and waits for the result.
    ///
    /// - Parameter watch: A function that receives the number of the operation before it starts.
    /// - Throws: The error of the component.
    func create(
        _ creation: OfferedCreation, _ watch: Callbacks.Watch
    ) async throws(BackplaneError) -> ComponentInstance {
        let ended = await Callbacks.wait(watch, answered: { releaseLate($0, isLate: $1) }) {
            [functions, origin] context in
            let labels = Pairs(creation.connections.map { ($0.label, "") })
            labels.withPairs { labels in
                let connections = zip(labels, creation.connections).map { label, connection in
                    bp_connection(
                        size: UInt32(MemoryLayout<bp_connection>.size), reserved: 0, label: label.name,
                        wire: connection.wire,
                        slot: origin.sharesSlots ? connection.slot.address : nil)
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
        return ComponentInstance(functions, instance)
    }

    /// Releases an instance whose creation was no longer awaited.
    private func releaseLate(_ ended: Callbacks.Ended, isLate: Bool) {
        if isLate, let instance = ended.instance.raw { functions.component.release?(instance) }
    }
}

// Written by hand: synthesis beside the types would add the conformances to every plugin, and plugins do not compare
// them.

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
