public import Backplane
public import BackplaneHost

/// A Unix socket through which a running host is controlled, for example by the `backplane` tool.
///
/// ```swift
/// let host = PluginHost(manifest: ManifestDocument(contentsOf: "backplane.json"))
/// let control = try ControlSocket(serving: host)
/// defer { control.close() }
/// ```
///
/// Only requests from processes of the same user and of root are answered; no network port is opened. Requests are
/// answered on separate threads, so that plugins that occupy Swift's thread pool do not delay them. The socket retains
/// the host.
public final class ControlSocket: Sendable {
    /// The absolute path of the socket.
    public let path: String
    private let server: ControlServer

    /// Creates a socket for a host and starts to listen.
    ///
    /// - Parameters:
    ///   - host: The host that answers the requests.
    ///   - folder: The folder in which to create the socket; it is created with mode 0700 if it does not exist. By
    ///     default, it is the folder that the tool searches: `$XDG_RUNTIME_DIR/backplane` or, if that variable does not
    ///     name a usable folder, `backplane-<user id>` in the temporary folder.
    ///   - path: The path of the socket, in a folder that only this user can write to; the tool finds it with
    ///     `--socket`. By default, the socket has a unique name in `folder`.
    ///   - requests: The requests that the program answers in addition to those of every host.
    /// - Throws: `control.unusable` if the folder cannot be used or the system cannot create a thread.
    public convenience init(
        serving host: PluginHost, in folder: String? = nil, at path: String? = nil, requests: [ControlRequest] = []
    ) throws(BackplaneError) {
        try self.init(serving: host, in: folder, at: path, requests: requests, limits: ControlLimits())
    }

    init(
        serving host: PluginHost, in folder: String?, at socket: String? = nil, requests: [ControlRequest],
        limits: ControlLimits
    ) throws(BackplaneError) {
        let folder = socket.map { ControlFolder(of: $0) } ?? ControlFolder(folder), listener = try folder.listen()
        path = listener.path
        server = ControlServer(host, listener, in: folder, ControlRequest.ofEveryHost + requests, limits)
        guard HostThread.tryStart("bp-control", { [server] in server.run() }) else {
            listener.close()
            throw ControlFolder.unusable(path, "cannot be served: the system cannot create more threads")
        }
    }

    deinit { close() }

    /// Stops accepting requests and removes the socket; requests in progress are still answered.
    public func close() { server.close() }

    /// Answers the requests in progress with `host.stopped` once the host has stopped, and waits until this has been
    /// sent.
    ///
    /// ```swift
    /// control.close()
    /// await host.stop()
    /// let left = await control.finish()
    /// ```
    ///
    /// - Returns: The names of the requests that could not be answered within the limit.
    @discardableResult
    public func finish(within limit: Duration = .seconds(5)) async -> [String] {
        await withCheckedContinuation { continuation in
            let finish = { @Sendable [server] in continuation.resume(returning: server.finish(within: limit)) }
            if !HostThread.tryStart("bp-control", finish) { finish() }
        }
    }
}
