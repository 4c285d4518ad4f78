package import Backplane

/// The process that `backplane dev` runs the application in: code that is being worked on may end it, and the loop goes on.
package enum HostChild {
    /// The hidden command that the child runs.
    package static let command = "dev-child"
    /// Where it says how it is, a line of JSON each; its other outputs are the application's.
    package static let reports: Int32 = 3

    /// How the application is.
    package struct Report: Codable, Sendable, Hashable {
        package var process: Int32
        /// The socket on which it can be asked and told things.
        package var control: String
        package var managers: [Manager]
        /// What is wrong with the manifest, as `check` says it.
        package var problems: [String]

        package init(process: Int32, control: String, managers: [Manager], problems: [String]) {
            (self.process, self.control, self.managers, self.problems) = (process, control, managers, problems)
        }
    }

    package struct Manager: Codable, Sendable, Hashable {
        package var name: String
        package var state: String
        /// Why it is not up.
        package var reason: BackplaneError?

        package init(name: String, state: String, reason: BackplaneError?) { (self.name, self.state, self.reason) = (name, state, reason) }
    }
}
