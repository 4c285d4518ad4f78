package import Backplane
package import BackplaneNetwork
import FoundationEssentials

/// The proxies for `https:` URLs, as defined by the environment for curl and other clients.
public struct HTTPProxies: Sendable {
    /// A proxy that creates tunnels with `CONNECT`.
    public struct Proxy: Sendable, Hashable {
        /// The host name or address.
        public var host: String
        /// The TCP port on which the proxy listens.
        public var port: Int
        /// The user, if the proxy requests one.
        public var user: String?
        /// The password, if the proxy requests one.
        public var password: String?
    }
    /// The proxy, or the reason why the environment's proxy cannot be used.
    private let proxy: Result<Proxy, BackplaneError>?
    private let exceptions: [String]

    /// No proxies.
    public static var none: HTTPProxies { HTTPProxies([:]) }

    /// The proxies defined by the process's environment.
    public static var environment: HTTPProxies { HTTPProxies(ProcessInfo.processInfo.environment) }

    /// Creates the proxies defined by environment variables.
    ///
    /// `https_proxy` or `HTTPS_PROXY` is read, otherwise `all_proxy` or `ALL_PROXY`; and `no_proxy` or `NO_PROXY`: host
    /// names and domains separated by commas, or `*`.
    public init(_ environment: [String: String]) {
        func variable(_ names: String...) -> (name: String, value: String)? {
            names.lazy.compactMap { name in environment[name].map { (name: name, value: $0) } }
                .first { !$0.value.isEmpty }
        }
        proxy = variable("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY").map { name, value in
            Result { () throws(BackplaneError) in try Self.proxy(value, of: name) }
        }
        exceptions = (variable("no_proxy", "NO_PROXY")?.value ?? "").split { $0 == "," || $0 == " " }.map {
            String($0.hasPrefix(".") ? $0.dropFirst() : $0).hostKey.withoutBrackets
        }
    }

    /// Returns the proxy for a request, or `nil` if its host is reached directly.
    ///
    /// A proxy that cannot be used is an error, because the host must not be reached directly then.
    package func proxy(for request: HTTPRequest) throws(BackplaneError) -> Proxy? {
        guard let proxy, request.scheme == "https" else { return nil }
        let host = request.hostName.withoutBrackets
        guard !exceptions.contains(where: { $0 == "*" || host == $0 || host.hasSuffix(".\($0)") }) else { return nil }
        do throws(BackplaneError) {
            return try proxy.get()
        } catch {
            throw BackplaneError(error.code, error.message, at: request.printableURL)
        }
    }

    /// Parses a proxy of the form `http://user:password@host:port`, in which only the host is required.
    private static func proxy(_ text: String, of variable: String) throws(BackplaneError) -> Proxy {
        let address = URLComponents(string: text.contains("://") ? text : "http://\(text)")
        let scheme = address?.scheme?.lowercased()
        guard let address, scheme == "http", let host = address.host, !host.isEmpty,
            0...Int(UInt16.max) ~= address.port ?? 0
        else {
            let found =
                scheme == nil || scheme == "http"
                ? "is not a URL with a host and a port up to \(UInt16.max)" : "has the scheme `\(scheme ?? "")`"
            throw BackplaneError(
                .networkRefused,
                "the proxy in `\(variable)` \(found), but must be `http://HOST:PORT`; change it, or add the host to `no_proxy`"
            )
        }
        return Proxy(
            host: host.withoutBrackets, port: address.port ?? 1080, user: address.user, password: address.password)
    }
}

extension String {
    fileprivate var withoutBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
