package import Backplane
import BackplaneHost
import Glibc

/// The folder with the control sockets of this user's hosts.
package struct ControlFolder: Sendable {
    /// Absolute.
    package let path: String

    /// - Parameter path: `nil`: the user's ``RuntimeFolder``.
    package init(_ path: String? = nil, environment: (String) -> String? = ProcessEnvironment.value) {
        self.path = FilePath.absolute(path ?? RuntimeFolder.path(environment))
    }

    /// Makes a socket for this process, and removes those that killed hosts have left.
    func listen() throws(BackplaneError) -> LocalListener {
        do throws(PrivateFolder.Problem) {
            try PrivateFolder.make(at: path)
        } catch {
            throw Self.unusable(path, error.text)
        }
        do throws(SystemError) {
            // One host at a time sweeps and makes: a socket that nobody listens to yet looks like one that was left behind.
            let gate = try FileLock(waitingFor: FilePath.join(path, "lock"))
            sweep()
            let listener = try LocalListener(at: newPath())
            gate.release()
            return listener
        } catch {
            throw Self.unusable(path, "cannot be used: \(error)")
        }
    }

    /// The paths of the sockets that are there, of living hosts or not, sorted.
    ///
    /// - Throws: `control.unusable` where the folder is not the user's own, since anybody may have put something there.
    package func sockets() throws(BackplaneError) -> [String] {
        guard let status = try? FileStatus(at: path) else { return [] }
        guard status.kind == .folder, status.owner == geteuid(), !status.isWritableByAnyoneElse else {
            throw Self.unusable(path, "is not a folder that only user \(geteuid()) can write to")
        }
        return ((try? FileTree.names(in: path)) ?? []).filter(Self.isSocketName).map { FilePath.join(path, $0) }
    }

    private func sweep() {
        for socket in (try? sockets()) ?? [] where !LocalSocket.isListenedTo(at: socket) { unlink(socket) }
    }

    /// `host-<process>.sock`, and a number where a process has several.
    private func newPath() -> String {
        let names = [".sock"] + (2...).lazy.prefix(10_000).map { "-\($0).sock" }
        let paths = names.lazy.map { FilePath.join(path, "host-\(getpid())\($0)") }
        return paths.first { (try? FileStatus(at: $0)) == nil } ?? paths[0]
    }

    private static func isSocketName(_ name: String) -> Bool {
        name.wholeMatch(of: /host-[0-9]+(-[0-9]+)?\.sock/) != nil
    }

    static func unusable(_ path: String, _ reason: String) -> BackplaneError {
        BackplaneError(
            .controlUnusable, "the folder for control sockets \(reason); set XDG_RUNTIME_DIR to a folder of yours, or do without with --no-control", at: path)
    }
}
