import Backplane
import BackplaneDocuments
import BackplaneNetwork

extension ManifestReader {
    /// Reads the managers that carry out exchanges, by URL scheme.
    mutating func executors(in section: Section) -> [String: String] {
        guard let executors = dictionary("executors", in: section) else { return [:] }
        var managers: [String: String] = [:]
        for name in executors.values.keys.sorted() {
            guard name.isScheme else {
                report(
                    .manifestWrongType,
                    "expected a URL scheme, of lower-case letters, digits, `+`, `-` and `.`, found `\(name)`",
                    at: executors.path / name)
                continue
            }
            managers[name] = requiredString(name, in: executors)
        }
        return managers
    }

    /// Reads the managers that map responses, by the names of serializers in definitions.
    mutating func serializers(in section: Section) -> [String: String] {
        guard let serializers = dictionary("serializers", in: section) else { return [:] }
        var managers: [String: String] = [:]
        for name in serializers.values.keys.sorted() { managers[name] = requiredString(name, in: serializers) }
        return managers
    }

    /// Reads the settings of TLS by host name.
    mutating func tls(in section: Section) -> [String: TLSSettings] {
        guard let hosts = dictionary("tls", in: section) else { return [:] }
        var settings: [String: TLSSettings] = [:]
        for (name, value) in hosts.values.sorted(by: { $0.key < $1.key }) {
            guard name.isHostName else {
                report(
                    .manifestWrongType,
                    "expected a host's name in lower case, without scheme and port, found `\(name)`",
                    at: hosts.path / name)
                continue
            }
            guard let host = self.section(value, at: hosts.path / name) else { continue }
            settings[name] = TLSSettings(
                roots: string("roots", in: host),
                minimum: choice("minimum", of: TLSSettings.Version.allCases, in: host),
                certificate: string("certificate", in: host), key: string("key", in: host))
            if host.values["key"] != nil, host.values["certificate"] == nil {
                report(
                    .manifestMissingKey, "`key` needs `certificate`, which is missing", at: host.path / "certificate")
            }
            // Without the setting that was meant, exchanges would be less secure than they are thought to be.
            reportUnknownKeys(in: host, known: .tls, severity: .error)
        }
        return settings
    }
}

extension ManifestKeys {
    fileprivate static let tls = ManifestKeys(["roots", "minimum", "certificate", "key"])
}

extension String {
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

    /// A Boolean value that indicates whether the text can be the name or the address of a host.
    fileprivate var isHostName: Bool {
        !isEmpty && utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/@?#ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8.contains($0) }
            && (!contains(":") || hasPrefix("["))
    }
}
