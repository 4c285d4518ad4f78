package import Backplane

/// The transport of a client's exchanges: through the boundary to the host, or through the program's own pipeline.
package protocol HTTPWay: Sendable {
    /// Sends a request and returns the response with its body in memory.
    func send(
        _ request: HTTPRequest, upTo limit: Int, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse

    /// Sends a request and returns once the head of the response has arrived.
    func open(_ request: HTTPRequest, _ call: Call, _ options: HTTPOptions) async throws(BackplaneError)
        -> HTTPStreamedResponse

    /// Sends a request and writes the response's body to a file.
    func download(
        _ request: HTTPRequest, to path: String, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse

    /// Signs in an account of a credential, and returns its principal.
    func signIn(
        _ credential: String, as account: String, with values: [String: String], _ call: Call
    ) async throws(BackplaneError) -> UInt64

    /// Signs out an account of a credential.
    func signOut(_ credential: String, account: String) throws(BackplaneError)

    /// Returns the absolute path of a download's destination.
    func file(_ path: String) -> String

    /// The folder of the sending component; `nil` for a program, or a component without a folder.
    var folder: String? { get }

    /// The clock of the sender's own limits and pauses.
    var clock: any DeadlineClock { get }

    /// Writes a message to the log of the loading component or program.
    func log(_ message: String, _ metadata: [String: String], _ call: Call)
}

extension HTTPWay {
    /// No folder, by default.
    package var folder: String? { nil }
    /// The system's clock, by default.
    package var clock: any DeadlineClock { Alarms.shared }
}
