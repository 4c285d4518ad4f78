import FoundationEssentials

/// The proxies for `https:` URLs, as the environment defines them for curl and other clients.
public struct HTTPProxies: Sendable {
    /// A proxy that creates tunnels with `CONNECT`.
    public struct Proxy: Sendable, Hashable {
        /// The host name or address.
        public var host: String
        /// The TCP port that the proxy listens on.
        public var port: Int
        /// The user, if the proxy requests one.
        public var user: String?
        /// The password, if the proxy requests one.
        public var password: String?
    }
    private let proxy: Proxy?
    private let exceptions: [String]

    /// No proxies.
    public static var none: HTTPProxies { HTTPProxies([:]) }

    /// The proxies that the process's environment defines.
    public static var environment: HTTPProxies { HTTPProxies(ProcessInfo.processInfo.environment) }

    /// Creates the proxies that environment variables define.
    ///
    /// `https_proxy` or `HTTPS_PROXY` is read, otherwise `all_proxy` or `ALL_PROXY`; and `no_proxy` or `NO_PROXY`:
    /// host names and domains separated by commas, or `*`. A proxy whose URL is not `http:` is ignored.
    public init(_ environment: [String: String]) {
        func variable(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        proxy = variable("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY").flatMap(Self.proxy)
        exceptions = (variable("no_proxy", "NO_PROXY") ?? "").split { $0 == "," || $0 == " " }.map {
            let name = $0.lowercased()
            return String(name.hasPrefix(".") ? name.dropFirst() : name[...])
        }
    }

    /// Returns the proxy for a request to a host, or `nil` if it is reached directly.
    public func proxy(scheme: String, host: @autoclosure () -> String) -> Proxy? {
        guard scheme == "https", let proxy else { return nil }
        let host = host().lowercased()
        let isExempt = exceptions.contains { $0 == "*" || host == $0 || host.hasSuffix(".\($0)") }
        return isExempt ? nil : proxy
    }

    /// Returns the proxy of `http://user:password@host:port`, where only the host is required.
    private static func proxy(_ text: String) -> Proxy? {
        let url = text.contains("://") ? text : "http://\(text)"
        guard let address = URLComponents(string: url), address.scheme?.lowercased() == "http",
            let host = address.host, !host.isEmpty
        else { return nil }
        return Proxy(host: host, port: address.port ?? 1080, user: address.user, password: address.password)
    }
}
