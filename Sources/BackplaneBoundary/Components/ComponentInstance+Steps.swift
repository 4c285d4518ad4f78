package import Backplane
import CBackplane

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

    /// A Boolean value that indicates whether the instance has a function for health checks.
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
        // One that comes too late is released as well.
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
