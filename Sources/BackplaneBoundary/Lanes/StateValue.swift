import Backplane
import CBackplane

/// A state that an instance exported as a Swift value, which is released with this object.
///
/// `@unchecked`: the memory is the exporting library's own, is never written, and is only passed back.
package final class StateValue: @unchecked Sendable {
    private let value: UnsafeMutableRawPointer
    private let lane: bp_state_lane

    /// Takes ownership of the value that an instance of a class exported; returns `nil` if it exported none.
    init?(_ ended: Callbacks.Ended, _ functions: ComponentClass.Functions) {
        guard let value = ended.instance.raw, let lane = functions.stateLane else { return nil }
        (self.value, self.lane) = (value, lane)
    }

    deinit { lane.release(lane.type, value) }

    /// Lends the value for the duration of `body`.
    func withValue(_ body: (UnsafeRawPointer) -> Void) {
        withExtendedLifetime(self) { body(UnsafeRawPointer(value)) }
    }
}
