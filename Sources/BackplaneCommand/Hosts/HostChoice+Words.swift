import BackplaneControl
import BackplaneHost

extension HostChoice {
    /// Returns the host chosen by the options of a command for running hosts.
    static func given(socket: String?, manifest: String?) throws(Misuse) -> HostChoice {
        if socket != nil, manifest != nil {
            throw .init(description: "--socket and --manifest both choose a host; use only one of them")
        }
        return HostChoice(socket: socket, manifest: manifest)
    }
}

extension HostSettings {
    /// Returns the settings, and the host to use, for a command that works on a manifest or a running host.
    ///
    /// - Parameter running: A Boolean value that indicates whether to use a running host; `socket` implies it.
    func taking(_ manifest: String?, running: Bool, socket: String?) throws(Misuse) -> (
        settings: HostSettings, host: HostChoice?
    ) {
        guard running || socket != nil else {
            do { return (try taking(manifest), nil) } catch { throw .init(description: error.description) }
        }
        let given = [
            ("--environment", environment), ("--plugin-path", pluginPaths.first), ("--load-folder", loadFolder),
            ("--data", data),
        ]
        if let option = given.first(where: { $0.1 != nil })?.0 {
            throw .init(description: "\(option) applies to a host that this command creates, not to a running one")
        }
        if socket != nil, let manifest {
            throw .init(
                description: "--socket and the manifest `\(manifest)` both choose a host; use only one of them")
        }
        return (self, HostChoice(socket: socket, manifest: manifest))
    }
}
