package import CBackplane
import Synchronization

/// The boundary's record of a registered class, which lives as long as the process.
final class ComponentRecord: Sendable {
    let description: ComponentDescription
    let wires: [DeclaredWire]
    /// The values of the provided contract.
    let values: ContractValues
    let create: @Sendable (ReceivedCreation) async throws -> Instance
    /// Returns the keys of a configuration that its type does not declare, or throws the same error as ``create``.
    let review: Review
    let isReconfigurable: Bool
    /// The type of the state, or `nil` without state.
    let state: NativeState?
    typealias Review = @Sendable (_ configuration: [UInt8]) throws(BackplaneError) -> [String]

    /// The arguments of a creation, copied from `bp_creation`.
    struct ReceivedCreation: Sendable {
        var handle: UInt64
        /// The configuration in JSON.
        var configuration: [UInt8]
        var connections: [ReceivedWire]
        var folder: String
        var resources: String
    }

    /// A wire of a component that is being created.
    struct ReceivedWire: Sendable {
        var label: String
        var wire: UInt64
        /// The slot of the wire; `nil` if the host has another lane revision, and the SDK creates the slot.
        var slot: Slot?
    }

    init(
        _ description: ComponentDescription, values: ContractValues, wires: [DeclaredWire],
        isReconfigurable: Bool = false,
        state: NativeState? = nil,
        review: @escaping Review,
        create: @escaping @Sendable (ReceivedCreation) async throws -> Instance
    ) {
        (self.description, self.values, self.wires, self.review, self.create) = (
            description, values, wires, review, create
        )
        (self.isReconfigurable, self.state) = (isReconfigurable, state)
    }

    /// Creates the record of a class in Swift.
    ///
    /// - Parameters:
    ///   - bodies: The methods, by their numbers in the contract.
    ///   - encoded: The methods that are called only in JSON, instead of `bodies`.
    ///   - make: A function that creates an instance from its context.
    convenience init<C: Component>(
        _ type: C.Type, named className: String, version: Version, contract: ContractDescription?,
        values: ContractValues,
        bodies: [(any MethodBody)?], encoded: [EncodedStart] = [],
        wires: [DeclaredWire], contracts: ContractRecords, state: StateDescription?, _ coding: _StateCoding<C>?,
        _ reconfiguration: _Reconfiguration<C>?, services: HostServices,
        make: @escaping @Sendable (C.Context) async throws -> C
    ) where C.Context.Owner == C {
        let description = ComponentDescription(
            role: C.Context.role, className: className, version: version,
            contract: contract, wires: wires.map(\.description),
            isExclusive: C.isExclusive, restartsOnSwap: C.restartOnSwap, state: state, annotation: C.annotation)
        let review: Review = { configuration throws(BackplaneError) in
            try KnownAndUnknown<C.Configuration>(configuration: configuration).unknownKeys
        }
        self.init(
            description, values: values, wires: wires, isReconfigurable: reconfiguration != nil,
            state: coding?.native, review: review
        ) { creation in
            let services = ComponentServices(host: services, contracts, creation)
            let configuration = try KnownAndUnknown<C.Configuration>(configuration: creation.configuration)
            services.log.unknownKeys(configuration.unknownKeys)
            let parts = ContextParts(
                configuration: configuration.value,
                wires: try C.Wires.connected(to: creation.slots(of: wires, services.host)), folder: creation.folder,
                services: services)
            let component: C
            do { component = try await make(C.Context.made(of: parts)) } catch {
                await services.tasks.stop()
                throw error
            }
            let reconfigure = reconfiguration.map { reconfiguration -> Instance.Reconfigure in
                { services.log.unknownKeys(try await reconfiguration.run(component, $0)) }
            }
            return Instance(
                component, bodies: bodies, encoded: encoded, tasks: services.tasks, coding, reconfigure: reconfigure)
        }
    }
}

extension Log {
    /// Logs a warning for each configuration key that the configuration's type does not declare.
    fileprivate func unknownKeys(_ keys: [String]) {
        for key in keys { warning("unknown configuration key", metadata: ["key": key]) }
    }
}

extension KnownAndUnknown {
    init(configuration: [UInt8]) throws(BackplaneError) {
        self = try JSON.decode(Self.self, configuration, failing: .configurationInvalid)
    }
}

extension ComponentRecord.ReceivedCreation {
    /// Returns the slots of the declared wires, each with its label.
    fileprivate func slots(of wires: [DeclaredWire], _ services: HostServices) -> [(label: String, slot: Slot)] {
        var slots: [(label: String, slot: Slot)] = []
        for connection in connections {
            let slot =
                connection.slot
                ?? wires.first { $0.description.label == connection.label }.flatMap {
                    $0.ownSlot(component: handle, wire: connection.wire, services)
                }
            if let slot { slots.append((connection.label, slot)) }
        }
        return slots
    }
}

extension bp_component {
    /// Creates the descriptor of a registered class.
    ///
    /// Everything that it points to lives as long as the process.
    init(_ record: ComponentRecord) {
        let description = record.description
        let methods = (description.contract?.methods ?? []).map(bp_method.init)
        let wires = record.wires.map(bp_wire.init)
        self.init(
            size: UInt32(MemoryLayout<bp_component>.size), role: description.role.rawValue,
            class_name: .forever(description.className), version: .forever(description.version.description),
            contract: description.contract.map { .forever($0.name) } ?? .empty,
            contract_version: description.contract.map { .forever($0.version.description) } ?? .empty,
            methods: forever(methods), method_count: methods.count, wires: forever(wires), wire_count: wires.count,
            type: Unmanaged.passRetained(record).toOpaque(),
            create: createInstance,
            activate: { run($0, $1, $2) { try await $0.component.activate() } },
            suspend: {
                run($0, $1, $2) { instance in
                    instance.mark(suspended: true)
                    try await instance.component.suspend()
                }
            },
            resume: {
                run($0, $1, $2) { instance in
                    instance.mark(suspended: false)
                    try await instance.component.resume()
                }
            },
            stop: { run($0, $1, $2) { await $0.stop() } },
            release: { Unmanaged<Instance>.fromOpaque($0).release() },
            call: { instance, method, input, frame, id, done, context in
                Instance.at(instance).call(Int(method), input, Call(frame.pointee), id: id, Reply(done, context))
            },
            cancel: { Instance.at($0).cancel($1) }, lane: UnsafeRawPointer(forever([bp_component_lane(record)])),
            review: reviewConfiguration,
            traits: (description.isExclusive ? UInt32(BP_EXCLUSIVE) : 0)
                | (description.restartsOnSwap ? UInt32(BP_RESTART_ON_SWAP) : 0),
            reserved: 0, state: description.state.flatMap { forever([bp_state($0, of: record)]) },
            health: { run($0, $1, $2) { try await $0.component.health() } },
            reconfigure: record.isReconfigurable ? reconfigureInstance : nil,
            open: { Instance.at($0).open(Int($1), $2, Call($3.pointee), id: $4) },
            next: { Instance.at($0).next($1, Int($2), Reply($3, $4)) },
            close: { Instance.at($0).close($1, Reply($2, $3)) },
            annotation: description.annotation.map { .forever($0) } ?? .empty)
    }
}

extension bp_state {
    init(_ state: StateDescription, of record: ComponentRecord) {
        self.init(
            size: UInt32(MemoryLayout<bp_state>.size), version: state.version, schema: .forever(state.schema),
            accepts_min: state.accepts.lowerBound, accepts_max: state.accepts.upperBound,
            writes_min: state.writes.lowerBound, reserved: 0,
            export_state: { instance, version, done, context in
                let instance = Instance.at(instance)
                answer(done, context) { try await instance.requireState().export(Int(version)) }
            },
            import_state: { instance, version, state, done, context in
                let instance = Instance.at(instance), state = state.array
                answer(done, context) {
                    try await instance.requireState().import(state, Int(version))
                    return []
                }
            },
            lane: record.state == nil ? nil : UnsafeRawPointer(forever([bp_state_lane(record)])))
    }
}

extension bp_state_lane {
    init(_ record: ComponentRecord) {
        self.init(
            type: Unmanaged.passRetained(record).toOpaque(),
            layout: { ComponentRecord.at($0).state?.layout.bytes ?? .empty },
            export_value: { instance, done, context in
                let instance = Instance.at(instance)
                answer(done, context) { try await instance.requireState().exportValue() }
            },
            import_value: { instance, value, done, context in
                let state = Result { try Instance.at(instance).requireState().importValue(value) }
                answer(done, context) {
                    try await state.get()()
                    return []
                }
            },
            release: { ComponentRecord.at($0).state?.release($1) })
    }
}

extension bp_method {
    package init(_ method: MethodDescription) {
        self.init(
            size: UInt32(MemoryLayout<bp_method>.size), kind: method.kind.rawValue,
            name: .forever(method.name))
    }
}

extension bp_wire {
    init(_ wire: DeclaredWire) {
        let contract = wire.description.contract
        let methods = contract.methods.map(bp_method.init)
        let lane = bp_wire_lane(
            type: Box(wire).toContext(),
            layout: { DeclaredWire.at($0).values.layout.bytes },
            rehearse: { DeclaredWire.at($0).values.rehearse($1, Reply($2, $3)) },
            make_cells: { type, provider in DeclaredWire.at(type).makeCells(EncodedTarget(provider)).pointer })
        self.init(
            size: UInt32(MemoryLayout<bp_wire>.size), flags: wire.description.isOptional ? UInt32(BP_WIRE_OPTIONAL) : 0,
            label: .forever(wire.description.label),
            contract: .forever(contract.name), contract_version: .forever(contract.version.description),
            methods: forever(methods), method_count: methods.count, lane: UnsafeRawPointer(forever([lane])))
    }
}

extension bp_component_lane {
    init(_ record: ComponentRecord) {
        self.init(
            type: Unmanaged.passRetained(record).toOpaque(),
            layout: { ComponentRecord.at($0).values.layout.bytes },
            rehearse: { ComponentRecord.at($0).values.rehearse($1, Reply($2, $3)) },
            cells: { Instance.at($0).cells.pointer },
            failures: { Instance.at($0).failures.count },
            last_failure: { instance, done, context in
                guard let last = Instance.at(instance).failures.last else { return 0 }
                Reply(done, context).end(last.error)
                return last.time
            })
    }
}

extension DeclaredWire {
    fileprivate static func at(_ pointer: UnsafeMutableRawPointer) -> DeclaredWire {
        Unmanaged<Box<DeclaredWire>>.fromOpaque(pointer).takeUnretainedValue().value
    }
}

extension ComponentRecord {
    fileprivate static func at(_ pointer: UnsafeMutableRawPointer) -> ComponentRecord {
        Unmanaged<ComponentRecord>.fromOpaque(pointer).takeUnretainedValue()
    }
}

extension Instance {
    fileprivate static func at(_ pointer: UnsafeMutableRawPointer) -> Instance {
        Unmanaged<Instance>.fromOpaque(pointer).takeUnretainedValue()
    }
}

/// Runs a lifecycle step of a component.
private func run(
    _ instance: UnsafeMutableRawPointer, _ done: @escaping bp_done, _ context: UnsafeMutableRawPointer?,
    _ step: @escaping @Sendable (Instance) async throws -> Void
) {
    let instance = Instance.at(instance)
    answer(done, context) {
        try await step(instance)
        return []
    }
}

/// Answers with the result of `body` or the error that it throws.
///
/// `body` begins on this thread.
private func answer(
    _ done: @escaping bp_done, _ context: UnsafeMutableRawPointer?,
    _ body: @escaping @Sendable () async throws -> [UInt8]
) {
    let context = ForeignPointer(raw: context)
    StepThread.run {
        let answer: EncodedAnswer
        do {
            answer = EncodedAnswer(try await body())
        } catch {
            answer = EncodedAnswer(BackplaneError(thrown: error))
        }
        answer.payload.withBytes { done(context.raw, answer.status, $0) }
    }
}

/// Answers with the object that `body` returns, or with the error that it throws.
///
/// `body` begins on this thread.
private func answer(
    _ done: @escaping bp_created, _ context: UnsafeMutableRawPointer?,
    _ body: @escaping @Sendable () async throws -> ForeignPointer
) {
    let context = ForeignPointer(raw: context)
    StepThread.run {
        do {
            done(context.raw, Int32(BP_OK), try await body().raw, .empty)
        } catch {
            let answer = EncodedAnswer(BackplaneError(thrown: error))
            answer.payload.withBytes { done(context.raw, answer.status, nil, $0) }
        }
    }
}

private let reviewConfiguration: bp_review = { type, configuration, done, context in
    let record = ComponentRecord.at(type!), reply = Reply(done, context)
    do throws(BackplaneError) {
        let keys = try record.review(configuration.array)
        reply.end(EncodedAnswer(try JSON.encode(keys, failing: .configurationInvalid)))
    } catch {
        reply.end(error)
    }
}

private let reconfigureInstance: bp_reconfigure = { instance, configuration, done, context in
    let configuration = configuration.array
    run(instance, done, context) { try await $0.reconfigure?(configuration) }
}

private let createInstance: bp_create = { type, creation, done, context in
    let record = ComponentRecord.at(type!)
    let creation: bp_creation = read(creation)
    let copy: ComponentRecord.ReceivedCreation
    do throws(BackplaneError) {
        let connections = try Descriptors.read(
            creation.wires, count: creation.wire_count, of: "the wires of a creation")
        copy = ComponentRecord.ReceivedCreation(
            handle: creation.handle, configuration: creation.configuration.array,
            connections: connections.map {
                ComponentRecord.ReceivedWire(
                    label: $0.label.text, wire: $0.wire,
                    slot: $0.slot.map { Slot($0.assumingMemoryBound(to: bp_slot.self)) })
            },
            folder: creation.folder.text, resources: creation.resources.text)
    } catch {
        let answer = EncodedAnswer(error)
        return answer.payload.withBytes { done(context, answer.status, nil, $0) }
    }
    answer(done, context) { ForeignPointer(raw: Unmanaged.passRetained(try await record.create(copy)).toOpaque()) }
}

/// A wire that a component declares, with the data for choosing and creating its lane.
struct DeclaredWire: Sendable {
    var description: WireDescription
    var problems: [String]
    var values: ContractValues
    /// The function that creates the cells of the encoded lane.
    var makeCells: @Sendable (EncodedTarget) -> Cells

    init(label: String, isOptional: Bool, _ contract: ContractRecords.ContractRecord) {
        description = WireDescription(label: label, isOptional: isOptional, contract: contract.description)
        (problems, values) = (contract.problems, contract.values)
        makeCells = { target in Cells(of: contract.members, calling: target) }
    }
}

extension DeclaredWire {
    /// Creates a slot with a permanent binding that calls through the host, for a host of another lane revision.
    ///
    /// Returns `nil` if the host does not offer calls.
    func ownSlot(component: UInt64, wire: UInt64, _ services: HostServices) -> Slot? {
        let methods = description.contract.methods
        guard let target = EncodedTarget(through: services, component: component, wire: wire, methods: methods) else {
            return nil
        }
        // The host itself appends the component to the path.
        let slot = Slot(number: 0, gatekeeper: NoEntry(to: description.contract.name), methods: methods)
        slot.flip(to: Binding(makeCells(target), counting: .atomic))
        return slot
    }
}

/// The type of a class's state, as far as the native lane of the state depends on it.
struct NativeState: Sendable {
    /// The layout of the state as this side compiled it (``LayoutReader``).
    let layout: KeptText
    /// Destroys an exported value and frees its memory.
    let release: @Sendable (UnsafeMutableRawPointer) -> Void

    init<State>(of _: State.Type) {
        layout = KeptText { LayoutReader.layout(ofState: State.self) }
        release = { $0.free(State.self) }
    }
}

/// The slots that the SDK creates itself, one per wire, no matter how often the wire is looked up.
///
/// A slot is never freed.
final class OwnSlots: Sendable {
    private let slots = Mutex(NumberedValues<Slot>())

    /// Returns the slot of a wire, creating it if necessary.
    ///
    /// - Parameter make: Creates the slot; returns `nil` if that is not possible.
    func slot(of wire: UInt64, _ make: () -> Slot?) -> Slot? {
        slots.withLock { slots in
            if slots[wire] == nil { slots[wire] = make() }
            return slots[wire]
        }
    }
}
