import CBackplane

/// The encoded calls that are nested on one thread.
///
/// Each of them occupies some kilobytes of the thread's stack until it suspends or ends. Components that call each
/// other a thousand levels deep would exhaust the stack and crash the process.
enum NestedCalls {
    /// The maximum number of nested calls.
    ///
    /// Every plugin counts separately, so a thread may contain this many calls of each.
    static let limit: UInt32 = 16

    /// Counts a call, which `body` begins, for the duration of `body`.
    ///
    /// Returns `nil` if there are too many, in which case the call must begin on another thread.
    static func begin<Result>(_ body: () -> Result) -> Result? {
        let count = bp_nested_calls()
        guard count.pointee < limit else { return nil }
        count.pointee += 1
        defer { count.pointee -= 1 }
        return body()
    }
}
