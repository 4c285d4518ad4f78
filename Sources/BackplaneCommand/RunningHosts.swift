import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools
import Glibc

/// The options of commands that work only on a running host.
struct HostChoiceArguments: ParsableArguments {
    @Flag(help: "Use the running host, as this command always does.") var running = false

    @Option(help: ArgumentHelp("The path of the running host's socket.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The manifest that is active in the running host (default: the only running host, or the host of the manifest in the current folder).",
            valueName: "manifest"))
    var manifest: String?

    func validate() throws { _ = try choice }

    var choice: HostChoice { get throws { try HostChoice.given(socket: socket, manifest: manifest) } }
}

/// The options of commands that work on a manifest or on a running host.
struct RunningArguments: ParsableArguments {
    @Flag(help: "Use the running host instead of creating one.") var running = false

    @Option(help: ArgumentHelp("The path of the running host's control socket.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The manifest, instead of the first argument; with --running, the manifest of the running host.",
            valueName: "manifest"))
    var manifest: String?

    /// Returns the settings with the manifest, and the running host to use instead, if any.
    ///
    /// - Parameters:
    ///   - argument: The manifest that precedes the other arguments.
    ///   - settings: The settings of a host that the command creates.
    func choice(_ argument: String?, _ settings: HostSettings) throws -> (settings: HostSettings, host: HostChoice?) {
        if let argument, manifest != nil {
            throw ValidationError("--manifest and `\(argument)` both name a manifest; use only one of them")
        }
        let manifest = argument ?? manifest
        guard running || socket != nil else { return (try settings.taking(manifest), nil) }
        let given = [
            ("--environment", settings.environment), ("--plugin-path", settings.pluginPaths.first),
            ("--load-folder", settings.loadFolder), ("--data", settings.data),
        ]
        if let option = given.first(where: { $0.1 != nil })?.0 {
            throw ValidationError("\(option) applies to a host that this command creates, not to a running one")
        }
        if socket != nil, let manifest {
            throw ValidationError("--socket and the manifest `\(manifest)` both choose a host; use only one of them")
        }
        return (settings, HostChoice(socket: socket, manifest: manifest))
    }
}

extension HostChoice {
    /// Returns the host chosen by the options of a command for running hosts.
    static func given(socket: String?, manifest: String?) throws -> HostChoice {
        if socket != nil, manifest != nil {
            throw ValidationError("--socket and --manifest both choose a host; use only one of them")
        }
        return HostChoice(socket: socket, manifest: manifest)
    }

    /// Sends a message to the chosen host and returns the exit code; prints errors on standard error.
    ///
    /// - Parameters:
    ///   - doing: The text of the progress line.
    ///   - interrupted: A remark that is printed when control-C ends this command but not the host's work.
    ///   - use: A function that prints the answer and returns the exit code.
    func ask<Message: ControlMessage>(
        _ message: Message, doing: String = "waiting for the host", interrupted: String? = nil,
        _ use: (Message.Answer, RunningHost) -> Int32
    ) -> Int32 {
        converse(doing: doing, interrupted: interrupted) { conversation throws(BackplaneError) in
            use(try conversation.answer(to: message), conversation.host)
        }
    }

    /// Sends a message to the chosen host, prints the answer, and throws the exit code.
    ///
    /// - Parameter text: A function that prints the answer, unless it is printed as JSON.
    func show<Message: ControlMessage>(
        _ message: Message, json: Bool, _ text: (Message.Answer) -> Void
    ) throws {
        throw ExitCode(
            ask(message) { answer, _ in
                if json { Output.json(answer) } else { text(answer) }
                return 0
            })
    }

    /// Sends messages to the chosen host and returns the exit code; prints errors on standard error.
    ///
    /// - Parameters:
    ///   - doing: The text of the progress line.
    ///   - interrupted: A remark that is printed when control-C ends this command but not the host's work.
    ///   - talk: A function that sends the messages, prints the answers and returns the exit code.
    func converse(
        doing: String, interrupted: String? = nil, _ talk: (Conversation) throws(BackplaneError) -> Int32
    ) -> Int32 {
        let host: RunningHost
        do { host = try self.host(here: ManifestChoice.here) } catch { return error.report() }
        do throws(BackplaneError) {
            let signals = try StopSignals(),
                interruption = Task {
                    guard await signals.next() != nil else { return }
                    ProgressLine().clear()
                    if let interrupted { Output.remark("backplane: \(interrupted)") }
                    _exit(130)
                }
            defer { interruption.cancel() }
            return try talk(Conversation(host: host, doing: doing))
        } catch {
            return Output.fail(error)
        }
    }

    /// A series of messages to a running host, with a progress line while it answers.
    struct Conversation {
        let host: RunningHost
        let doing: String

        /// Sends a message whose answer consists of elements, and returns the exit code.
        ///
        /// If an element from a newer host cannot be decoded, its JSON is printed on standard error, and the command
        /// fails at the end.
        ///
        /// - Parameter use: A function called with each element, and its JSON.
        func follow<Element: Decodable>(
            _ message: some ControlMessage, of _: Element.Type, _ use: (Element, String) -> Void
        ) throws(BackplaneError) -> Int32 {
            var code: Int32 = 0
            _ = try answer(to: message) { text in
                do throws(BackplaneError) {
                    use(try JSON.decode(Element.self, Array(text.utf8), failing: .controlProtocol), text)
                } catch {
                    code = Output.fail("the host sent what this version cannot decode (\(error.message)): \(text)")
                }
            }
            return code
        }

        /// Sends a message and returns the answer.
        ///
        /// When the reader of the command's output is gone, the command ends, and with it a lasting request.
        ///
        /// - Parameters:
        ///   - limit: The time to wait, or `nil` for no limit.
        ///   - element: A function called with each element of a lasting answer, as JSON.
        ///   - event: A function that receives the host's reports, or `nil` to show them in the progress line.
        func answer<Message: ControlMessage>(
            to message: Message, within limit: Duration? = nil, element: (String) -> Void = { _ in },
            event: ((ControlEvent) -> Void)? = nil
        ) throws(BackplaneError) -> Message.Answer {
            let progress = AnswerProgress(doing)
            defer { progress.clear() }
            let isLasting = Message.Answer.self == ElementCount.self
            func endUnlessRead() {
                guard isLasting, Output.hasNoReader else { return }
                progress.clear()
                _exit(0)
            }
            do throws(BackplaneError) {
                return try host.client.ask(
                    message, within: limit,
                    report: { report in
                        guard let event else { return progress.report(report) }
                        progress.clear()
                        event(report)
                    },
                    element: {
                        progress.end()
                        element($0)
                        endUnlessRead()
                    },
                    tick: {
                        progress.tick()
                        endUnlessRead()
                    })
            } catch {
                // The host has greeted this command, but no longer listens.
                guard error.code == .controlUnreachable, let process = host.greeting?.process else { throw error }
                throw BackplaneError(
                    .controlUnreachable, "the host, process \(process), has stopped in the meantime: \(error.message)",
                    at: error.location)
            }
        }
    }
}

extension Output {
    /// A Boolean value that indicates whether standard output is a pipe without a reader.
    static var hasNoReader: Bool {
        var entry = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLERR) != 0
    }
}

extension ProgressLine {
    /// Shows a text on one line of the terminal, because only one line can be overwritten.
    func showFitting(_ text: String) { show(text.fitted(to: Terminal.columns - 1)) }

    /// Returns a bar for a part of a number of bytes: `received [#####---------------] 25 % of 2 MB`.
    static func bar(_ what: String, _ part: Double, of total: Int64) -> String {
        let filled = Int(part * 20)
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: 20 - filled)
        return "\(what) [\(bar)] \(Int(part * 100)) % of \(Figure.bytes(Int(total)))"
    }
}

extension HostChoice.Refusal {
    /// Prints the reason and returns the exit code; an ambiguous choice counts as a usage error.
    func report() -> Int32 {
        switch self {
        case .none(let error): return Output.fail(error)
        case .absent(let hosts, let reason):
            let code = Output.fail("\(reason.printable); start one with `backplane run`. Running hosts:")
            Output.table(HostTable.table(hosts), to: STDERR_FILENO)
            return code
        case .unclear(let hosts, let reason):
            let code = Output.refuse("\(reason.printable); choose one with --socket, or by its manifest:")
            Output.table(HostTable.table(hosts), to: STDERR_FILENO)
            return code
        }
    }
}

/// A progress line on standard error for a host's slow answer, shown only at a terminal.
final class AnswerProgress {
    private var text: String
    private let line = ProgressLine()
    private let begin = ContinuousClock.now
    private var isShown = false
    private var hasEnded = false
    /// The delay after which the line appears.
    private static let patience = Duration.seconds(1)

    init(_ text: String) { self.text = text }

    func report(_ event: ControlEvent) {
        text = event.text.printable
        tick()
    }

    func tick() {
        let time = ContinuousClock.now - begin
        guard time > Self.patience, !hasEnded else { return }
        isShown = true
        line.showFitting("\(text), \(time.components.seconds) s")
    }

    /// Removes the line permanently.
    func end() {
        clear()
        (isShown, hasEnded) = (false, true)
    }

    func clear() {
        if isShown { line.clear() }
    }
}

/// The table of running hosts.
enum HostTable {
    static func table(_ hosts: [RunningHost]) -> Table {
        Table(
            ["PROCESS", "MANIFEST", "SOCKET"],
            hosts.map { host in
                let manifest: Span =
                    if let problem = host.problem { Span(problem.message.printable, .bad) } else {
                        Span(host.greeting?.manifest?.printable ?? "composed in Swift")
                    }
                return [Span(host.greeting.map { "\($0.process)" } ?? "-"), manifest, Span(host.socket.printable)]
            })
    }
}

// MARK: The requests that only hosts of this tool answer

/// A request for the components of a host's plugins; answered only by hosts that this tool runs.
struct ServicesRequest: ControlMessage {
    static let name = "services"
    typealias Answer = ServiceList
}

/// A request to explain a manager; answered only by hosts that this tool runs.
struct ExplainRequest: ControlMessage {
    static let name = "explain"
    typealias Answer = Explanation
    var manager: String
}

/// A request for the methods of a manager; answered only by hosts that this tool runs.
struct MethodsRequest: ControlMessage {
    static let name = "methods"
    typealias Answer = MethodList
    var manager: String
}

/// A request for the wires of a host; answered only by hosts that this tool runs.
struct WiresRequest: ControlMessage {
    static let name = "wires"
    typealias Answer = [WireRow]
}

extension ControlRequest {
    /// The control requests that this tool's hosts answer in addition to the requests of every host.
    static let ofTool = [services, explain, methods, wires]

    private static let services = ControlRequest(ServicesRequest.self, endsWithClient: true) {
        host, _ throws(BackplaneError) in
        ServiceList(await host.composition())
    }

    private static let explain = ControlRequest(ExplainRequest.self, endsWithClient: true) {
        host, request throws(BackplaneError) in
        try Explanation(of: request.manager, in: await host.composition()).living(await host.managers)
    }

    private static let methods = ControlRequest(MethodsRequest.self, endsWithClient: true) {
        host, request throws(BackplaneError) in
        MethodList(try await host.providerSide(ofManager: request.manager))
    }

    private static let wires = ControlRequest(WiresRequest.self, endsWithClient: true) {
        host, _ throws(BackplaneError) in
        await host.wires.map(WireRow.init)
    }
}

extension Explanation {
    /// Returns the explanation with the current states of the manager and of the managers it uses.
    fileprivate func living(_ managers: [ManagerStatus]) -> Explanation {
        let lives = Dictionary(
            managers.map { ($0.name, Life(state: "\($0.state)", reason: $0.state.reason?.description)) }
        ) { first, _ in first }
        var explanation = self
        explanation.life = lives[manager]
        for index in uses.indices { explanation.uses[index].life = lives[uses[index].manager] }
        return explanation
    }
}
