package import Backplane
import CBackplane

/// The steps of its life, each of which waits for the plugin's answer and throws what that says.
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

    /// Has it a function that says whether it is well?
    package var hasHealthCheck: Bool { functions.component.health != nil }

    /// Asks whether it is well; one without a function for that is.
    ///
    /// - Throws: why it is not.
    package func checkHealth(_ watch: Callbacks.Watch) async throws(BackplaneError) {
        try await run(functions.component.health, watch, isStep: false)
    }

    private func run(_ step: bp_step?, _ watch: Callbacks.Watch, isStep: Bool = true) async throws(BackplaneError) {
        guard let step else { return }
        _ = try await wait(watch, isStep: isStep) { step($0, Callbacks.done, $1) }
    }
}

/// Its state as bytes, which the host does not look into.
extension ComponentInstance {
    /// Gives the state in a version that its class writes.
    ///
    /// - Throws: what the component threw; `call.unimplemented` where it has no state.
    package func exportState(version: UInt32, _ watch: Callbacks.Watch) async throws(BackplaneError) -> [UInt8] {
        guard let export = functions.state?.export_state else { throw .noState }
        return try await wait(watch) { export($0, version, Callbacks.done, $1) }
    }

    /// Hands over state of a version that its class accepts.
    ///
    /// - Throws: what the component threw; `call.unimplemented` where it has no state.
    package func importState(_ bytes: [UInt8], version: UInt32, _ watch: Callbacks.Watch) async throws(BackplaneError) {
        guard let take = functions.state?.import_state else { throw .noState }
        _ = try await wait(watch) { instance, context in
            bytes.withBytes { take(instance, version, $0, Callbacks.done, context) }
        }
    }
}

extension BackplaneError {
    fileprivate static var noState: BackplaneError { BackplaneError(.callUnimplemented, "the component has no state") }
}
