import BackplaneBoundary

/// A state on its way from one instance to another.
enum ExportedState: Sendable {
    /// The Swift value itself, in the memory of the library that exported it.
    case native(StateValue)
    case encoded([UInt8])
}
