/// The name of a component's state, and the versions in which it is read and written.
///
/// A swap carries state over if both sides use the same name for it and the new code accepts the version that the old
/// code writes. A rollback asks the newer code for a version that the older code accepts.
public struct StateSchema: Sendable, Equatable {
    /// The name of the state; `nil` means the name of the class.
    public var name: String?
    /// The version of the exported state, from 0 to 4,294,967,295.
    ///
    /// Increase it when the form of the state changes.
    public var version: Int
    /// The versions that are accepted, including `version`.
    ///
    /// Versions other than `version` go through `migrateUp`.
    public var accepts: ClosedRange<Int>
    /// The oldest version that `migrateDown` writes; `version` itself if there is no downward migration.
    public var writes: Int

    /// Creates a schema, by default of version 1 without any migration.
    ///
    /// - Parameters:
    ///   - name: The name of the state; `nil` means the name of the class.
    ///   - version: The version of the exported state.
    ///   - accepts: The versions that are accepted; `nil` means only `version`.
    ///   - writes: The oldest version that can be written; `nil` means only `version`.
    public init(name: String? = nil, version: Int = 1, accepts: ClosedRange<Int>? = nil, writes: Int? = nil) {
        (self.name, self.version) = (name, version)
        self.accepts = accepts ?? version...version
        self.writes = writes ?? version
    }
}

extension StateSchema {
    /// Returns the checked description of the schema.
    ///
    /// - Throws: `plugin.invalid-answer` for versions that contradict each other.
    func description(of className: String) throws(BackplaneError) -> StateDescription {
        let name = name ?? className
        func problem(_ text: String) -> BackplaneError {
            BackplaneError(.pluginInvalidAnswer, "\(className): the schema `\(name)` of its state \(text)")
        }
        guard !name.isEmpty else {
            throw BackplaneError(.pluginInvalidAnswer, "\(className): the schema of its state has an empty name")
        }
        for number in [version, accepts.lowerBound, accepts.upperBound, writes] where UInt32(exactly: number) == nil {
            throw problem("has a version \(number), expected 0 to \(UInt32.max)")
        }
        guard accepts.contains(version) else {
            throw problem("accepts \(accepts.words), but not its own version \(version)")
        }
        guard writes <= version else {
            throw problem(
                "declares \(writes) as the oldest version it writes, which is later than its own version \(version)")
        }
        return StateDescription(
            schema: name, version: UInt32(version), accepts: UInt32(accepts.lowerBound)...UInt32(accepts.upperBound),
            writes: UInt32(writes)...UInt32(version))
    }
}

extension ClosedRange where Bound: BinaryInteger {
    /// The range as text: `2`, or `1 to 3`.
    package var words: String { lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound) to \(upperBound)" }
}
