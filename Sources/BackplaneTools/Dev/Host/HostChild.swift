package import Backplane

/// The process in which `backplane dev` runs the application, so that a crash of the code does not end the loop.
package enum HostChild {
    /// The hidden command that the child runs.
    package static let command = "dev-child"
    /// The file descriptor for reports, as JSON lines; the other outputs are the application's.
    package static let reports: Int32 = 3

    /// The state of the application.
    package struct Report: Codable, Sendable, Hashable {
        package var process: Int32
        /// The path of the control socket.
        package var control: String
        /// The URL at which the application serves; `nil` if it has no server.
        package var server: String?
        /// The URL that signs one browser in to the screens; `nil` if they are not shown in browsers.
        package var screens: String?
        package var managers: [ReportedManager]
        /// The errors of the manifest, in the format of `check`, and of the server.
        package var problems: [String]

        package init(
            process: Int32, control: String, server: String? = nil, screens: String? = nil,
            managers: [ReportedManager], problems: [String]
        ) {
            (self.process, self.control, self.server, self.screens) = (process, control, server, screens)
            (self.managers, self.problems) = (managers, problems)
        }
    }

    package struct ReportedManager: Codable, Sendable, Hashable {
        package var name: String
        package var state: String
        /// The reason why the manager is not ready.
        package var reason: BackplaneError?

        package init(name: String, state: String, reason: BackplaneError?) {
            (self.name, self.state, self.reason) = (name, state, reason)
        }
    }
}
