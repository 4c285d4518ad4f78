package import Backplane
import BackplaneHost
import Foundation

/// The criteria by which a command chooses a running host.
package struct HostChoice: Sendable, Hashable {
    /// The path of the host's socket.
    package var socket: String?
    /// The path of the host's active manifest.
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
                Self.unreachable(
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

    private static func unreachable(_ message: String) -> BackplaneError {
        BackplaneError(.controlUnreachable, message)
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
