/// What a component's state is called, and in which versions it is read and written.
///
/// A swap carries state over when both sides call it the same and the new code accepts the version that the old code writes. A swap
/// back asks the newer code for a version that the older accepts.
public struct StateSchema: Sendable, Equatable {
    /// What the state is; `nil`: the class's name.
    public var name: String?
    /// Of what is exported: to be raised when that changes, from 0 to 4,294,967,295.
    public var version: Int
    /// The versions that are taken over, the own one among them; the others go through `migrateUp`.
    public var accepts: ClosedRange<Int>
    /// The oldest version that `migrateDown` writes; the own one where there is no way down.
    public var writes: Int

    /// - Parameters:
    ///   - accepts: `nil`: the own version alone.
    ///   - writes: `nil`: the own version alone.
    public init(name: String? = nil, version: Int = 1, accepts: ClosedRange<Int>? = nil, writes: Int? = nil) {
        (self.name, self.version) = (name, version)
        self.accepts = accepts ?? version...version
        self.writes = writes ?? version
    }
}

extension StateSchema {
    /// - Throws: `plugin.invalid-answer` for versions that do not fit together.
    func description(of className: String) throws(BackplaneError) -> StateDescription {
        let name = name ?? className
        func problem(_ text: String) -> BackplaneError {
            BackplaneError(.pluginInvalidAnswer, "\(className): the schema `\(name)` of its state \(text)")
        }
        guard !name.isEmpty else { throw BackplaneError(.pluginInvalidAnswer, "\(className): the schema of its state has an empty name") }
        for number in [version, accepts.lowerBound, accepts.upperBound, writes] where UInt32(exactly: number) == nil {
            throw problem("has a version \(number), expected 0 to \(UInt32.max)")
        }
        guard accepts.contains(version) else {
            throw problem("accepts \(accepts.words), and not its own version \(version)")
        }
        guard writes <= version else {
            throw problem("says that the oldest version it writes is \(writes), later than its own version \(version)")
        }
        return StateDescription(
            schema: name, version: UInt32(version), accepts: UInt32(accepts.lowerBound)...UInt32(accepts.upperBound),
            writes: UInt32(writes)...UInt32(version))
    }
}

extension ClosedRange where Bound: BinaryInteger {
    /// `2`, or `1 to 3`.
    package var words: String { lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound) to \(upperBound)" }
}
