package import Backplane
import BackplaneHost

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
