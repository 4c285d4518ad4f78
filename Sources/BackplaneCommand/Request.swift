import ArgumentParser
import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTools
import FoundationEssentials
import Glibc
import Synchronization

extension BackplaneTool {
    struct Request: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "request",
            abstract: "Send an HTTP request as a host would, and print the response's body.",
            usage: "backplane request [<options>] <url>",
            discussion: """
                Uses the HTTP engine of this build or, with --manifest, the executors of a host with that manifest; \
                file: URLs are then relative to the manifest's folder. Redirects are not followed. The exit code is 1 \
                if there is no response, or one with a status of 400 or more.

                The response's body is printed. With --output, it is written to a file, and the progress is shown on \
                standard error. The file appears once the body is complete.

                EXAMPLES
                  backplane request https://www.swift.org --verbose
                  backplane request http://127.0.0.1:8484/v2/sessions --json '{"reader": "ann", "password": "white"}'
                  backplane request http://127.0.0.1:8484/covers --form title=Moby-Dick --form cover=@whale.png
                  backplane request http://127.0.0.1:8484/books.epub --output books.epub --timeout 60
                  backplane request http://127.0.0.1:8484/books --trace
                  backplane request -X PUT http://127.0.0.1:8484/books/1 --file book.epub --curl
                  backplane request file:almanac/events.json --manifest manifests/almanac.json
                  backplane request https://books.example.org/shelf --manifest backplane.json --credentials library
                  backplane request https://books.example.org --show-pins
                  backplane request https://books.example.org --show-pins --format json
                """)

        @Argument(help: "The URL.") var url: String
        @Option(
            name: [.customShort("X"), .customLong("method")],
            help: ArgumentHelp("The method (default: GET, or POST with a body).", valueName: "method"))
        var method: String?
        @Option(
            name: [.customShort("H"), .customLong("header")], parsing: .singleValue,
            help: ArgumentHelp("A header field, NAME: VALUE; can be repeated.", valueName: "field"))
        var headers: [String] = []
        @Option(
            name: [.customShort("d"), .customLong("data")],
            help: ArgumentHelp("The text to send as the body.", valueName: "text"))
        var data: String?
        @Option(help: ArgumentHelp("The JSON to send as the body.", valueName: "json")) var json: String?
        @Option(
            parsing: .singleValue,
            help: ArgumentHelp(
                "A form field to send in the body, NAME=VALUE or NAME=@FILE; can be repeated.", valueName: "field"))
        var form: [String] = []
        @Option(help: ArgumentHelp("The file to send as the body, read while it is sent.", valueName: "file"))
        var file: String?
        @Option(
            name: [.customShort("o"), .customLong("output")],
            help: ArgumentHelp("The file to write the response's body to.", valueName: "file"))
        var output: String?
        @Flag(name: .shortAndLong, help: "Print the headers and timings on standard error, without secrets.")
        var verbose = false
        @Flag(help: "Print the stages of the exchange, and their times, on standard error.") var trace = false
        @Flag(help: "Print the curl command for the same request, and send nothing.") var curl = false
        @Flag(help: "Print the pins of the server's certificates, without verifying them, and send no request.")
        var showPins = false
        @Option(help: ArgumentHelp("The output format of --show-pins (default: text).", valueName: "format"))
        var format: Format?
        @Flag(help: "Request compressed content, and decode it.") var compressed = false
        @Option(help: ArgumentHelp("Seconds after which the exchange fails.", valueName: "seconds"))
        var timeout: Double?
        @Option(help: ArgumentHelp("The manifest whose executors to use.", valueName: "manifest"))
        var manifest: String?
        @Option(help: ArgumentHelp("The environment of the manifest to use.", valueName: "name"))
        var environment: String?
        @Option(
            help: ArgumentHelp(
                "The folder with the data of the manifest's hosts (default: $XDG_STATE_HOME/backplane).",
                valueName: "folder"))
        var dataFolder: String?
        @Option(help: ArgumentHelp("The manifest's credential to send with the request.", valueName: "name"))
        var credentials: String?
        @Option(help: ArgumentHelp("The account of the credential.", valueName: "name"))
        var account: String?
        @OptionGroup var substitutes: SubstituteArguments

        enum Format: String, CaseIterable, Sendable, ExpressibleByArgument {
            case text, json
        }

        func validate() throws {
            _ = (try body(), try HTTPHeaders(words: headers))
            if format != nil, !showPins {
                throw ValidationError("--format requires --show-pins; the body of a response is printed as it is")
            }
            for (option, isGiven, other, isOtherGiven) in [
                ("--credentials", credentials != nil, "--manifest", manifest != nil),
                ("--account", account != nil, "--credentials", credentials != nil),
                ("--data-folder", dataFolder != nil, "--manifest", manifest != nil),
            ] where isGiven && !isOtherGiven {
                throw ValidationError("\(option) requires \(other)")
            }
            if let timeout, !(timeout > 0 && timeout <= 1e9) {
                throw ValidationError("--timeout: expected a number of seconds above 0, found \(timeout)")
            }
        }

        /// Returns the body that the options describe; `nil` for none.
        private func body() throws -> HTTPBody? {
            var bodies: [HTTPBody] = []
            if let data { bodies.append(.text(data)) }
            if let json {
                do { _ = try DocumentValue(json: Data(json.utf8)) } catch {
                    throw ValidationError("--json: expected JSON, found `\(json.prefix(60))`: \(error)")
                }
                bodies.append(.bytes(Array(json.utf8), type: "application/json"))
            }
            if !form.isEmpty {
                let fields = try form.map { text in
                    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    guard parts.count == 2, !parts[0].isEmpty else {
                        throw ValidationError("--form: expected NAME=VALUE or NAME=@FILE, found `\(text)`")
                    }
                    return (name: String(parts[0]), value: String(parts[1]))
                }
                let hasFiles = fields.contains { $0.value.hasPrefix("@") }
                bodies.append(
                    hasFiles
                        ? .multipart(
                            fields.map { name, value in
                                value.hasPrefix("@") ? .file(name, String(value.dropFirst())) : .text(name, value)
                            })
                        : .form(fields.map { ($0.name, $0.value) }))
            }
            if let file { bodies.append(.file(file, type: "application/octet-stream")) }
            guard bodies.count < 2 else {
                throw ValidationError("expected one of --data, --json, --form and --file, found \(bodies.count)")
            }
            return bodies.first
        }

        func run() async throws {
            if showPins { throw ExitCode(await printPins()) }
            let body = try body()
            let request = HTTPRequest(
                method ?? (body == nil ? "GET" : "POST"), url, headers: try HTTPHeaders(words: headers),
                body: body ?? .none)
            if curl {
                let options = (compressed ? " --compressed" : "") + (output.map { " --output \($0.shellWord)" } ?? "")
                return Output.line(request.expandedCurlDescription + options)
            }
            let signals: StopSignals, cassette = try substitutes.cassette()
            do { signals = try StopSignals() } catch { throw ExitCode(Output.fail(error)) }
            let exchange = Task { await send(request, cassette) }
            let interruption = Task {
                guard await signals.next() != nil else { return }
                exchange.cancel()
            }
            defer { interruption.cancel() }
            let status = await exchange.value
            if exchange.isCancelled { await incompleteFileIsRemoved() }
            throw ExitCode(status)
        }

        /// The pins of a server's certificates, in the order in which it sends them.
        private struct ServerPins: Encodable {
            var host: String
            var pins: [String]
        }

        /// Prints the server and, for each certificate that it sends, the position and the pin.
        private func printPins() async -> Int32 {
            do {
                let found = try await Engines.pins(of: url, timeout: timeout.map { .seconds($0) } ?? .seconds(10))
                let server = ServerPins(host: HTTPRequest("GET", url).authority, pins: found.map { "\($0)" })
                if format == .json {
                    Output.json(server)
                } else {
                    Output.line(server.host)
                    for (position, pin) in server.pins.enumerated() { Output.line("\(position) \(pin)") }
                }
                Output.remark("backplane: pins are compared with 0, the server's own; nothing was verified")
                return 0
            } catch {
                return Output.fail(error)
            }
        }

        /// Waits until the interrupted download, which runs in a cancelled task, has removed its file.
        ///
        /// The wait takes at most five seconds.
        private func incompleteFileIsRemoved() async {
            for _ in 0..<500 where IncomingFile.openCount > 0 { try? await Task.sleep(for: .milliseconds(10)) }
        }

        private func send(_ request: HTTPRequest, _ cassette: Cassette?) async -> Int32 {
            let watch = TransferLine(shows: output != nil || !request.body.isEmpty)
            let observers = trace ? [stagePrinter(beside: watch)] : [], mocks = substitutes.mocks
            guard let manifest else {
                let network = HTTPPipeline(
                    [Engines.makeHTTP()], observers: observers, mocks: mocks, cassette: cassette)
                return await send(request, through: network, watch)
            }
            var settings = HostSettings(
                manifest: manifest, environment: environment, data: dataFolder, log: LogSettings())
            (settings.mocks, settings.cassette) = (mocks, cassette)
            var options = settings.makeOptions()
            options.observers = observers
            let host = PluginHost(manifest: settings.document, options: options)
            let code = await send(request, through: host.network, watch)
            await host.stop()
            return code
        }

        /// Returns an observer that prints the stages of exchanges.
        private func stagePrinter(beside watch: TransferLine) -> @Sendable (ExchangeEvent) -> Void {
            let transcript = Mutex(ExchangeTranscript())
            return { event in
                transcript.withLock { transcript in
                    guard let line = transcript.line(event) else { return }
                    watch.end()
                    Output.remark(line.printable)
                }
            }
        }

        private func send(
            _ request: HTTPRequest, through network: HTTPPipeline, _ watch: TransferLine
        ) async -> Int32 {
            var options = HTTPOptions()
            options.totalTimeout = timeout.map { .seconds($0) }
            options.decompresses = compressed
            (options.credential, options.account) = (credentials, account)
            if watch.isShown { options.progress = watch.show }
            if verbose { say(request.verboseLines) }
            do {
                let response: HTTPResponse
                if let output {
                    response = try await network.download(request, to: output, options)
                    watch.end()
                    if verbose { say(response.verboseLines(nil)) }
                } else {
                    let head = try await network.open(request, options)
                    watch.end()
                    if verbose {
                        say(HTTPResponse(status: head.status, headers: head.headers).verboseLines(head.version))
                    }
                    let start = ContinuousClock.now
                    for try await chunk in head.body { Output.write(bytes: chunk) }
                    var whole = HTTPResponse(status: head.status, headers: head.headers)
                    whole.timings = head.timings
                    whole.timings.body = .now - start
                    response = whole
                }
                if verbose { say(response.endLines) }
                guard response.status < 400 else {
                    let sent =
                        response.status == 401 ? credentials.map { ", to the credential `\($0.printable)`" } : nil
                    Output.remark("backplane: the server answered with status \(response.status)\(sent ?? "")")
                    return 1
                }
                return 0
            } catch is CancellationError {
                watch.end()
                return 130
            } catch {
                watch.end()
                return Output.fail(error)
            }
        }

        private func say(_ lines: [String]) {
            for line in lines { Output.remark(line.printable) }
        }
    }
}

extension HTTPRequest {
    /// The names of fields whose values are secrets.
    private static let secret = ["authorization", "proxy-authorization", "cookie", "set-cookie"]

    var verboseLines: [String] {
        ["> \(method) \(printableURL)"] + headers.verboseLines(">")
            + (body.isEmpty ? [] : ["> (body: \(body.mediaType ?? "no media type"))"])
    }

    fileprivate static func isSecret(_ name: String) -> Bool { secret.contains(name.lowercased()) }
}

extension HTTPHeaders {
    /// Returns the fields as lines, without secret values.
    func verboseLines(_ mark: String) -> [String] {
        fields.map { field in
            "\(mark) \(field.name): \(HTTPRequest.isSecret(field.name) ? "…" : field.value)"
        }
    }
}

extension HTTPResponse {
    fileprivate func verboseLines(_ version: String?) -> [String] {
        ["< \(version ?? "HTTP") \(status)"] + headers.verboseLines("<")
    }

    /// The timings that the executor reports.
    var endLines: [String] {
        let times = [("head after", timings.head), ("body after", timings.body)].compactMap { name, time in
            time.map { "\(name) \($0.formatted)" }
        }
        return ["* \(times.joined(separator: ", "))"]
    }
}

extension Duration {
    fileprivate var formatted: String {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        return microseconds < 10_000 ? "\(microseconds) µs" : "\(microseconds / 1000) ms"
    }
}

extension HTTPHeaders {
    /// Creates the fields of `NAME: VALUE` arguments.
    init(words: [String]) throws {
        self = [:]
        for text in words {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw ValidationError("--header: expected `NAME: VALUE`, found `\(text)`")
            }
            add(String(parts[0]), String(parts[1].drop { $0 == " " || $0 == "\t" }))
        }
    }
}

/// The progress of an exchange's bodies: a bar on a terminal, otherwise a line for every tenth.
final class TransferLine: Sendable {
    let isShown: Bool
    private let isTerminal: Bool
    private let last = Mutex("")

    init(shows: Bool) {
        isShown = shows
        isTerminal = Terminal.takesProgress
    }

    /// Shows the progress unless the line would be unchanged.
    @Sendable func show(_ progress: HTTPProgress) {
        let text = Self.text(progress, isTerminal: isTerminal)
        let isNew = last.withLock { last in
            defer { last = text }
            return last != text && !text.isEmpty
        }
        guard isNew else { return }
        if isTerminal { ProgressLine().showFitting(text) } else { Output.remark(text) }
    }

    /// Clears the progress line of a terminal until there is further progress.
    func end() {
        let wasShown = last.withLock { last in
            defer { if isTerminal { last = "" } }
            return !last.isEmpty
        }
        if isTerminal, wasShown { ProgressLine().clear() }
    }

    /// Returns the line for the progress of the upload until the response begins, and then of the download.
    static func text(_ progress: HTTPProgress, isTerminal: Bool) -> String {
        progress.received > 0 || progress.toReceive != nil && progress.sent == progress.toSend ?? 0
            ? line("received", progress.received, of: progress.toReceive, isTerminal)
            : line("sent", progress.sent, of: progress.toSend, isTerminal)
    }

    private static func line(_ what: String, _ count: Int64, of total: Int64?, _ isTerminal: Bool) -> String {
        guard let total, total > 0 else {
            // Without a total, a line for every 16 MB.
            let step: Int64 = isTerminal ? 1 << 20 : 16 << 20
            let shown = count / step * step
            return shown == 0 ? "" : "\(what) \(Figure.bytes(Int(shown)))"
        }
        let part = min(1, Double(count) / Double(total))
        return isTerminal
            ? ProgressLine.bar(what, part, of: total)
            : "\(what) \(Int(part * 10) * 10) % of \(Figure.bytes(Int(total)))"
    }
}
