import BackplaneBoundary

/// State that has been exported by one instance for another.
enum ExportedState: Sendable {
    /// The Swift value itself, in the memory of the library that exported it.
    case native(StateValue)
    case encoded([UInt8])
}
