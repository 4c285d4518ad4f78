import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork

extension ManifestReader {
    mutating func executors(in section: Section) -> [String: String] {
        names("executors", in: section) { reader, name, path in
            if name.isScheme { return true }
            reader.report(
                .manifestWrongType,
                "expected a URL scheme, of lower-case letters, digits, `+`, `-` and `.`, found `\(name)`", at: path)
            return false
        }
    }

    /// Reads the settings of TLS by host name, or by a wildcard.
    mutating func tls(in section: Section) -> [String: TLSSettings] {
        entries("tls", in: section) { reader, name, path in
            if name.isHost() || name.isWildcard { return true }
            reader.report(
                .manifestWrongType,
                "expected a host's name in lower case, without scheme and port, or one after `*.`, found `\(name)`",
                at: path)
            return false
        } reading: { reader, host, _ in
            reader.tls(ofHost: host)
        }
    }

    private mutating func tls(ofHost host: Section) -> TLSSettings {
        let settings = TLSSettings(
            roots: string("roots", in: host), minimum: choice("minimum", of: TLSSettings.Version.allCases, in: host),
            certificate: string("certificate", in: host), key: string("key", in: host),
            pins: pins(in: host), reportsOnly: boolean("reportOnly", in: host) ?? false)
        for (key, needed) in [("key", "certificate"), ("reportOnly", "pins")]
        where host.values[key] != nil && host.values[needed] == nil {
            report(.manifestMissingKey, "`\(key)` needs `\(needed)`, which is missing", at: host.path / needed)
        }
        // With a misspelt setting, exchanges would be less secure than intended.
        reportUnknownKeys(in: host, known: .tls, severity: .error)
        return settings
    }

    /// Reads the pins of a host: none, or at least two, because the key of a single one cannot be replaced (RFC 7469,
    /// section 4.3).
    private mutating func pins(in host: Section) -> [CertificatePin] {
        var pins: [CertificatePin] = []
        _ = strings("pins", in: host, most: 100) { reader, text, path in
            let words: String
            do throws(BackplaneError) {
                let pin = try CertificatePin(text)
                guard text.isEmpty || pins.contains(pin) else {
                    pins.append(pin)
                    return true
                }
                words =
                    text.isEmpty
                    ? "the pin is empty; expected `sha256/` and a hash, or the path of a certificate"
                    : "the pin is listed twice; a backup pin must be for another key"
            } catch {
                words = error.message
            }
            reader.report(.manifestWrongType, words, at: path)
            return false
        }
        if case .array(let listed) = host.values["pins"], listed.count < 2 {
            let words = "expected at least two pins, one of them for a backup key"
            report(
                .manifestWrongType, "`pins` \(listed.isEmpty ? "is empty" : "has one pin"); \(words)",
                at: host.path / "pins")
        }
        return pins
    }
}

extension ManifestReader {
    /// Reads the limits by host.
    ///
    /// Every mistake is an error, because a host might otherwise receive more requests than intended.
    mutating func limits(in section: Section) -> [String: HostLimits] {
        entries("limits", in: section, most: ManifestLimits.hosts) { reader, name, path in
            if name == "*" || name.isHost(withPort: true) { return true }
            reader.report(
                .manifestWrongType,
                "expected the name of a host in lower case, with or without a port, such as `books.example.org:8443`, "
                    + "or `*` for all others, found `\(name)`",
                at: path)
            return false
        } reading: { reader, host, _ in
            reader.limits(ofHost: host)
        }
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
            concurrent: count("concurrent", in: 1...10_000, in: host),
            perSecond: number("perSecond", "a number", upTo: 1_000_000, in: host),
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
}

extension ManifestReader {
    mutating func cache(in section: Section) -> CacheSettings {
        var settings = CacheSettings()
        guard let section = dictionary("cache", in: section) else { return settings }
        settings.memory = bytes("memory", in: ManifestLimits.cacheBytes, in: section) ?? settings.memory
        settings.disk = bytes("disk", in: ManifestLimits.cacheBytes, in: section) ?? settings.disk
        settings.provider = string("provider", in: section)
        if settings.provider != nil, section.values["disk"] != nil {
            report(
                .manifestWrongType, "`provider` takes the place of the disk; remove `disk`",
                at: section.path / "disk")
        }
        // A misspelt provider would leave its responses to the disk.
        reportUnknownKeys(in: section, known: .cache, severity: .error)
        return settings
    }
}

extension String {
    /// Whether the text is `*.` and the name of a host, which is not an address.
    fileprivate var isWildcard: Bool {
        let name = dropFirst("*.".count), last = name.split(separator: ".").last ?? ""
        return hasPrefix("*.") && String(name).isHost() && last.contains { $0.isLetter } && !name.hasSuffix("]")
    }

    /// Whether the text is a URL scheme in lower case (RFC 3986, section 3.1).
    fileprivate var isScheme: Bool {
        first.map { ("a"..."z").contains($0) } == true
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "+-.".utf8.contains(byte)
                }
            }
    }

    /// Returns whether the text is the name or the address of a host, in lower case.
    ///
    /// An IPv6 address is in brackets, as in a URL (RFC 3986, section 3.2.2); a name is as long as DNS permits.
    ///
    /// - Parameter withPort: Whether a colon and a port may follow.
    func isHost(withPort: Bool = false) -> Bool {
        var host = self[...]
        if withPort, let colon = lastIndex(of: ":"), !hasSuffix("]") {
            let digits = String(self[index(after: colon)...])
            guard let port = Int(digits), (1...65_535).contains(port), digits == "\(port)" else { return false }
            host = self[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            return host.count > 2
                && host.dropFirst().dropLast().utf8.allSatisfy { "0123456789abcdef:.".utf8.contains($0) }
        }
        return host.utf8.count <= 253
            && host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-_".utf8.contains($0) }
            }
    }
}

extension NetworkInterceptor {
    /// Reads an interceptor: a manager's name, or a dictionary with its hosts.
    fileprivate init?(_ value: ManifestValue, at path: ManifestPath, _ reader: inout ManifestReader) {
        if case .string(let name) = value {
            guard !reader.unusable.contains(path), reader.isName(name, at: path) else { return nil }
            self.init(name)
            return
        }
        guard let interceptor = reader.section(value, at: path, expected: "a string or a dictionary") else {
            return nil
        }
        let hosts = reader.hostNames("hosts", in: interceptor)
        // With misspelt hosts, an interceptor would show its signatures to all hosts.
        reader.reportUnknownKeys(in: interceptor, known: .interceptor, severity: .error)
        if case .array([]) = interceptor.values["hosts"] {
            reader.report(
                .manifestWrongType, "`hosts` is empty; omit the key to intercept requests to every host",
                at: path / "hosts"
            )
        }
        guard let name = reader.requiredString("manager", in: interceptor) else { return nil }
        self.init(name, hosts: hosts)
    }
}

extension ManifestReader {
    mutating func interceptors(in section: Section) -> [NetworkInterceptor] {
        let values = array("interceptors", in: section, most: ManifestLimits.interceptors) ?? []
        var interceptors: [NetworkInterceptor] = []
        for (index, value) in values.enumerated() {
            if let interceptor = NetworkInterceptor(value, at: section.path / "interceptors" / index, &self) {
                interceptors.append(interceptor)
            }
        }
        return interceptors
    }

    /// Reads an array of strings, each of which must meet a condition; the condition reports those that do not.
    mutating func strings(
        _ key: String, in section: Section, most: Int,
        where isValid: (inout ManifestReader, String, ManifestPath) -> Bool
    ) -> [String] {
        var texts: [String] = []
        for (index, value) in (array(key, in: section, most: most) ?? []).enumerated() {
            let path = section.path / key / index
            guard case .string(let text) = value else {
                report(.manifestWrongType, "expected a string, found \(value.kind)", at: path)
                continue
            }
            if !unusable.contains(path), isValid(&self, text, path) { texts.append(text) }
        }
        return texts
    }

    /// Returns whether a string can be a manager's name, and reports one that cannot.
    mutating func isName(_ text: String, at path: ManifestPath) -> Bool {
        let count = text.utf8.count, most = ManifestLimits.nameBytes
        if (1...most).contains(count) { return true }
        report(.manifestWrongType, "expected a name of 1 to \(most) bytes, found \(count) bytes", at: path)
        return false
    }
}
