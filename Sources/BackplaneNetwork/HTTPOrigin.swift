package import FoundationEssentials

/// The origin of a URL: scheme, host and port, which determine who receives credentials (RFC 6454, section 4).
package struct HTTPOrigin: Equatable, Sendable {
    package let scheme: String
    /// The host in lower case, encoded for DNS if it is an international name, without a trailing dot.
    package let host: String
    package let port: Int

    /// Creates the origin of an `http:` or `https:` URL; returns `nil` for any other.
    package init?(_ url: String) {
        guard let address = URLComponents(string: url), let scheme = address.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = address.asciiHost?.lowercased(), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host.hasSuffix(".") ? String(host.dropLast()) : host
        port = address.port ?? (scheme == "https" ? 443 : 80)
    }
}

extension URLComponents {
    /// The host as manifests name it: an international name encoded for DNS (RFC 5891), and any other one decoded.
    package var asciiHost: String? { encodedHost.flatMap { $0.contains("%") ? host : $0 } }
}

extension String {
    /// The host name, with a port if there is one, as requests have it: in lower case, and encoded for DNS if it is an
    /// international name.
    package var hostKey: String {
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return lowercased() }
        let name = prefix { $0 != ":" }
        let key = URLComponents(string: "https://\(name)/")?.asciiHost ?? String(name)
        return (key + self[name.endIndex...]).lowercased()
    }
}
