public import Backplane

/// The actor of ``Tally``, called directly.
public actor DirectTally {
    private let step = 1

    public init() {}

    @inline(never)
    public func add(_ number: Int) throws(BackplaneError) -> Int { number &+ step }
}
