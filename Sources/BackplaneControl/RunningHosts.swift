package import Backplane
import BackplaneHost
import Foundation
import Glibc

/// The folder with the control sockets of the user's hosts.
package struct ControlFolder: Sendable {
    package let path: String
    /// The path of the only socket to create; `nil` to create a socket with a unique name in the folder.
    private let socket: String?

    /// Creates a reference to the folder without touching it.
    ///
    /// - Parameter path: The folder's path, or `nil` for the user's ``RuntimeFolder``.
    package init(_ path: String? = nil, environment: (String) -> String? = ProcessEnvironment.value) {
        self.path = FilePath.absolute(path ?? RuntimeFolder.path(environment))
        socket = nil
    }

    /// Creates a reference to the folder of a socket at the given path.
    init(of socket: String) {
        self.socket = FilePath.absolute(socket)
        path = FilePath.folder(of: FilePath.absolute(socket))
    }

    /// Creates a socket for this process, and removes the sockets of killed hosts.
    func listen() throws(BackplaneError) -> LocalListener {
        do throws(PrivateFolder.Defect) {
            try PrivateFolder.make(at: path)
        } catch {
            throw unusable(
                error.text,
                socket: "its folder \(error.reason); specify a path in a folder that only you can write to")
        }
        let gate = try gate(within: .seconds(5))
        if let socket { sweep([socket]) } else { sweep((try? sockets()) ?? []) }
        do throws(SystemError) {
            let listener = try LocalListener(at: socket ?? newPath())
            gate.release()
            return listener
        } catch {
            throw unusable("cannot be used: \(error)", socket: reason(of: error))
        }
    }

    /// Returns the lock that a host holds while it creates its socket.
    ///
    /// Without the lock, the socket would look abandoned until the host listens. If the folder is not only for sockets,
    /// the folder itself is locked, so that no file other than the socket is created in it.
    private func gate(within limit: Duration) throws(BackplaneError) -> FileLock {
        do throws(SystemError) {
            let place = socket == nil ? FilePath.join(path, "lock") : path
            return try FileLock(waitingFor: place, isFolder: socket != nil, within: limit)
        } catch {
            let reason = error.number == EWOULDBLOCK ? "is locked by another program" : "cannot be locked: \(error)"
            throw unusable(reason, socket: "its folder \(reason); try again, or specify a path in another folder")
        }
    }

    /// Returns the reason why it is not possible to listen at the path of the socket.
    private func reason(of error: SystemError) -> String {
        guard error.number == EADDRINUSE, let socket, let status = try? FileStatus(at: socket) else {
            return "it cannot be created: \(error); specify another path"
        }
        return status.isSocket
            ? "a host listens there; stop it, or give another path"
            : "expected a socket or no file there, found \(status.kind.rawValue); specify another path"
    }

    /// Recreates a socket's file that was removed, for example by a program that cleans temporary folders.
    ///
    /// Failed attempts are repeated later.
    func restore(_ listener: LocalListener) {
        guard (try? FileStatus(at: listener.path)) == nil else { return }
        // The folder may belong to another user by now.
        guard (try? PrivateFolder.make(at: path)) != nil, let gate = try? gate(within: .zero) else { return }
        listener.restore()
        gate.release()
    }

    /// Returns the paths of all sockets, sorted, whether or not their hosts are alive.
    ///
    /// - Throws: `control.unusable` if others can write to the folder, so that they may have placed sockets there.
    package func sockets() throws(BackplaneError) -> [String] {
        guard let status = try? FileStatus(at: path) else { return [] }
        guard status.kind == .folder, status.owner == geteuid(), !status.isWritableByAnyoneElse else {
            throw Self.unusable(path, "is not a folder that only user \(geteuid()) can write to")
        }
        let names = (try? FileTree.names(in: path)) ?? []
        return names.filter { $0.wholeMatch(of: /host-[0-9]+(-[0-9]+)?\.sock/) != nil }.map { FilePath.join(path, $0) }
    }

    /// Removes the sockets on which no host listens.
    private func sweep(_ sockets: [String]) {
        for socket in sockets where (try? FileStatus(at: socket))?.isSocket == true {
            if !LocalSocket.isListenedTo(at: socket) { unlink(socket) }
        }
    }

    /// Returns the path `host-<process>.sock`, with a number if the process has several sockets.
    private func newPath() -> String {
        var number = 1, path: String
        repeat {
            path = FilePath.join(self.path, "host-\(getpid())\(number == 1 ? "" : "-\(number)").sock")
            number += 1
        } while (try? FileStatus(at: path)) != nil
        return path
    }

    /// Returns an error about the folder, or about the only socket to create.
    private func unusable(_ reason: String, socket socketReason: String) -> BackplaneError {
        guard let socket else { return Self.unusable(path, reason) }
        return BackplaneError(.controlUnusable, "the control socket is not usable: \(socketReason)", at: socket)
    }

    static func unusable(_ path: String, _ reason: String) -> BackplaneError {
        BackplaneError(
            .controlUnusable,
            "the folder for control sockets \(reason); set XDG_RUNTIME_DIR to a folder that you own, or run without "
                + "a control socket",
            at: path)
    }
}

/// A host that listens for requests.
package struct RunningHost: Sendable, Hashable {
    package var socket: String
    /// The host's greeting, or `nil` if it does not answer or has another version.
    package var greeting: HostGreeting?
    /// The reason why there is no greeting.
    package var problem: BackplaneError?

    package init(socket: String, greeting: HostGreeting?, problem: BackplaneError? = nil) {
        (self.socket, self.greeting, self.problem) = (socket, greeting, problem)
    }

    /// Connects to the host that listens at a path, and requests its greeting.
    package init(at socket: String) {
        do {
            self.init(socket: FilePath.absolute(socket), greeting: try ControlClient(socket).greet())
        } catch {
            self.init(socket: FilePath.absolute(socket), greeting: nil, problem: error)
        }
    }

    package var client: ControlClient { ControlClient(socket) }

    /// Returns the user's hosts, sorted by socket, except for killed hosts that left a socket behind.
    package static func all(in folder: ControlFolder = ControlFolder()) throws(BackplaneError) -> [RunningHost] {
        try folder.sockets().filter(LocalSocket.isListenedTo).map(RunningHost.init)
    }
}

/// The criteria by which a command chooses a running host.
package struct HostChoice: Sendable, Hashable {
    package var socket: String?
    package var manifest: String?
    /// A Boolean value that indicates whether a host with another manifest is accepted if it is the only one.
    package var takesAnother: Bool

    package init(socket: String? = nil, manifest: String? = nil, takesAnother: Bool = false) {
        (self.socket, self.manifest, self.takesAnother) = (socket, manifest, takesAnother)
    }

    /// The reason why no host is chosen.
    package enum Refusal: Error {
        case none(BackplaneError)
        /// None of these hosts runs the manifest.
        case absent([RunningHost], String)
        /// Several of these hosts match the criteria.
        case unclear([RunningHost], String)

        /// The reason as an error, without the hosts.
        package var error: BackplaneError {
            switch self {
            case .none(let error): error
            case .absent(_, let reason), .unclear(_, let reason): BackplaneError(.controlUnreachable, reason)
            }
        }
    }

    /// Returns the chosen host.
    ///
    /// - Parameter here: The manifest of the current folder, which determines the host if nothing else does.
    package func host(here: String? = nil) throws(Refusal) -> RunningHost {
        if let socket { return try Self.answering(RunningHost(at: socket)) }
        let hosts: [RunningHost]
        do { hosts = try RunningHost.all() } catch { throw .none(error) }
        return try choose(among: hosts, here: here)
    }

    /// Returns the host to use.
    ///
    /// - Parameter here: The same as in ``host(here:)``.
    func choose(among hosts: [RunningHost], here: String?) throws(Refusal) -> RunningHost {
        guard !hosts.isEmpty else {
            throw .none(
                BackplaneError(
                    .controlUnreachable,
                    "no host is running; start one with `backplane run`, which prints the path of its socket"))
        }
        guard let manifest else {
            if hosts.count == 1 { return try Self.answering(hosts[0]) }
            let own = hosts.filter { $0.runs(here) }
            guard own.count == 1 else { throw .unclear(hosts, "\(hosts.count) hosts are running") }
            return own[0]
        }
        let fitting = hosts.filter { $0.runs(manifest) }
        switch fitting.count {
        case 1: return fitting[0]
        case 0 where takesAnother && hosts.count == 1: return try Self.answering(hosts[0])
        case 0 where takesAnother:
            throw .unclear(hosts, "no host runs \(manifest); \(hosts.count) run other manifests")
        case 0: throw .absent(hosts, "no host runs \(manifest)")
        default: throw .unclear(fitting, "\(fitting.count) hosts run \(manifest)")
        }
    }

    /// Returns the hosts that run a manifest.
    package static func all(running manifest: String) -> [RunningHost] {
        ((try? RunningHost.all()) ?? []).filter { $0.runs(manifest) }
    }

    private static func answering(_ host: RunningHost) throws(Refusal) -> RunningHost {
        if let problem = host.problem { throw .none(problem) }
        return host
    }

}

extension RunningHost {
    /// Returns whether a manifest is active in the host.
    fileprivate func runs(_ path: String?) -> Bool {
        guard let path, let own = greeting?.manifest else { return false }
        func real(_ path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }
        return FilePath.absolute(path) == own || real(path) == real(own)
    }
}
