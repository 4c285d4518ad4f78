import Backplane

/// The parts that plugin managers take in the exchanges of their host.
struct NetworkParts: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let executor = Self(rawValue: 1 << 0)
    static let filter = Self(rawValue: 1 << 1)
    static let observer = Self(rawValue: 1 << 2)
    static let authenticator = Self(rawValue: 1 << 3)

    /// The parts that the exchanges of a component with these parts pass.
    ///
    /// They exclude components of the same kind and cycles: exchanges of a filter pass authenticators and executors,
    /// those of an authenticator pass executors, and those of executors and observers pass none of these. All but those
    /// of observers are observed.
    var passed: NetworkParts {
        if contains(.observer) { return [] }
        if contains(.executor) { return .observer }
        if contains(.authenticator) { return [.executor, .observer] }
        let passed: NetworkParts = [.executor, .authenticator, .observer]
        return contains(.filter) ? passed : passed.union(.filter)
    }
}

extension Manifest {
    /// The parts of the managers that take part in exchanges: those that the network names, and those that they use.
    var networkParts: [String: NetworkParts] {
        var parts: [String: NetworkParts] = [:]
        func add(_ part: NetworkParts, _ names: [String]) {
            var waiting = names
            while let name = waiting.popLast() {
                guard parts[name, default: []].insert(part).inserted else { continue }
                waiting += managers[name].map { Array($0.uses.values) } ?? []
            }
        }
        add(.executor, Array(network.executors.values))
        add(.filter, network.filters.map(\.manager))
        add(.observer, network.observers)
        add(.authenticator, network.authenticators)
        return parts
    }
}
