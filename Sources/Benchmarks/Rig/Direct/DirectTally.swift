public import Backplane

/// The actor of ``Tally``, called directly.
public actor DirectTally {
    private var calls = 0

    /// Creates an actor that has counted no calls.
    public init() {}

    /// Returns the number increased by one.
    @inline(never)
    public func add(_ number: Int) throws(BackplaneError) -> Int {
        calls &+= 1
        return number &+ 1
    }
}
