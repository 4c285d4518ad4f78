import CBackplane

/// The encoded calls that have begun inside one another on one thread.
///
/// Each of them has some kilobytes of its stack until it waits or ends: components that call one another a thousand deep would
/// use it up, and with it the process.
enum NestedCalls {
    /// Every plugin counts for itself, so that this many of each may be on one thread.
    static let limit: UInt32 = 16

    /// Counts a call for as long as `body` runs, which begins it; `nil`: there are too many, and it must begin on a thread of its own.
    static func begin<Result>(_ body: () -> Result) -> Result? {
        let count = bp_nested_calls()
        guard count.pointee < limit else { return nil }
        count.pointee += 1
        defer { count.pointee -= 1 }
        return body()
    }
}
