/// The state of a loaded value.
///
/// While the value is loaded again, and after a failure, the former value remains available:
///
/// ```swift
/// var body: [View] {
///     for book in page.value?.books ?? [] { Text(book.title) }
///     if case .failed(let failure, _) = page { Text(failure.reason) }
/// }
/// ```
public enum LoadState<Value: Sendable>: Sendable {
    /// Nothing was loaded yet, or the only load was cancelled.
    case idle
    /// A load runs; its progress is from 0 to 1, or `nil` if it is unknown.
    case loading(progress: Double?, former: Value?)
    /// The value of the latest load.
    case loaded(Value)
    /// The latest load has failed; `loads.retry(failure)` repeats it.
    case failed(LoadFailure, former: Value?)

    /// The value of the latest successful load.
    public var value: Value? {
        switch self {
        case .idle: nil
        case .loaded(let value): value
        case .loading(_, let former), .failed(_, let former): former
        }
    }

    /// A Boolean value that indicates whether a load runs.
    public var isLoading: Bool { if case .loading = self { true } else { false } }

    /// The failure of the latest load, if it has failed.
    public var failure: LoadFailure? { if case .failed(let failure, _) = self { failure } else { nil } }

    /// Creates the state of a key.
    package init(of key: String, in tracker: LoadTracker, value: Value?) {
        if tracker.isLoading(key) {
            self = .loading(progress: tracker.progress(of: key), former: value)
        } else if let failure = tracker.failures(of: key).first {
            self = .failed(failure, former: value)
        } else if let value {
            self = .loaded(value)
        } else {
            self = .idle
        }
    }
}

extension LoadState: Equatable where Value: Equatable {}
