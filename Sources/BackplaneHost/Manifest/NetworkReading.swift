import Backplane
import BackplaneDocuments
import BackplaneNetwork

extension ManifestReader {
    /// Reads the managers that carry out exchanges, by URL scheme.
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
        guard let hosts = dictionary("tls", in: section) else { return [:] }
        var settings: [String: TLSSettings] = [:]
        for (name, value) in hosts.values.sorted(by: { $0.key < $1.key }) {
            guard name.isHost() || name.isWildcard else {
                report(
                    .manifestWrongType,
                    "expected a host's name in lower case, without scheme and port, or one after `*.`, found `\(name)`",
                    at: hosts.path / name)
                continue
            }
            guard let host = self.section(value, at: hosts.path / name) else { continue }
            settings[name] = TLSSettings(
                roots: string("roots", in: host),
                minimum: choice("minimum", of: TLSSettings.Version.allCases, in: host),
                certificate: string("certificate", in: host), key: string("key", in: host),
                pins: pins(in: host), reportsOnly: boolean("reportOnly", in: host) ?? false)
            if host.values["key"] != nil, host.values["certificate"] == nil {
                report(
                    .manifestMissingKey, "`key` needs `certificate`, which is missing", at: host.path / "certificate")
            }
            if host.values["reportOnly"] != nil, host.values["pins"] == nil {
                report(.manifestMissingKey, "`reportOnly` needs `pins`, which is missing", at: host.path / "pins")
            }
            // Without the setting that was meant, exchanges would be less secure than they are thought to be.
            reportUnknownKeys(in: host, known: .tls, severity: .error)
        }
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
                    : "the pin is listed twice; a backup pin is that of another key"
            } catch {
                words = error.message
            }
            reader.report(.manifestWrongType, words, at: path)
            return false
        }
        if case .array(let listed) = host.values["pins"], listed.count < 2 {
            let words = "expected at least two pins, of which one is that of a backup key"
            report(
                .manifestWrongType, "`pins` \(listed.isEmpty ? "is empty" : "has one pin"); \(words)",
                at: host.path / "pins")
        }
        return pins
    }
}

extension ManifestReader {
    /// Reads the limits of the cache, and its provider.
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
    /// A Boolean value that indicates whether the text is `*.` and the name of a host, which is not an address.
    fileprivate var isWildcard: Bool {
        let name = dropFirst("*.".count), last = name.split(separator: ".").last ?? ""
        return hasPrefix("*.") && String(name).isHost() && last.contains { $0.isLetter } && !name.hasSuffix("]")
    }

    /// A Boolean value that indicates whether the text is a URL scheme in lower case (RFC 3986, section 3.1).
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
        // Without the hosts that were meant, an interceptor would show its signatures to all.
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
    /// Reads the managers that intercept exchanges, in order.
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
