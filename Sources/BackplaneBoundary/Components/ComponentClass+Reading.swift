package import Backplane
package import CBackplane

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
            })
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
        return NeededEnd(side: LaneSide(origin, contract, layout), lane: lane)
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
