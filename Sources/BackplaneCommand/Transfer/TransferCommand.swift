import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneProcesses
import BackplaneTerminal
import BackplaneTransfers
import Glibc

/// The commands `backplane transfer get` and `put`, which carry out one transfer with a pool of their own.
struct TransferCommand: Sendable {
    var transfer: Transfer
    var json = false

    func run() async -> Int32 {
        do throws(BackplaneError) {
            let signals = try StopSignals()
            let pool = try await TransferPool(HTTPPipeline([Engines.makeHTTP()]))
            try await pool.begin(transfer)
            let interruption = Task {
                guard await signals.next() != nil else { return }
                await pool.stop()
            }
            defer { interruption.cancel() }
            let printer = TransferPrinter(json: json)
            var last: TransferState?
            for await state in try await pool.states(of: transfer.id) {
                printer.print(state, after: last)
                last = state
            }
            printer.end()
            await pool.stop()
            return code(after: last)
        } catch {
            return Output.fail(error)
        }
    }

    private func code(after state: TransferState?) -> Int32 {
        guard let state, state.phase.isFinal else {
            Output.remark(
                state?.isUpload == true
                    ? "backplane: interrupted; the same command starts over"
                    : "backplane: interrupted; the same command continues where this one ended")
            return 130
        }
        if !json { Self.show(state) }
        if let error = state.error { return json ? 1 : Output.fail(error) }
        return state.phase == .succeeded ? 0 : 1
    }

    /// Prints the location of the file, or the server's response.
    static func show(_ state: TransferState) {
        if let response = state.response {
            Output.write(bytes: response, to: STDOUT_FILENO)
        } else if let file = state.file {
            if state.wasKept { Output.remark("backplane: the file exists, and was kept") }
            Output.line(file)
        }
    }
}
