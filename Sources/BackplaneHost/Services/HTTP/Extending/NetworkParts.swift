import Backplane

/// The parts that managers of plugins take in the exchanges of their host.
struct NetworkParts: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let executor = Self(rawValue: 1 << 0)
    static let filter = Self(rawValue: 1 << 1)
    static let observer = Self(rawValue: 1 << 2)

    /// The parts that the exchanges of a component pass that takes these.
    ///
    /// No component of the same kind, and never in a circle: what a filter sends passes executors, what an executor
    /// sends passes no filters, and what an observer sends passes neither. Both are observed.
    var passed: NetworkParts {
        if contains(.observer) { return [] }
        if contains(.executor) { return .observer }
        return contains(.filter) ? [.executor, .observer] : [.executor, .filter, .observer]
    }
}

extension Manifest {
    /// The parts of managers that take any: those that the network names, and those that they use.
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
        return parts
    }
}
