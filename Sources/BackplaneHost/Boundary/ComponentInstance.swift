public import Backplane
package import CBackplane
import Synchronization

/// A component instance of a plugin, as called by its host.
///
/// `@unchecked`: the pointers belong to the plugin and are passed back unchanged.
package final class ComponentInstance: @unchecked Sendable {
    let functions: ComponentClass.Functions
    private let instance: UnsafeMutableRawPointer
    /// The cells that native wires call, which live as long as the instance; `nil` without a native lane.
    package let nativeCells: Cells?
    /// The number of claims: the host's own, and one for every pending answer of the plugin.
    private let claims = Atomic<Int>(1)
    /// The number of steps that the plugin has not answered, even if the host has ended them.
    private let steps = Atomic<Int>(0)

    init(_ functions: ComponentClass.Functions, _ instance: UnsafeMutableRawPointer) {
        (self.functions, self.instance) = (functions, instance)
        nativeCells = functions.lane?.cells(instance).map(Cells.init)
    }

    /// The number of native calls that ended with an error, except cancelled ones.
    ///
    /// Encoded calls are observed by the caller of ``call(_:_:_:id:)``. Do not read the property after the host has
    /// released its claim.
    package var failures: UInt64 { functions.lane?.failures(instance) ?? 0 }

    /// The error of the native call that failed last, and its time in seconds since 1970; `nil` if there is none.
    ///
    /// Like ``failures``, it must not be read after the host has released its claim.
    package var lastFailure: (answer: EncodedAnswer, time: Double)? {
        guard let lane = functions.lane else { return nil }
        let answer = PendingAnswer(), context = answer.toContext()
        let time = lane.last_failure(instance, PendingAnswer.done, context)
        guard time > 0 else {
            PendingAnswer.forget(context)
            return nil
        }
        return answer.now.map { ($0, time) }
    }

    /// A function that starts an operation of the plugin.
    typealias Start = @Sendable (_ instance: UnsafeMutableRawPointer, _ context: UnsafeMutableRawPointer?) -> Void

    /// Starts an operation that answers through ``Callbacks``, and retains the instance until the plugin has answered.
    ///
    /// - Parameter isStep: Whether the operation is one of the steps, which never overlap.
    func wait(_ watch: Callbacks.Watch, isStep: Bool = true, _ start: @escaping Start) async throws(BackplaneError)
        -> [UInt8]
    {
        try await ended(watch, isStep: isStep, start).answer.get()
    }

    /// Starts an operation as ``wait(_:isStep:_:)`` does, and returns everything that the plugin answers.
    ///
    /// - Parameter late: A function that receives an answer which is no longer awaited.
    func ended(
        _ watch: Callbacks.Watch, isStep: Bool = true, late: @escaping @Sendable (Callbacks.Ended) -> Void = { _ in },
        _ start: @escaping Start
    ) async -> Callbacks.Ended {
        claim()
        steps.wrappingAdd(isStep ? 1 : 0, ordering: .relaxed)
        return await Callbacks.wait(
            watch,
            answered: { ended, isLate in
                if isLate { late(ended) }
                self.steps.wrappingSubtract(isStep ? 1 : 0, ordering: .relaxed)
                self.release()
            }
        ) { start(self.instance, $0) }
    }

    /// Whether the plugin has yet to answer a step.
    ///
    /// A health check is not a step: it may occur at any time.
    package var isInStep: Bool { steps.load(ordering: .relaxed) > 0 }

    /// Retains the instance for a plugin that has yet to answer and may still use it.
    package func claim() {
        claims.wrappingAdd(1, ordering: .relaxed)
    }

    /// Releases a claim, and with the last one the instance.
    ///
    /// After the host has released its own claim, no function may be called.
    package func release() {
        if claims.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
            functions.component.release?(instance)
        }
    }

    /// Calls a method; the answer is expected under `id` (``Callbacks``).
    package func call(_ method: UInt32, _ input: bp_bytes, _ call: Call, id: UInt64) {
        call.withC { functions.component.call?(instance, method, input, $0, id, Callbacks.done, Callbacks.context(id)) }
    }

    package func cancel(_ id: UInt64) {
        functions.component.cancel?(instance, id)
    }

    /// Cancels the tasks of the native calls in flight, which are their callers' tasks, if swaps wait for such calls.
    package func cancelNativeCalls() {
        guard functions.lane != nil else { return }
        functions.component.cancel?(instance, 0)
    }

    /// Opens a stream under the number `id`.
    package func open(_ method: UInt32, _ input: bp_bytes, _ call: Call, id: UInt64) {
        call.withC { functions.component.open?(instance, method, input, $0, id) }
    }

    /// Requests elements of a stream; the answer is expected under `answer` (``Callbacks``).
    package func next(_ id: UInt64, _ count: Int, answer: UInt64) {
        functions.component.next?(
            instance, id, UInt32(clamping: count), Callbacks.done, Callbacks.context(answer))
    }

    /// Closes a stream.
    ///
    /// - Parameter ended: A function that is called once the stream no longer uses the instance.
    package func close(_ id: UInt64, ended: @escaping @Sendable () -> Void) {
        guard let close = functions.component.close else { return ended() }
        let answer = Callbacks.expect(answered: { _, _ in ended() }, { _ in })
        close(instance, id, Callbacks.done, Callbacks.context(answer))
    }
}

/// The lifecycle steps of the instance.
///
/// Each waits for the plugin's answer and throws the error in it.
extension ComponentInstance {
    package func activate(_ watch: Callbacks.Watch) async throws(BackplaneError) {
        try await run(functions.component.activate, watch)
    }

    package func suspend(_ watch: Callbacks.Watch) async throws(BackplaneError) {
        try await run(functions.component.suspend, watch)
    }

    package func resume(_ watch: Callbacks.Watch) async throws(BackplaneError) {
        try await run(functions.component.resume ?? functions.component.activate, watch)
    }

    package func stop(_ watch: Callbacks.Watch) async throws(BackplaneError) {
        try await run(functions.component.stop ?? functions.component.suspend, watch)
    }

    package var hasHealthCheck: Bool { functions.component.health != nil }

    /// Checks the instance's health.
    ///
    /// An instance without a health check is healthy.
    ///
    /// - Throws: The reason why the instance is not healthy.
    package func checkHealth(_ watch: Callbacks.Watch) async throws(BackplaneError) {
        try await run(functions.component.health, watch, isStep: false)
    }

    /// Applies another configuration to the instance.
    ///
    /// - Throws: The component's error if it refuses the configuration; `call.unimplemented` if the class accepts none.
    package func reconfigure(_ configuration: [UInt8], _ watch: Callbacks.Watch) async throws(BackplaneError) {
        guard let take = functions.component.reconfigure else {
            throw BackplaneError(.callUnimplemented, "the component does not support reconfiguration")
        }
        _ = try await wait(watch) { instance, context in
            configuration.withBytes { take(instance, $0, Callbacks.done, context) }
        }
    }

    private func run(_ step: bp_step?, _ watch: Callbacks.Watch, isStep: Bool = true) async throws(BackplaneError) {
        guard let step else { return }
        _ = try await wait(watch, isStep: isStep) { step($0, Callbacks.done, $1) }
    }
}

/// The state of the instance as bytes, which the host does not interpret.
extension ComponentInstance {
    /// Returns the state in a version that the class writes.
    ///
    /// - Throws: The error of the component; `call.unimplemented` if it has no state.
    package func exportState(version: UInt32, _ watch: Callbacks.Watch) async throws(BackplaneError) -> [UInt8] {
        guard let export = functions.state?.export_state else { throw .noState }
        return try await wait(watch) { export($0, version, Callbacks.done, $1) }
    }

    /// Imports a state in a version that the class accepts.
    ///
    /// - Throws: The error of the component; `call.unimplemented` if it has no state.
    package func importState(_ bytes: [UInt8], version: UInt32, _ watch: Callbacks.Watch) async throws(BackplaneError) {
        guard let take = functions.state?.import_state else { throw .noState }
        _ = try await wait(watch) { instance, context in
            bytes.withBytes { take(instance, version, $0, Callbacks.done, context) }
        }
    }
}

/// The state of the instance as a Swift value, whose layout the host has compared.
extension ComponentInstance {
    /// Returns the state in the class's own version.
    ///
    /// - Throws: The error of the component; `call.unimplemented` if its state has no native lane.
    package func exportValue(_ watch: Callbacks.Watch) async throws(BackplaneError) -> StateValue {
        guard let export = functions.stateLane?.export_value else { throw .noState }
        // A value that arrives too late is released as well.
        let ended = await ended(watch, late: { [functions] in _ = StateValue($0, functions) }) {
            export($0, Callbacks.created, $1)
        }
        let value = StateValue(ended, functions)
        _ = try ended.answer.get()
        guard let value else {
            throw BackplaneError(
                .componentFailed, "the component reported that it exported its state but returned none")
        }
        return value
    }

    /// Imports a state that was exported as a Swift value of the same layout.
    ///
    /// - Throws: The error of the component; `call.unimplemented` if its state has no native lane.
    package func importValue(_ value: StateValue, _ watch: Callbacks.Watch) async throws(BackplaneError) {
        guard let take = functions.stateLane?.import_value else { throw .noState }
        _ = try await wait(watch) { instance, context in
            value.withValue { take(instance, $0, Callbacks.done, context) }
        }
    }
}

extension BackplaneError {
    fileprivate static var noState: BackplaneError { BackplaneError(.callUnimplemented, "the component has no state") }
}

/// A copy of a struct of the other side, whose pointers are only passed back.
///
/// It contains the struct itself rather than a `ConstantPointer` to it, because the other side lends its struct for
/// only one call.
package struct ForeignTable<Table>: @unchecked Sendable {  // constant, and never read through on this side
    package let table: Table

    package init(_ table: Table) { self.table = table }
}

// A plugin compares no slots: see `ComponentClass.swift`.

extension Slot: Hashable {
    @usableFromInline
    package static func == (a: Self, b: Self) -> Bool { a.pointer == b.pointer }
    @usableFromInline
    package func hash(into hasher: inout Hasher) { hasher.combine(pointer) }
}

extension Binding: Hashable {
    package static func == (a: Self, b: Self) -> Bool { a.pointer == b.pointer }
    package func hash(into hasher: inout Hasher) { hasher.combine(pointer) }
}

extension LeaseCounting: Equatable {
    package static func == (a: Self, b: Self) -> Bool { a.isRestartable == b.isRestartable }
}
