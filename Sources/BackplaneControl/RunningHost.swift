package import Backplane
import BackplaneHost

/// A host that listens for requests.
package struct RunningHost: Sendable, Hashable {
    package var socket: String
    /// `nil`: it does not answer, or is of another version.
    package var greeting: HostGreeting?
    package var problem: BackplaneError?

    package init(socket: String, greeting: HostGreeting?, problem: BackplaneError? = nil) {
        (self.socket, self.greeting, self.problem) = (socket, greeting, problem)
    }

    /// The one that listens at a path.
    package init(at socket: String) {
        do {
            self.init(socket: FilePath.absolute(socket), greeting: try ControlClient(socket).greet())
        } catch {
            self.init(socket: FilePath.absolute(socket), greeting: nil, problem: error)
        }
    }

    package var client: ControlClient { ControlClient(socket) }

    /// Those of this user, by their sockets. One that was killed has left a socket that nobody listens to, and is not among them.
    package static func all(in folder: ControlFolder = ControlFolder()) throws(BackplaneError) -> [RunningHost] {
        try folder.sockets().filter(LocalSocket.isListenedTo).map(RunningHost.init)
    }
}
