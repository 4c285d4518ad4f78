import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneProcesses
import BackplaneTerminal
import Glibc
import Synchronization

/// The command `backplane request`: makes one exchange with the host's own engines.
struct RequestCommand: Sendable {
    var request: HTTPRequest
    /// The curl command line for the same request.
    var curl: CurlCommand
    /// The file to which the response's body is written; `nil` prints it.
    var output: String?
    var isVerbose = false
    /// A Boolean value that indicates whether the curl command is printed instead of sending anything.
    var printsCurl = false
    /// The limit for the whole exchange, in seconds.
    var timeout: Double?
    /// A Boolean value that indicates whether compressed content is requested and decoded.
    var decompresses = false
    /// The manifest's credential and its account with which to authenticate the request.
    var credential, account: String?
    /// The manifest whose executors are used, and whose folder contains `file:` URLs.
    ///
    /// `nil` uses the engines of this build.
    var manifest: HostSettings?

    func run() async -> Int32 {
        if printsCurl {
            Output.line(curl.line)
            return 0
        }
        if let timeout, !(timeout > 0 && timeout <= 1e9) {
            return Output.refuse("--timeout: expected a number of seconds above 0, found \(timeout)")
        }
        let signals: StopSignals
        do { signals = try StopSignals() } catch { return Output.fail(error) }
        let exchange = Task { await send() }
        let interruption = Task {
            guard await signals.next() != nil else { return }
            exchange.cancel()
        }
        defer { interruption.cancel() }
        let status = await exchange.value
        if exchange.isCancelled { await incompleteFileIsRemoved() }
        return status
    }

    /// Waits until the interrupted download, which nobody awaits any longer, has removed its file.
    ///
    /// It waits for at most five seconds.
    private func incompleteFileIsRemoved() async {
        for _ in 0..<500 where IncomingFile.openCount > 0 { try? await Task.sleep(for: .milliseconds(10)) }
    }

    private func send() async -> Int32 {
        let host = manifest?.makeHost()
        let network = host?.network ?? HTTPPipeline([Engines.makeHTTP()])
        let code = await send(through: network)
        await host?.stop()
        return code
    }

    private func send(through network: HTTPPipeline) async -> Int32 {
        let watch = TransferLine(shows: output != nil || !request.body.isEmpty)
        var options = HTTPOptions()
        options.totalTimeout = timeout.map { .seconds($0) }
        options.decompresses = decompresses
        (options.credential, options.account) = (credential, account)
        if watch.isShown { options.progress = watch.show }
        if isVerbose { say(request.verboseLines) }
        do {
            let response: HTTPResponse
            if let output {
                response = try await network.download(request, to: output, options)
                watch.end()
                if isVerbose { say(response.verboseLines(nil)) }
            } else {
                let head = try await network.open(request, options)
                watch.end()
                if isVerbose {
                    say(HTTPResponse(status: head.status, headers: head.headers).verboseLines(head.version))
                }
                let start = ContinuousClock.now
                for try await chunk in head.body { Output.write(bytes: chunk) }
                var whole = HTTPResponse(status: head.status, headers: head.headers, trailers: head.trailers)
                whole.timings = head.timings
                whole.timings.body = .now - start
                response = whole
            }
            if isVerbose { say(response.endLines) }
            guard response.status < 400 else {
                Output.remark("backplane: the server answered with status \(response.status)")
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
    fileprivate func verboseLines(_ mark: String) -> [String] {
        fields.map { field in
            let isHidden = HTTPRequest.isSecret(field.name) && Redaction.verboseFields.hides(field.value)
            return "\(mark) \(field.name): \(isHidden ? "…" : field.value)"
        }
    }
}

extension HTTPResponse {
    fileprivate func verboseLines(_ version: String?) -> [String] {
        ["< \(version ?? "HTTP") \(status)"] + headers.verboseLines("<")
    }

    /// The trailer fields, and the timings that the executor reports.
    var endLines: [String] {
        let times = [
            ("connected in", timings.connect), ("TLS in", timings.secure), ("head after", timings.head),
            ("body after", timings.body),
        ].compactMap { name, time in time.map { "\(name) \($0.formatted)" } }
        return trailers.verboseLines("<") + ["* \(times.joined(separator: ", "))"]
    }
}

extension Duration {
    fileprivate var formatted: String {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        return microseconds < 10_000 ? "\(microseconds) µs" : "\(microseconds / 1000) ms"
    }
}
