public import Backplane
public import BackplaneHost

/// A Unix socket on which a running host is asked and told things: the tool `backplane` talks to hosts through it.
///
/// ```swift
/// let host = PluginHost(manifest: ManifestDocument(contentsOf: "backplane.json"))
/// let control = try ControlSocket(serving: host)
/// defer { control.close() }
/// ```
///
/// Only processes of the same user, and root's, are answered; no network port is opened. Requests are answered on threads of their own,
/// so plugins that occupy Swift's thread pool do not delay them. The socket keeps the host.
public final class ControlSocket: Sendable {
    /// Where it listens, from the root on.
    public let path: String
    private let server: ControlServer

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - folder: where to make the socket; `nil`: `$XDG_RUNTIME_DIR/backplane`, or `backplane-<user id>` in the temporary folder, where the
    ///     tool looks for it. Made with mode 0700 where it is missing.
    ///   - requests: what the program answers besides.
    /// - Throws: `control.unusable`.
    public convenience init(serving host: PluginHost, in folder: String? = nil, requests: [ControlRequest] = []) throws(BackplaneError) {
        try self.init(serving: host, in: folder, requests: requests, limits: ControlLimits())
    }

    init(serving host: PluginHost, in folder: String?, requests: [ControlRequest], limits: ControlLimits) throws(BackplaneError) {
        let listener = try ControlFolder(folder).listen()
        path = listener.path
        server = ControlServer(host, listener, ControlRequest.ofEveryHost + requests, limits)
        guard HostThread.tryStart("bp-control", { [server] in server.run() }) else {
            listener.close()
            throw ControlFolder.unusable(path, "cannot be served: the system gives no more threads")
        }
    }

    deinit { close() }

    /// Takes no more requests, and removes the socket. Those under way are answered.
    public func close() { server.close() }
}
