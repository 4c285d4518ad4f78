public import Backplane

/// A rule for the lanes of calls, and of state in a swap.
public enum LaneRule: Sendable, Hashable {
    /// The native lane wherever it is provably safe, otherwise the encoded lane.
    case fastest
    /// The encoded lane for every call and every state, as between plugins of different compilers.
    ///
    /// This rule shows whether a contract survives encoding.
    case encoded
}

/// The lane of a wire's calls, chosen once when the wire is connected, or of state in a swap.
public enum Lane: Sendable, Hashable {
    /// Swift values, passed directly to the provider's function.
    case native
    /// JSON; the reason is a sentence without its full stop.
    case encoded(because: String)

    /// The lane's name without the reason.
    package var name: String {
        switch self {
        case .native: "native"
        case .encoded: "encoded"
        }
    }

    /// The reason why the lane is not native.
    package var reason: String? {
        switch self {
        case .native: nil
        case .encoded(let reason): reason
        }
    }
}

extension Lane {
    /// Chooses the fastest lane that is provably safe.
    ///
    /// The native lane requires the same compiler build, lane revision, version and members of the contract, and the
    /// same layout of all values that cross.
    ///
    /// - Parameter difference: A function that compares two layouts.
    init(
        from consumer: LaneSide, to provider: LaneSide, _ rule: LaneRule,
        difference: (LayoutText, LayoutText) -> String? = LayoutText.difference
    ) {
        self = Self.obstacle(consumer, provider, rule, difference).map { .encoded(because: $0) } ?? .native
    }

    private static func obstacle(
        _ consumer: LaneSide, _ provider: LaneSide, _ rule: LaneRule, _ difference: (LayoutText, LayoutText) -> String?
    ) -> String? {
        if let obstacle = obstacle(consumer.origin, provider.origin, rule) { return obstacle }
        if consumer.contract.version != provider.contract.version {
            return
                "`\(consumer.contract.name)` is \(consumer.contract.version) in \(consumer.origin.name) and \(provider.contract.version) in \(provider.origin.name)"
        }
        return difference(consumer.layout, provider.layout)
    }

    private static func obstacle(_ consumer: LaneOrigin, _ provider: LaneOrigin, _ rule: LaneRule) -> String? {
        if rule == .encoded { return "the host is set to encode every call" }
        for side in [consumer, provider] {
            if let reason = side.encodes { return reason }
            if side.revision == 0 { return "\(side.name) does not use the Swift SDK" }
            if side.revision != LaneOrigin.program.revision {
                return
                    "\(side.name) uses revision \(side.revision) of the native lane, but this host uses \(LaneOrigin.program.revision)"
            }
            if side.toolchain.isEmpty { return "\(side.name) does not record which compiler built it" }
        }
        if consumer.toolchain != provider.toolchain {
            return
                "\(consumer.name) was built by \(consumer.toolchain), \(provider.name) by \(provider.toolchain)"
        }
        return nil
    }
}

extension Lane {
    /// Chooses the lane of state that is passed from old code to new code in a version of its schema.
    ///
    /// The Swift value crosses only if neither side has to migrate it, subject to the same proof as the values of a
    /// wire.
    init(from old: StateSide, to new: StateSide, as version: UInt32, _ rule: LaneRule) {
        self = Self.obstacle(old, new, version, rule).map { .encoded(because: $0) } ?? .native
    }

    private static func obstacle(_ old: StateSide, _ new: StateSide, _ version: UInt32, _ rule: LaneRule) -> String? {
        if let obstacle = obstacle(old.origin, new.origin, rule) { return obstacle }
        guard old.state.version == version, new.state.version == version else {
            return "the state has version \(old.state.version) in the old code and \(new.state.version) in the new code"
        }
        return LayoutText.stateDifference(old: old.layout, new: new.layout)
    }
}

/// A wire of a running host, and the lane of its calls.
public struct WireStatus: Sendable, Hashable {
    /// The name of the calling component; `nil` for the host program.
    public var user: String?
    /// The label by which the user calls the provider.
    public var label: String
    /// The name of the called component.
    public var provider: String
    /// The name of the contract.
    public var contract: String
    /// The version of the contract with which the user was compiled.
    public var version: Version
    /// The lane of the wire's calls.
    public var lane: Lane
}

extension LayoutText {
    /// Returns the reason why Swift values cannot be passed from the consumer to the provider; `nil` if they can.
    static func difference(consumer: LayoutText, provider: LayoutText) -> String? {
        guard let here = consumer.read(), let there = provider.read() else {
            return "one side does not describe its layout of the contract"
        }
        return ContractLayout.difference(consumer: here, provider: there)
    }

    /// Returns the reason why a Swift value cannot be passed from the old code to the new code; `nil` if it can.
    static func stateDifference(old: LayoutText, new: LayoutText) -> String? {
        guard let here = old.read(), let there = new.read() else {
            return "one side does not describe the layout of its state"
        }
        return ContractLayout.stateDifference(old: here, new: there)
    }
}

/// A cache of comparisons, so that all wires between two classes are compared only once.
struct PairCache<Value> {
    private struct Pair: Hashable {
        let consumer, provider: ObjectIdentifier
    }
    private var values: [Pair: Value] = [:]
    /// The compared layouts, kept alive so that their identities are not reused.
    private var layouts: [LayoutText] = []

    mutating func value(_ consumer: LayoutText, _ provider: LayoutText, _ compare: () -> Value) -> Value {
        let pair = Pair(consumer: ObjectIdentifier(consumer), provider: ObjectIdentifier(provider))
        if let known = values[pair] { return known }
        let value = compare()
        values[pair] = value
        layouts += [consumer, provider]
        return value
    }
}

extension PairCache<String?> {
    mutating func difference(_ consumer: LayoutText, _ provider: LayoutText) -> String? {
        value(consumer, provider) { LayoutText.difference(consumer: consumer, provider: provider) }
    }
}

extension PairCache<ContractFit> {
    mutating func fit(_ consumer: LaneSide, _ provider: LaneSide) -> ContractFit {
        value(consumer.layout, provider.layout) { ContractFit(consumer, provider) }
    }
}
