import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTerminal
import Glibc

/// The command `backplane call`: starts the components that one manager needs, calls one method, and stops.
struct CallCommand: Sendable {
    var settings: HostSettings
    /// The running host to ask, or `nil` to start one with the components that the manager needs.
    var running: HostChoice?
    var manager: String
    var method: String
    /// The input as JSON; `-` reads it from standard input.
    var input: String
    /// The deadline of the call, in seconds.
    var timeout: Double
    /// A Boolean value that indicates whether to list the lane of each wire on standard error.
    var explains = false
    var json = false

    func run() async -> Int32 {
        if json, !explains { return Output.refuse(Self.jsonAlone) }
        guard timeout > 0, timeout <= 1e9 else {
            return Output.refuse("--timeout: expected a number of seconds above 0, found \(timeout)")
        }
        if let running { return ask(running) }
        let host = settings.makeHost()
        do {
            let bytes = try readInput()
            let call = host.begin(within: .seconds(timeout))
            let result = try await host.call(manager, method, bytes, call)
            if explains { explain(await host.wires.map(WireRow.init)) }
            await host.stop()
            Output.line(String(decoding: result, as: UTF8.self))
            return 0
        } catch {
            // The lane of a wire may be the reason why the call failed.
            let wires = await host.wires
            if explains, !wires.isEmpty { explain(wires.map(WireRow.init)) }
            await host.stop()
            return Output.fail(error)
        }
    }

    private func readInput() throws(BackplaneError) -> [UInt8] {
        input == "-" ? try Input.standard(limit: 64 << 20) : Array(input.utf8)
    }

    /// Makes the call in a running host, which cancels it when this command is interrupted.
    private func ask(_ running: HostChoice) -> Int32 {
        let text: String
        do {
            guard let input = String(validating: try readInput(), as: UTF8.self) else {
                throw BackplaneError(.callInvalidInput, "expected JSON, found bytes that are not UTF-8")
            }
            text = input
        } catch {
            return Output.fail(error)
        }
        let request = CallRequest(manager: manager, method: method, input: text, timeout: timeout)
        return running.ask(request, doing: "waiting for the answer") { answer, host in
            if explains {
                do { explain(try host.client.ask(WiresRequest())) } catch { return Output.fail(error) }
            }
            Output.line(answer.output)
            return 0
        }
    }

    private static let jsonAlone =
        "--json requires --explain; the result is JSON in any case"

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
