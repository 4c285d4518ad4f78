import BackplaneHost
import Glibc

/// `backplane call`: starts what one manager needs, calls one method of it, stops.
struct CallCommand: Sendable {
    var settings: HostSettings
    var manager: String
    var method: String
    /// `-`: read from standard input.
    var input: String
    /// Seconds.
    var timeout: Double
    /// Say on standard error how each wire crosses.
    var explains = false
    var json = false

    func run() async -> Int32 {
        if json, !explains { return Output.refuse(Self.jsonAlone) }
        guard timeout > 0, timeout <= 1e9 else {
            return Output.refuse("--timeout: expected a number of seconds above 0, found \(timeout)")
        }
        let host = settings.makeHost()
        do {
            let bytes = input == "-" ? try Input.standard(limit: 64 << 20) : Array(input.utf8)
            let call = host.begin(within: .seconds(timeout))
            let result = try await host.call(manager, method, bytes, call)
            if explains { explain(await host.wires) }
            await host.stop()
            Output.line(String(decoding: result, as: UTF8.self))
            return 0
        } catch {
            // Why a call failed may be a matter of the lane that a wire took.
            let wires = await host.wires
            if explains, !wires.isEmpty { explain(wires) }
            await host.stop()
            return Output.fail(error)
        }
    }

    private static let jsonAlone = "--json says how to explain, and nothing is explained without --explain; the result is JSON anyway"

    private func explain(_ wires: [WireStatus]) {
        let rows = wires.map(WireRow.init)
        if json {
            Output.json(rows, to: STDERR_FILENO)
        } else if rows.isEmpty {
            Output.remark("the call itself is JSON, since it is made by name; what it started has no wires")
        } else {
            Output.remark("the call itself is JSON, since it is made by name; the wires of what it started:")
            Output.table(Table(["USER", "LABEL", "PROVIDER", "CONTRACT", "LANE", "WHY"], rows.map(\.cells)), to: STDERR_FILENO)
        }
    }
}
