import Backplane
import BackplaneBoundary

/// The lane that the calls of a wire may take: decided once, when it is connected.
enum LaneChoice: Sendable, Hashable {
    /// Swift values, handed to the provider's own function.
    case native
    /// JSON through the host; why not natively, as a sentence without its full stop.
    case encoded(because: String)

    /// The fastest lane that is provably safe: the same compiler build, lane revision, version and members of the contract, and one
    /// layout of everything that crosses.
    ///
    /// - Parameter difference: compares two layouts.
    init(
        from consumer: LaneSide, to provider: LaneSide, _ rule: LaneRule,
        difference: (LayoutText, LayoutText) -> String? = LayoutText.difference
    ) {
        self = Self.obstacle(consumer, provider, rule, difference).map { .encoded(because: $0) } ?? .native
    }

    private static func obstacle(
        _ consumer: LaneSide, _ provider: LaneSide, _ rule: LaneRule, _ difference: (LayoutText, LayoutText) -> String?
    ) -> String? {
        if rule == .encoded { return "the host was told to encode every call" }
        for side in [consumer.origin, provider.origin] {
            if side.revision == 0 { return "\(side.name) is not made with the Swift SDK" }
            if side.revision != LaneOrigin.program.revision {
                return "\(side.name) speaks revision \(side.revision) of the native lane, this host \(LaneOrigin.program.revision)"
            }
            if side.toolchain.isEmpty { return "\(side.name) does not say which compiler built it" }
        }
        if consumer.origin.toolchain != provider.origin.toolchain {
            return "\(consumer.origin.name) was built by \(consumer.origin.toolchain), \(provider.origin.name) by \(provider.origin.toolchain)"
        }
        if consumer.contract.version != provider.contract.version {
            return "`\(consumer.contract.name)` is \(consumer.contract.version) in \(consumer.origin.name) and \(provider.contract.version) in \(provider.origin.name)"
        }
        return difference(consumer.layout, provider.layout)
    }
}

extension WireStatus.Lane {
    /// The lane that calls take then.
    init(_ choice: LaneChoice, of consumer: LaneSide) {
        switch choice {
        case .native: self = .native
        case .encoded(let reason):
            let sharesSlots = consumer.origin.revision == LaneOrigin.program.revision
            self = sharesSlots ? .encoded(because: reason) : .served(because: reason)
        }
    }
}
