import Backplane
import BackplaneDocuments
import BackplaneExchange

extension ManifestReader {
    /// Reads the limits by host.
    ///
    /// Every mistake is an error, because a host might otherwise receive more requests than it is meant to.
    mutating func limits(in section: Section) -> [String: HostLimits] {
        guard let hosts = dictionary("limits", in: section, most: ManifestLimits.hosts) else { return [:] }
        var limits: [String: HostLimits] = [:]
        for (name, value) in hosts.values.sorted(by: { $0.key < $1.key }) {
            let path = hosts.path / name
            guard name == "*" || name.isHost(withPort: true) else {
                report(
                    .manifestWrongType,
                    "expected the name of a host in lower case, with or without a port, such as `books.example.org:8443`, "
                        + "or `*` for all others, found `\(name)`",
                    at: path)
                continue
            }
            if let host = self.section(value, at: path) { limits[name] = self.limits(ofHost: host) }
        }
        return limits
    }

    private mutating func limits(ofHost host: Section) -> HostLimits {
        let known = ManifestShape(["concurrent", "perSecond", "burst", "waiting", "breaker", "body"])
        reportUnknownKeys(in: host, known: known, severity: .error)
        for (key, needed) in [("burst", ["perSecond"]), ("waiting", ["concurrent", "perSecond"])]
        where host.values[key] != nil && needed.allSatisfy({ host.values[$0] == nil }) {
            let words = needed.map { "`\($0)`" }.joined(separator: " or ")
            report(.manifestMissingKey, "`\(key)` needs \(words), which is missing", at: host.path / key)
        }
        var limits = HostLimits(
            concurrent: count("concurrent", in: 1...10_000, in: host), perSecond: rate("perSecond", in: host),
            maximumBodySize: bytes("body", in: 1...(1 << 40), in: host))
        if let burst = count("burst", in: 1...1_000_000, in: host) { limits.burst = burst }
        if let waiting = count("waiting", in: 0...10_000, in: host) { limits.waiting = waiting }
        if let breaker = dictionary("breaker", in: host) { limits.breaker = self.breaker(in: breaker) }
        return limits
    }

    private mutating func breaker(in section: Section) -> HostLimits.Breaker {
        reportUnknownKeys(in: section, known: ManifestShape(["failures", "openFor", "probes"]), severity: .error)
        var breaker = HostLimits.Breaker()
        if let failures = count("failures", in: 1...1_000_000, in: section) { breaker.failures = failures }
        if let time = seconds("openFor", in: section) { breaker.openFor = time }
        if let probes = count("probes", in: 1...1_000, in: section) { breaker.probes = probes }
        return breaker
    }

    /// Reads a number of requests per second that may be missing.
    private mutating func rate(_ key: String, in section: Section) -> Double? {
        guard let value = section.values[key] else { return nil }
        let number: Double
        switch value {
        case .integer(let whole): number = Double(whole)
        case .number(let any): number = any
        default: return wrongType(value, expected: "a number", at: section.path / key)
        }
        guard number >= 0.001, number <= 1e6 else {
            let words = "expected a number from 0.001 to 1000000, found \(number)"
            report(.manifestWrongType, words, at: section.path / key)
            return nil
        }
        return number
    }
}
