package import Backplane
import CBackplane

extension StateDescription {
    /// Reads a plugin's descriptor, which is not trusted.
    ///
    /// - Throws: `plugin.invalid-answer`.
    init(_ state: bp_state, of className: String) throws(BackplaneError) {
        let schema = try AnswerTexts().name(state.schema, "\(className)'s state: the schema")
        func problem(_ text: String) -> BackplaneError {
            BackplaneError(.pluginInvalidAnswer, "\(className): the state `\(schema)` \(text)")
        }
        guard state.export_state != nil, state.import_state != nil else {
            throw problem(
                "needs `export_state` and `import_state`, but has \(Self.words(state)); set both, and set `size` to sizeof(bp_state)"
            )
        }
        let (lowest, highest) = (state.accepts_min, state.accepts_max)
        guard lowest <= state.version, state.version <= highest else {
            throw problem(
                "accepts versions \(lowest) to \(highest), expected a range that includes its own version "
                    + "\(state.version)"
            )
        }
        guard state.writes_min <= state.version else {
            throw problem(
                "declares \(state.writes_min) as the oldest version it writes, expected at most its own version \(state.version)"
            )
        }
        self.init(
            schema: schema, version: state.version, accepts: lowest...highest, writes: state.writes_min...state.version)
    }

    private static func words(_ state: bp_state) -> String {
        state.export_state != nil ? "only the first" : state.import_state != nil ? "only the second" : "neither"
    }
}

/// An end of a transfer of state, with everything that determines its lane.
package struct StateSide: Sendable {
    /// The plugin to which the end belongs.
    package let origin: LaneOrigin
    package let state: StateDescription
    /// The layout of the state as the origin compiled it.
    package let layout: LayoutText

    package init(_ origin: LaneOrigin, _ state: StateDescription, _ layout: LayoutText) {
        (self.origin, self.state, self.layout) = (origin, state, layout)
    }
}

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
