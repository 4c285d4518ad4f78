import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneProcesses
import BackplaneTerminal
import Glibc

/// The command `backplane call`: starts the components that one manager needs, calls one method, and stops.
struct CallCommand: Sendable {
    var settings: HostSettings
    /// The running host to use, or `nil` to start one with the components that the manager needs.
    var running: HostChoice?
    var manager: String
    /// The method, or `nil` to list the manager's methods.
    var method: String?
    var input: CallInput
    /// The deadline of the call, in seconds.
    var timeout: Double
    /// The default deadline of a call, in seconds.
    static let timeout = 60.0
    /// The number of elements after which a stream is closed, or `nil` for all; applies only to streams.
    var limit: Int?
    /// A Boolean value that indicates whether to print the id of the call's trace, and the stages of its HTTP
    /// exchanges, on standard error.
    var showsTrace = false
    /// The trace that the call continues, or `nil` to begin one.
    var traceparent: String?
    /// A Boolean value that indicates whether to list the lane of each wire on standard error.
    var explains = false
    var json = false

    func run() async -> Int32 {
        if let misuse { return Output.refuse(misuse) }
        guard let method else { return await list() }
        let bytes: [UInt8]
        do throws(BackplaneError) {
            bytes = try input.bytes()
        } catch {
            return Output.fail(error)
        }
        if let running { return ask(running, method, bytes) }
        let host = settings.makeHost(), call = host.begin(within: .seconds(timeout), traceparent: traceparent)
        let exchanges = showsTrace ? host.exchanges(of: call.trace) : nil
        if showsTrace { show(call.trace) }
        do throws(BackplaneError) {
            do throws(BackplaneError) {
                if limit != nil {
                    return try await read(host.stream(manager, method, bytes, call), method, of: host, exchanges)
                }
                let result = try await host.call(manager, method, bytes, call)
                show(exchanges)
                if explains { explain(await host.wires.map(WireRow.init)) }
                let row = await row(of: method, in: host)
                await host.stop()
                print(result, row)
                return 0
            } catch {
                guard error.code == .callWrongKind, limit == nil else { throw error }
                return try await read(host.stream(manager, method, bytes, call), method, of: host, exchanges)
            }
        } catch {
            show(exchanges)
            // The lane of a wire may be the reason why the call failed.
            let wires = await host.wires
            if explains, !wires.isEmpty { explain(wires.map(WireRow.init)) }
            let row = await row(of: method, in: host)
            await host.stop()
            return Output.fail(input.explaining(error, of: row, "\(manager).\(method)", given: bytes))
        }
    }

    /// Returns the row of a method in the list; `nil` if there is no such method.
    private func row(of method: String, in host: PluginHost) async -> MethodRow? {
        (try? await host.providerSide(ofManager: manager)).map { MethodList($0) }?.row(of: method)
    }

    private func print(_ result: [UInt8], _ row: MethodRow?) {
        Output.line(String(decoding: OrderedResult(result, row?.output).text, as: UTF8.self))
    }

    private var misuse: String? {
        if method == nil, let option = optionOfCalls {
            return "\(option) applies to a call; name a method, or list the methods without it"
        }
        if json, !explains, method != nil { return "--json requires --explain; the result itself is always JSON" }
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
            ("--explain", explains), ("--trace", showsTrace), ("--traceparent", traceparent != nil),
            ("--limit", limit != nil), ("--timeout", timeout != Self.timeout),
        ].first { $0.1 }?.0
    }

    private func show(_ trace: Trace?) {
        if let trace { Output.remark("trace \(trace.id)") }
    }

    private func show(_ exchanges: TracedExchanges?) {
        for line in exchanges?.takeLines() ?? [] { Output.remark(line.printable) }
    }

    /// Prints the elements of a stream until it ends, and stops the host.
    private func read(
        _ stream: NamedElements, _ method: String, of host: PluginHost, _ exchanges: TracedExchanges?
    ) async throws(BackplaneError) -> Int32 {
        if explains { explain(await host.wires.map(WireRow.init)) }
        let row = await row(of: method, in: host)
        let signals = try StopSignals(),
            reading = Task { () async -> Result<Void, BackplaneError> in
                do throws(BackplaneError) {
                    var count = 0
                    for try await element in stream {
                        show(exchanges)
                        print(element, row)
                        count += 1
                        if count == limit { break }
                    }
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
        let interruption = Task {
            guard await signals.next() != nil else { return false }
            reading.cancel()
            return true
        }
        let result = await reading.value
        interruption.cancel()
        let isInterrupted = await interruption.value
        show(exchanges)
        if !isInterrupted { try result.get() }
        await host.stop()
        return isInterrupted ? 130 : 0
    }

    /// Makes the call in a running host, which cancels it when this command is interrupted.
    private func ask(_ running: HostChoice, _ method: String, _ bytes: [UInt8]) -> Int32 {
        var trace: Trace?
        if showsTrace || traceparent != nil { trace = traceparent.flatMap(Trace.init(traceparent:)) ?? .random() }
        if showsTrace { show(trace) }
        let request = CallRequest(
            manager: manager, method: method, input: String(decoding: bytes, as: UTF8.self), timeout: timeout,
            traceparent: trace?.traceparent, stages: showsTrace ? true : nil)
        let event: ((ControlEvent) -> Void)? = showsTrace ? { Output.remark($0.text.printable) } : nil
        return running.converse(doing: "waiting for the answer") { host throws(BackplaneError) in
            // A host of an earlier version does not tell, and one that is busy need not.
            var told: MethodRow??
            func row() -> MethodRow? {
                if let told { return told }
                let row = try? host.answer(to: MethodsRequest(manager: manager), within: .seconds(5)).row(of: method)
                told = .some(row)
                return row
            }
            func explained(_ error: BackplaneError) -> BackplaneError {
                guard error.code == .callInvalidInput else { return error }
                return input.explaining(error, of: row(), "\(manager).\(method)", given: bytes)
            }
            func print(_ json: String) {
                let hasMembers = json.utf8.contains(UInt8(ascii: "{"))
                self.print(Array(json.utf8), hasMembers ? row() : nil)
            }
            if limit == nil {
                do throws(BackplaneError) {
                    let answer = try host.answer(to: request, event: event)
                    if explains { explain(try host.answer(to: WiresRequest())) }
                    print(answer.output)
                    return 0
                } catch {
                    guard error.code == .callWrongKind else { throw explained(error) }
                }
            }
            if explains { explain(try host.answer(to: WiresRequest())) }
            do throws(BackplaneError) {
                _ = try host.answer(to: StreamRequest(request, limit: limit), element: { print($0) }, event: event)
            } catch {
                throw explained(error)
            }
            return 0
        }
    }

    private func explain(_ rows: [WireRow]) {
        if json {
            Output.json(rows, to: STDERR_FILENO)
        } else if rows.isEmpty {
            Output.remark(
                "the call itself is encoded as JSON, because it is made by name; the started components have no wires")
        } else {
            let whose = running == nil ? "the started components" : "the host"
            Output.remark("the call itself is encoded as JSON, because it is made by name; the wires of \(whose):")
            Output.table(
                Table(["USER", "LABEL", "PROVIDER", "CONTRACT", "LANE", "WHY"], rows.map(\.cells)), to: STDERR_FILENO)
        }
    }
}
