import Backplane
import BackplaneControl
import BackplaneHost
import Foundation

/// The connection to the running application, which handles one request at a time.
final class HostLink {
    /// The number of the application; events of earlier ones are ignored.
    let number: Int
    /// The child process, or `nil` if the application was not started by this command.
    let process: HostProcess?
    private let send: @Sendable (DevNews) -> Void
    private var client: ControlClient?
    private(set) var isStopping = false
    /// The libraries of the last swap request.
    private(set) var asked: [String] = []
    /// A Boolean value that indicates whether the manifest was requested with them.
    private(set) var appliesManifest = false
    /// The reason why the last request failed.
    var refusal: DevEvent.Refusal?

    /// Starts an application.
    ///
    /// - Parameter passOn: A function that receives the lines that the application prints; if `nil`, they go to the
    ///   outputs of this process.
    init(
        number: Int, _ settings: DevSettings, passOn: (@Sendable (String, _ isError: Bool) -> Void)?,
        _ send: @escaping @Sendable (DevNews) -> Void
    ) throws(BackplaneError) {
        (self.number, self.send) = (number, send)
        process = try HostProcess(settings.arguments, passOn: passOn) { send(.host($0, of: number)) }
    }

    /// Connects to a running application.
    init(number: Int, _ choice: HostChoice, _ send: @escaping @Sendable (DevNews) -> Void) {
        (self.number, self.send, process) = (number, send, nil)
        Thread.detachNewThread { send(.host(HostProcess.News(of: choice), of: number)) }
    }

    /// A Boolean value that indicates whether the application was not started by this command, and therefore outlives
    /// it.
    var isForeign: Bool { process == nil }

    func isUp(_ report: HostChild.Report) {
        client = ControlClient(report.control)
    }

    /// Stops the application gracefully; a second call kills it.
    func stop() {
        guard !isStopping else { return process?.kill() ?? () }
        isStopping = true
        process?.stop(isUp: client != nil)
    }

    /// Requests a swap, optionally together with the manifest.
    func swap(_ libraries: [String], _ settings: DevSettings, applying appliesManifest: Bool) {
        (asked, self.appliesManifest) = (libraries, appliesManifest)
        ask(
            SwapRequest(
                libraries: libraries, manifest: appliesManifest ? settings.requestedManifest : nil,
                options: settings.swapOptions),
            about: .swap
        ) { .swapped($0) }
    }

    func rollBack(_ plugin: String, _ options: ChangeOptions?) {
        ask(RollbackRequest(plugin: plugin, options: options), about: .rollback) { .rolledBack($0) }
    }

    func apply(_ settings: DevSettings) {
        ask(ApplyRequest(settings.requestedManifest, options: settings.swapOptions), about: .manifest) { .applied($0) }
    }

    func listGenerations() {
        ask(GenerationsRequest(), about: .host) { .generations($0) }
    }

    /// Sends a request on a separate thread; the answer arrives as news.
    private func ask<Message: ControlMessage>(
        _ message: Message, about subject: DevEvent.Refusal.Subject,
        _ answer: @escaping @Sendable (Message.Answer) -> HostAnswer
    ) {
        guard let client else { return }
        let send = send, number = number
        Thread.detachNewThread {
            do throws(BackplaneError) {
                send(.answer(answer(try client.ask(message)), of: number))
            } catch {
                send(.answer(.refused(.init(subject: subject, error: error.shown)), of: number))
            }
        }
    }
}

extension DevSettings {
    fileprivate var requestedManifest: RequestedManifest {
        RequestedManifest(FilePath.absolute(manifest), environment: environment)
    }
}

extension HostProcess.News {
    fileprivate init(of choice: HostChoice) {
        do throws(HostChoice.Refusal) {
            let host = try choice.host()
            self = .up(
                HostChild.Report(process: host.greeting?.process ?? 0, control: host.socket, managers: [], problems: [])
            )
        } catch {
            self = .unreachable(error.error)
        }
    }
}
