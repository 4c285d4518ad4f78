/// The type of a class's state, as far as the native lane of the state depends on it.
struct NativeState: Sendable {
    /// The layout of the state as this side compiled it (``ContractLayout``).
    let layout: KeptText
    /// Destroys an exported value and frees its memory.
    let release: @Sendable (UnsafeMutableRawPointer) -> Void

    init<State>(of _: State.Type) {
        layout = KeptText { ContractLayout(ofState: State.self).text }
        release = { $0.free(State.self) }
    }
}
