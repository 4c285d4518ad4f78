package import Backplane
import BackplaneControl
import BackplaneHost
import Foundation

/// The connection to the running application, which handles one request at a time.
final class HostLink {
    enum News: Sendable {
        case up(HostChild.Report)
        /// An event of the host, which this command or another one may have caused.
        case event(HostEvent.Kind)
        case ended(ChildProcess.Ending)
        /// A host that was not started by this command cannot be found.
        case unreachable(BackplaneError)
    }

    /// The number of the application; events of earlier ones are ignored.
    let number: Int
    /// The child process, or `nil` if the application was not started by this command.
    let process: ChildProcess?
    private let send: @Sendable (DevNews) -> Void
    private var client: ControlClient?
    private(set) var isStopping = false
    private(set) var asked: [String] = []
    private(set) var appliesManifest = false
    /// The reason why the last request failed.
    var refusal: DevEvent.Refusal?
    var others = ChangesOfOthers()

    /// Starts an application.
    ///
    /// - Parameter passOn: A function that receives the lines that the application prints; if `nil`, they go to the
    ///   outputs of this process.
    init(
        number: Int, _ settings: DevSettings, passOn: (@Sendable (String, _ isError: Bool) -> Void)?,
        _ send: @escaping @Sendable (DevNews) -> Void
    ) throws(BackplaneError) {
        (self.number, self.send) = (number, send)
        var outlets = [
            ChildProcess.Outlet(descriptor: HostChild.reports) { line in
                guard let report = try? JSONDecoder().decode(HostChild.Report.self, from: Data(line.utf8)) else {
                    return
                }
                Thread.detachNewThread { Self.follow(report) { send(.host($0, of: number)) } }
            }
        ]
        if let passOn {
            outlets.append(.init(descriptor: STDOUT_FILENO) { passOn($0, false) })
            outlets.append(.init(descriptor: STDERR_FILENO) { passOn($0, true) })
        }
        process = try ChildProcess(
            nil, [HostChild.command] + settings.arguments, environment: Self.environment, outlets: outlets
        ) { send(.host(.ended($0), of: number)) }
    }

    /// Connects to a running application.
    init(number: Int, _ choice: HostChoice, _ send: @escaping @Sendable (DevNews) -> Void) {
        (self.number, self.send, process) = (number, send, nil)
        Thread.detachNewThread {
            let news = News(of: choice)
            guard case .up(let report) = news else { return send(.host(news, of: number)) }
            Self.follow(report) { send(.host($0, of: number)) }
        }
    }

    /// Reports that the application is up, and then its events, none of which is missed, until it stops.
    private static func follow(_ report: HostChild.Report, _ tell: (News) -> Void) {
        var isUp = false
        func tellUp() {
            if !isUp { tell(.up(report)) }
            isUp = true
        }
        _ = try? ControlClient(report.control).ask(EventsRequest(), report: { _ in tellUp() }) { element in
            let event = try? JSONDecoder().decode(HostEvent.self, from: Data(element.utf8))
            if let event { tell(.event(event.kind)) }
        }
        // A host that refuses to be listened to can still be used.
        tellUp()
    }

    /// A Boolean value that indicates whether the application was not started by this command, and therefore outlives
    /// it.
    var isForeign: Bool { process == nil }

    func isUp(_ report: HostChild.Report) {
        client = ControlClient(report.control)
    }

    /// Stops the application gracefully, and kills it if it has not stopped after a while; a second call kills it.
    func stop() {
        guard !isStopping else { return process?.send(SIGKILL) ?? () }
        isStopping = true
        process?.send(SIGTERM)
        // Until the start is complete, there is nothing to lose.
        let process = process, patience: UInt32 = client != nil ? 10 : 2
        Thread.detachNewThread {
            sleep(patience)
            process?.send(SIGKILL)
        }
    }

    // In the event of a crash, report the crashed thread without registers and images.
    private static let environment = [
        "SWIFT_BACKTRACE": "interactive=no,color=no,threads=crashed,registers=none,images=none"
    ]

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

    /// Requests a swap that waits until long calls have ended, or until another change is requested.
    func swapWaiting(_ libraries: [String], _ settings: DevSettings, applying appliesManifest: Bool) {
        var options = settings.swapOptions ?? ChangeOptions()
        options.drain = .upTo((options.drain ?? settings.document.manifest.swap.drain).limit, then: .later)
        let send = send, number = number
        ask(
            SwapRequest(
                libraries: libraries, manifest: appliesManifest ? settings.requestedManifest : nil, options: options),
            about: .swap, tell: { send(.waited($0, libraries, of: number)) }
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
    ///
    /// - Parameter tell: A function that receives the answer, or `nil` to report it as the answer to the last request.
    private func ask<Message: ControlMessage>(
        _ message: Message, about subject: DevEvent.Refusal.Subject,
        tell: (@Sendable (HostAnswer) -> Void)? = nil,
        _ answer: @escaping @Sendable (Message.Answer) -> HostAnswer
    ) {
        guard let client else { return }
        others.asked()
        let send = send, number = number, tell = tell ?? { send(.answer($0, of: number)) }
        Thread.detachNewThread {
            do throws(BackplaneError) {
                tell(answer(try client.ask(message)))
            } catch {
                tell(.refused(.init(subject: subject, error: error.shown)))
            }
        }
    }
}

/// The changes that other commands make to the application.
///
/// The events of the application include the session's own changes, and an event may precede or follow the answer.
struct ChangesOfOthers: Sendable {
    private var unanswered = 0
    /// The own changes whose events have not arrived.
    private var own: [ChangeReport] = []
    /// The changes that may be own ones.
    private var undecided: [HostEvent.Kind] = []

    mutating func asked() { unanswered += 1 }

    /// Processes an event, and returns it if it is a change by another command.
    mutating func take(_ event: HostEvent.Kind) -> [HostEvent.Kind] {
        guard let report = event.change else { return [] }
        if let index = own.firstIndex(of: report) {
            own.remove(at: index)
            return []
        }
        undecided.append(event)
        return decided()
    }

    /// Processes the answer to a request, and returns the changes that other commands have made in the meantime.
    mutating func take(_ answer: HostAnswer) -> [HostEvent.Kind] {
        unanswered -= 1
        if let report = answer.change {
            if let index = undecided.firstIndex(where: { $0.change == report }) {
                undecided.remove(at: index)
            } else {
                own.append(report)
            }
        }
        return decided()
    }

    private mutating func decided() -> [HostEvent.Kind] {
        guard unanswered == 0 else { return [] }
        defer { undecided = [] }
        return undecided
    }
}

extension HostEvent.Kind {
    /// The report of a change; `nil` for any other event.
    fileprivate var change: ChangeReport? {
        switch self {
        case .swapped(let report), .applied(let report), .reset(let report): report.ofChange
        case .started, .failed, .laneChanged, .missed: nil
        }
    }
}

extension HostAnswer {
    /// The report of a change; `nil` for any other answer.
    fileprivate var change: ChangeReport? {
        switch self {
        case .swapped(let report), .rolledBack(let report), .applied(let report): report.ofChange
        case .generations, .refused: nil
        }
    }
}

extension ChangeReport {
    fileprivate var ofChange: ChangeReport? { outcome == .changed ? self : nil }
}

extension DevSettings {
    fileprivate var requestedManifest: RequestedManifest {
        RequestedManifest(FilePath.absolute(manifest), environment: environment)
    }
}

extension HostLink.News {
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
