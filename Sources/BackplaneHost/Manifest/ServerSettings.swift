package import Backplane
import BackplaneDocuments
import BackplaneRoutes

/// The settings of a host's own server in a manifest.
public struct ServerSettings: Sendable, Hashable {
    /// The address at which the server listens: a host and a port; port 0 means any free port.
    public var listen: String
    /// The paths at which the routes of managers are mounted, by manager; `nil` mounts every manager at `/`.
    public var mount: [String: String]?
    /// The limits for requests.
    public var limits: ServerLimits
    /// The certificate of the server; `nil` for HTTP without TLS.
    public var tls: ServerTLS?
    /// The path of the health check; `nil` if there is none.
    public var health: String?
    /// The path of the metrics; `nil` if there are none.
    public var metrics: String?

    /// Creates settings, by default for a server that only this machine reaches, at the port 8080.
    public init(
        listen: String = "127.0.0.1:8080", mount: [String: String]? = nil, limits: ServerLimits = ServerLimits(),
        tls: ServerTLS? = nil, health: String? = nil, metrics: String? = nil
    ) {
        (self.listen, self.mount, self.limits) = (listen, mount, limits)
        (self.tls, self.health, self.metrics) = (tls, health, metrics)
    }

    /// Returns the host and the port of an address such as `127.0.0.1:8080` or `[::1]:8080`, without brackets.
    ///
    /// - Throws: `manifest.wrong-type` for any other text.
    package static func address(_ text: String) throws(BackplaneError) -> (host: String, port: Int) {
        let colon = text.lastIndex(of: ":") ?? text.endIndex
        let host = text[..<colon], digits = text[colon...].dropFirst()
        guard String(host).isHost(), let port = Int(digits), (0...65_535).contains(port), "\(port)" == digits else {
            throw BackplaneError(
                .manifestWrongType,
                "expected a host in lower case and a port up to 65535, such as `127.0.0.1:8080` or `[::1]:8080`, "
                    + "found `\(text)`")
        }
        return (host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : String(host), port)
    }
}

/// The limits of a host's server, or of the routes that a program mounts.
public struct ServerLimits: Sendable, Hashable {
    /// The maximum number of bytes of a request's body, 16 MB by default; more is answered with 413.
    public var body: Int
    /// The number of requests of one manager that are handled at the same time, 256 by default.
    public var concurrent: Int
    /// The number of further requests of one manager that wait, 1,024 by default; more are answered with 503.
    public var waiting: Int
    /// The time limit from the arrival of a request to the beginning of its answer, 30 seconds by default.
    ///
    /// After that, the request is answered with 504, or with 408 if its body has not arrived.
    public var timeout: Duration

    /// Creates limits; any that are not specified have their default values.
    public init(
        body: Int = 16 << 20, concurrent: Int = 256, waiting: Int = 1_024, timeout: Duration = .seconds(30)
    ) {
        (self.body, self.concurrent, self.waiting, self.timeout) = (body, concurrent, waiting, timeout)
    }
}

/// The certificate of a server and its key, in files in the format PEM.
public struct ServerTLS: Sendable, Hashable {
    /// The path of the certificate, followed by those of its issuers; relative to the manifest's folder.
    public var certificate: String
    /// The path of the private key; relative to the manifest's folder.
    public var key: String

    /// Creates settings with the paths of two files.
    public init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
}

extension ManifestSection {
    static let server = ManifestSection(
        key: "server",
        shape: ManifestShape(
            ["listen", "mount", "limits", "tls", "health", "metrics"],
            ["limits": .serverLimits, "tls": .serverTLS])
    ) { reader, section, manifest in
        var server = ServerSettings()
        if let listen = reader.string("listen", in: section) {
            do throws(BackplaneError) {
                _ = try ServerSettings.address(listen)
                server.listen = listen
            } catch {
                let path = section.path / "listen"
                let shown = error.message.replacing("`\(listen)`", with: "`\(reader.shown(listen, at: path))`")
                reader.report(.manifestWrongType, shown, at: path)
            }
        }
        if section.values["mount"] != nil {
            server.mount = reader.names("mount", in: section).filter { manager, prefix in
                reader.isPath(prefix, at: section.path / "mount" / manager)
            }
        }
        server.limits = reader.serverLimits(in: section)
        server.tls = reader.serverTLS(in: section)
        server.health = reader.path("health", in: section)
        server.metrics = reader.path("metrics", in: section)
        if let path = server.metrics, path == server.health {
            reader.report(
                .manifestWrongType, "`health` has the same path, `\(path)`; give one of them another",
                at: section.path / "metrics")
        }
        manifest.server = server
    }
}

extension ManifestShape {
    static let serverLimits = ManifestShape(["body", "concurrent", "waiting", "timeout"])
    static let serverTLS = ManifestShape(["certificate", "key"])
}

extension ManifestReader {
    fileprivate mutating func serverLimits(in section: Section) -> ServerLimits {
        var limits = ServerLimits()
        guard let section = dictionary("limits", in: section) else { return limits }
        limits.body = bytes("body", in: 0...(1 << 40), in: section) ?? limits.body
        limits.concurrent = count("concurrent", in: 1...100_000, in: section) ?? limits.concurrent
        limits.waiting = count("waiting", in: 0...100_000, in: section) ?? limits.waiting
        limits.timeout = seconds("timeout", in: section) ?? limits.timeout
        // With a misspelt limit, more would be admitted than intended.
        reportUnknownKeys(in: section, known: .serverLimits, severity: .error)
        return limits
    }

    fileprivate mutating func serverTLS(in section: Section) -> ServerTLS? {
        guard let section = dictionary("tls", in: section) else { return nil }
        let certificate = requiredString("certificate", in: section), key = requiredString("key", in: section)
        reportUnknownKeys(in: section, known: .serverTLS, severity: .error)
        guard let certificate, let key else { return nil }
        return ServerTLS(certificate: certificate, key: key)
    }

    fileprivate mutating func path(_ key: String, in section: Section) -> String? {
        string(key, in: section).flatMap { isPath($0, at: section.path / key) ? $0 : nil }
    }

    /// Returns whether a text is a path below which routes can be mounted; reports any other.
    fileprivate mutating func isPath(_ text: String, at path: ManifestPath) -> Bool {
        do throws(RoutePattern.Invalid) {
            guard let name = try RoutePattern(text).names.first else { return true }
            throw RoutePattern.Invalid(reason: "it has the parameter `\(name)`")
        } catch {
            report(.manifestWrongType, "`\(shown(text, at: path))` is not a path: \(error.reason)", at: path)
            return false
        }
    }
}
