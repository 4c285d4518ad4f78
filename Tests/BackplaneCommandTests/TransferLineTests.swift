import BackplaneNetwork
import BackplaneTestKit
import Dispatch
import Foundation
import Testing

@testable import BackplaneCommand

/// The progress that `backplane request` shows: its text, and the line of a terminal.
@Suite(.timeLimit(.minutes(5)))
struct TransferLineTests {
    /// The bytes of an exchange's bodies, and what is shown of them.
    struct Row: Sendable {
        let sent: Int64, toSend: Int64?, received: Int64, toReceive: Int64?
        let onTerminal: String, inLines: String

        init(
            _ sent: Int64, _ toSend: Int64?, _ received: Int64, _ toReceive: Int64?, _ onTerminal: String,
            _ inLines: String
        ) {
            (self.sent, self.toSend, self.received, self.toReceive) = (sent, toSend, received, toReceive)
            (self.onTerminal, self.inLines) = (onTerminal, inLines)
        }
    }

    @Test(arguments: [
        // Neither body has begun, and then an upload of known length.
        Row(0, nil, 0, nil, "", ""),
        Row(0, 4_000, 0, nil, "sent [------------------------------] 0 % of 4000 bytes", "sent 0 % of 4000 bytes"),
        Row(
            1_999, 4_000, 0, nil, "sent [##############----------------] 49 % of 4000 bytes",
            "sent 40 % of 4000 bytes"),
        Row(
            4_000, 4_000, 0, nil, "sent [##############################] 100 % of 4000 bytes",
            "sent 100 % of 4000 bytes"),
        // An upload of unknown length: a line for each megabyte on a terminal, otherwise for every 16.
        Row(1_000_000, nil, 0, nil, "", ""),
        Row(1 << 20, nil, 0, nil, "sent 1048 kB", ""),
        Row((32 << 20) - 1, nil, 0, nil, "sent 32 MB", "sent 16 MB"),
        Row(32 << 20, nil, 0, nil, "sent 33 MB", "sent 33 MB"),
        // The response begins once the request is sent, or before.
        Row(
            4_000, 4_000, 0, 20_000_000, "received [------------------------------] 0 % of 20 MB",
            "received 0 % of 20 MB"),
        Row(
            1_000, 4_000, 0, 20_000_000, "sent [#######-----------------------] 25 % of 4000 bytes",
            "sent 20 % of 4000 bytes"),
        Row(
            1_000, 4_000, 10_000_000, 20_000_000, "received [###############---------------] 50 % of 20 MB",
            "received 50 % of 20 MB"),
        Row(
            0, nil, 199_999, 200_000, "received [#############################-] 99 % of 200 kB",
            "received 90 % of 200 kB"),
        Row(
            0, nil, 200_000, 200_000, "received [##############################] 100 % of 200 kB",
            "received 100 % of 200 kB"),
        // More than was announced, as a decoded body may have.
        Row(
            0, nil, 300_000, 200_000, "received [##############################] 100 % of 200 kB",
            "received 100 % of 200 kB"),
        // A response of unknown length, and one without a body.
        Row(0, nil, 5, nil, "", ""),
        Row(0, nil, 2 << 20, nil, "received 2097 kB", ""),
        Row(4_000, 4_000, 0, 0, "", ""),
    ])
    func `the text is that of the upload, then of the download`(row: Row) {
        var progress = HTTPProgress()
        (progress.sent, progress.toSend) = (row.sent, row.toSend)
        (progress.received, progress.toReceive) = (row.received, row.toReceive)
        #expect(TransferLine.text(progress, isTerminal: true) == row.onTerminal)
        #expect(TransferLine.text(progress, isTerminal: false) == row.inLines)
    }

    @Test(.enabled(if: TerminalRun.isPossible, "the system gives no terminal"))
    func `a terminal has one line with a bar, and nothing remains of it`() async throws {
        let tool = try Tool(), seen = DispatchSemaphore(value: 0)
        defer { seen.signal() }
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            connection.send([UInt8](repeating: 120, count: 600_000))
            seen.wait()
            connection.send([UInt8](repeating: 120, count: 400_000))
        }
        let path = tool.folder + "/whale"
        let command = "'\(Tool.built)/backplane' request '\(server.url())' --output '\(path)'"
        let terminal = try TerminalRun(
            "stty rows 24 cols 200; \(command); echo \"over, $?\"",
            environment: ["XDG_RUNTIME_DIR": tool.folder, "TERM": "xterm"])
        #expect(
            await terminal.says("received [##################------------] 60 % of 1000 kB"), "\(terminal.text)")
        #expect(TerminalScreen(terminal.text, height: 24).lines.count == 1, "\(terminal.text)")
        seen.signal()
        #expect(await terminal.says("over, 0"), "\(terminal.text)")
        #expect(TerminalScreen(terminal.text, height: 24).lines == ["over, 0"], "\(terminal.text)")
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(repeating: 120, count: 1_000_000))
    }
}
