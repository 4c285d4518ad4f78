import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools
import Glibc

extension BackplaneTool {
    struct Call: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "call",
            abstract: "Call one method of a manager and print the result, or the elements of a stream, as JSON.",
            usage: "backplane call [<options>] [<manifest>] <manager> [<method> [<input>]]",
            discussion: """
                Starts only the components that the manager needs. Errors are printed on standard error, and the exit \
                code is 1. For a stream, one line is printed for each element, until it ends, --limit is reached or \
                control-C is pressed. Without a method, the manager's methods are listed with the shapes of their \
                inputs and outputs, and nothing is started.

                The first argument is the manifest if it names an existing file, contains a slash, or ends in .json or \
                .plist. Otherwise it is the manager, and the manifest is \(ManifestChoice.text).

                EXAMPLES
                  backplane call ClockManager
                  backplane call ClockManager now
                  backplane call manifests/almanac.json ClockManager now
                  backplane call manifests/almanac.json AlmanacManager on '"07-20"' --explain
                  backplane call manifests/almanac.json AlmanacManager on '"07-20"' --timeout 5
                  backplane call manifests/almanac.json ClockManager echo - < some.json
                  backplane call ClockManager now --running
                  backplane call ClockManager ticks 1 --limit 5
                  backplane call ClockManager now --trace
                """)

        @OptionGroup var host: HostArguments
        @OptionGroup var substitutes: SubstituteArguments
        @OptionGroup var running: RunningArguments
        @Argument(
            help: ArgumentHelp(
                "The manifest (optional), the manager's name in it, the method's name in its contract (default: list them), and the input as JSON (`-`: from standard input; default: null).",
                valueName: "word"))
        var words: [String] = []
        @Option(
            help: ArgumentHelp(
                "The time in seconds after which the call, or the opening of a stream, fails.", valueName: "seconds"))
        var timeout: Double = Call.standardTimeout
        @Option(
            help: ArgumentHelp(
                "The number of elements after which a stream is closed; only for streams.", valueName: "count")
        )
        var limit: Int?
        @Flag(
            help:
                "Print the id of the call's trace, and the stages and attempts of its HTTP exchanges, on standard error."
        )
        var trace = false
        @Option(
            help: ArgumentHelp(
                "The trace that the call continues, in the format of the `traceparent` header of W3C Trace Context.",
                valueName: "traceparent"))
        var traceparent: String?
        @Flag(help: "Print on standard error which lane each wire of the started components uses, and why.")
        var explain = false
        @Flag(help: "Print the explanation, or the list of methods with JSON Schemas, as JSON.") var json = false

        private static let standardTimeout = 60.0

        func validate() throws {
            if let misuse = misuse(of: try given().method) { throw ValidationError(misuse) }
        }

        /// The words of the command line: `[MANIFEST] MANAGER [METHOD [JSON]]`.
        struct Given: Sendable {
            /// The path of the manifest, or `nil` for the one in the current folder.
            var manifest: String?
            var manager: String
            /// The method, or `nil` to list the manager's.
            var method: String?
            /// The input as JSON, `-` for standard input, or `nil` if none was given.
            var input: String?
        }

        func given() throws -> Given {
            let (manifest, rest) = ManifestChoice.split(words)
            var names = rest
            guard let manager = names.popFirst() else { throw ValidationError("MANAGER is missing") }
            let given = Given(manifest: manifest, manager: manager, method: names.popFirst(), input: names.popFirst())
            if let first = names.first { throw ValidationError("unexpected argument `\(first)`") }
            return given
        }

        func run() async throws {
            let given = try given(), (chosen, running) = try running.choice(given.manifest, host.settings)
            if running != nil { try substitutes.requireNone() }
            guard let method = given.method else { throw ExitCode(await list(given.manager, chosen, running)) }
            let input = CallInput(text: given.input), bytes: [UInt8]
            do throws(BackplaneError) {
                bytes = try input.bytes()
            } catch {
                throw ExitCode(Output.fail(error))
            }
            let target = Target(manager: given.manager, method: method, input: input, bytes: bytes)
            if let running { throw ExitCode(call(target, in: running)) }
            throw ExitCode(await call(target, in: try substitutes.applied(to: chosen).makeHost()))
        }

        private func misuse(of method: String?) -> String? {
            if method == nil, let option = optionOfCalls {
                return "\(option) applies to a call; name a method, or list the methods without it"
            }
            if json, !explain, method != nil { return "--json requires --explain; the result itself is always JSON" }
            guard timeout > 0, timeout <= 1e9 else {
                return "--timeout: expected a number of seconds above 0, found \(timeout)"
            }
            if let limit, limit < 1 { return "--limit: expected a number of at least 1, found \(limit)" }
            if let traceparent, Trace(traceparent: traceparent) == nil {
                return
                    "--traceparent: expected 00-TRACE-SPAN-FLAGS in lower-case hexadecimal digits, found `\(traceparent)`"
            }
            return nil
        }

        /// The first of the given options that applies only to calls.
        private var optionOfCalls: String? {
            [
                ("--explain", explain), ("--trace", trace), ("--traceparent", traceparent != nil),
                ("--limit", limit != nil), ("--timeout", timeout != Self.standardTimeout),
            ].first { $0.1 }?.0
        }
    }
}

// MARK: The call

extension BackplaneTool.Call {
    /// A method of a manager with its input.
    private struct Target: Sendable {
        var manager: String
        var method: String
        var input: CallInput
        /// The input as read.
        var bytes: [UInt8]

        /// Returns the row of the method in the list of a host; `nil` if there is no such method.
        func row(in host: PluginHost) async -> MethodRow? {
            (try? await host.providerSide(ofManager: manager)).map { MethodList($0) }?.row(of: method)
        }

        /// Returns the error of a refused input with an example of a valid one, and other errors unchanged.
        func explaining(_ error: BackplaneError, _ row: MethodRow?) -> BackplaneError {
            input.explaining(error, of: row, "\(manager).\(method)", given: bytes)
        }
    }

    /// Makes the call in a new host, and stops the host even if a signal interrupts the call.
    private func call(_ target: Target, in host: PluginHost) async -> Int32 {
        let signals: StopSignals
        do { signals = try StopSignals() } catch { return Output.fail(error) }
        let call = host.begin(within: .seconds(timeout), traceparent: traceparent)
        let exchanges = trace ? host.exchanges(of: call.trace) : nil
        if trace { show(call.trace) }
        let work = Task { () async -> Result<[UInt8]?, BackplaneError> in
            do throws(BackplaneError) { return .success(try await answer(of: target, in: host, call, exchanges)) } catch
            {
                return .failure(error)
            }
        }
        let interruption = Task {
            guard await signals.next() != nil else { return false }
            work.cancel()
            // This also ends a start, and a call that ignores its cancellation.
            await host.stop()
            return true
        }
        let result = await work.value
        interruption.cancel()
        let isInterrupted = await interruption.value
        show(exchanges)
        // Show the lanes even after a failure, because a lane may be the cause. For a stream, show them first.
        let wires = explain ? await host.wires.map(WireRow.init) : []
        let row = await target.row(in: host)
        await host.stop()
        if isInterrupted { return 130 }
        switch result {
        case .success(let output):
            guard let output else { return 0 }
            if explain { show(wires, of: "the started components") }
            print(output, row)
            return 0
        case .failure(let error):
            if !wires.isEmpty { show(wires, of: "the started components") }
            return Output.fail(target.explaining(error, row))
        }
    }

    /// Makes the call and returns its output, or prints the elements of a stream and returns `nil`.
    private func answer(
        of target: Target, in host: PluginHost, _ call: Backplane.Call, _ exchanges: TracedExchanges?
    ) async throws(BackplaneError) -> [UInt8]? {
        if limit == nil {
            do throws(BackplaneError) {
                return try await host.call(target.manager, target.method, target.bytes, call)
            } catch {
                guard error.code == .callWrongKind else { throw error }
            }
        }
        let stream = try await host.stream(target.manager, target.method, target.bytes, call)
        if explain { show(await host.wires.map(WireRow.init), of: "the started components") }
        let row = await target.row(in: host)
        var count = 0
        for try await element in stream {
            show(exchanges)
            print(element, row)
            count += 1
            if count == limit || Output.hasNoReader { break }
        }
        return nil
    }

    /// Makes the call in a running host, which cancels the call when this command is interrupted.
    private func call(_ target: Target, in running: HostChoice) -> Int32 {
        var own: Trace?
        if trace || traceparent != nil { own = traceparent.flatMap(Trace.init(traceparent:)) ?? .random() }
        if trace { show(own) }
        let request = CallRequest(
            manager: target.manager, method: target.method, input: String(decoding: target.bytes, as: UTF8.self),
            timeout: .seconds(timeout), traceparent: own?.traceparent, stages: trace)
        let event: ((ControlEvent) -> Void)? = trace ? { Output.remark($0.text.printable) } : nil
        return running.converse(doing: "waiting for the answer") { host throws(BackplaneError) in
            // A host of an earlier version cannot report the methods, and a busy host need not.
            var told: MethodRow??
            func row() -> MethodRow? {
                if let told { return told }
                let request = MethodsRequest(manager: target.manager)
                let row = try? host.answer(to: request, within: .seconds(5)).row(of: target.method)
                told = .some(row)
                return row
            }
            func explained(_ error: BackplaneError) -> BackplaneError {
                error.code == .callInvalidInput ? target.explaining(error, row()) : error
            }
            func print(_ json: String) {
                let hasMembers = json.utf8.contains(UInt8(ascii: "{"))
                self.print(Array(json.utf8), hasMembers ? row() : nil)
            }
            func explainWires() throws(BackplaneError) {
                if explain { show(try host.answer(to: WiresRequest()), of: "the host") }
            }
            if limit == nil {
                do throws(BackplaneError) {
                    let answer = try host.answer(to: request, event: event)
                    try explainWires()
                    print(answer.output)
                    return 0
                } catch {
                    guard error.code == .callWrongKind else { throw explained(error) }
                }
            }
            try explainWires()
            do throws(BackplaneError) {
                _ = try host.answer(to: StreamRequest(request, limit: limit), element: { print($0) }, event: event)
            } catch {
                throw explained(error)
            }
            return 0
        }
    }

    private func print(_ result: [UInt8], _ row: MethodRow?) {
        Output.line(String(decoding: OrderedResult(result, row?.output).text, as: UTF8.self))
    }

    private func show(_ trace: Trace?) {
        if let trace { Output.remark("trace \(trace.id)") }
    }

    private func show(_ exchanges: TracedExchanges?) {
        for line in exchanges?.takeLines() ?? [] { Output.remark(line.printable) }
    }

    private func show(_ rows: [WireRow], of subject: String) {
        if json {
            Output.json(rows, to: STDERR_FILENO)
        } else if rows.isEmpty {
            Output.remark(
                "the call itself is encoded as JSON, because it is made by name; the started components have no wires")
        } else {
            Output.remark("the call itself is encoded as JSON, because it is made by name; the wires of \(subject):")
            Output.table(
                Table(WireRow.header, rows.map(\.cells)), to: STDERR_FILENO)
        }
    }
}

// MARK: The list of methods

extension BackplaneTool.Call {
    /// Lists the methods of the manager, and how to call the first one with a known input.
    private func list(_ manager: String, _ settings: HostSettings, _ running: HostChoice?) async -> Int32 {
        func show(_ rows: [MethodRow]) {
            if json { return Output.json(rows) }
            guard !rows.isEmpty else { return Output.line("`\(manager)` has no methods") }
            Output.table(Table(MethodRow.header, rows.map(\.cells)))
            guard let example = rows.lazy.compactMap(\.example).first else { return }
            let words = running == nil ? [settings.manifest, manager] : [manager]
            let command = ShellCommand(
                name: "call", words: words + example, options: running?.options ?? settings.composingOptions)
            Output.line("\nfor example: \(command.text)")
        }
        if let running {
            return running.converse(doing: "waiting for the list") { host throws(BackplaneError) in
                show(try host.answer(to: MethodsRequest(manager: manager)).rows)
                return 0
            }
        }
        let host = settings.makeHost()
        do throws(BackplaneError) {
            let methods = MethodList(try await host.providerSide(ofManager: manager))
            await host.stop()
            show(methods.rows)
            return 0
        } catch {
            await host.stop()
            return Output.fail(error)
        }
    }
}

extension HostChoice {
    /// The options that choose the same host.
    fileprivate var options: [ShellCommand.Option] {
        if let socket { return [ShellCommand.Option(name: "--socket", value: socket)] }
        return [ShellCommand.Option(name: "--running")]
            + (manifest.map { [ShellCommand.Option(name: "--manifest", value: $0)] } ?? [])
    }
}
