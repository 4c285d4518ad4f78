import Backplane
import BackplaneControl
import BackplaneNetwork
import BackplaneReports
import BackplaneTerminal
import BackplaneTransfers
import Foundation

/// The subcommands of `backplane transfer` for the transfers of a running host.
struct HostedTransferCommand: Sendable {
    var host: HostChoice
    var json = false

    // MARK: Beginning

    /// Begins a download and follows it.
    func begin(_ transfer: Transfer) -> Int32 {
        guard case .download(let request, let target, let settings) = transfer.work else { return 1 }
        var message = BeginTransferRequest(id: transfer.id, url: request.url, file: Self.absolute(target))
        message.headers = request.headers.fields.map { [$0.name, $0.value] }
        message.existing = settings.existing.rawValue
        message.sha256 = settings.sha256.map { bytes in
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        return begin(message)
    }

    /// Begins an upload and follows it.
    func upload(_ file: String, _ request: HTTPRequest, field: String?, type: String) -> Int32 {
        var message = BeginTransferRequest(id: request.url, url: request.url, file: Self.absolute(file))
        message.headers = request.headers.fields.map { [$0.name, $0.value] }
        (message.method, message.field, message.type) = (request.method, field, type)
        return begin(message)
    }

    private func begin(_ message: BeginTransferRequest) -> Int32 {
        host.converse(
            doing: "beginning", interrupted: "this command ends, and the host continues the transfer"
        ) { conversation throws(BackplaneError) in
            let begun = try conversation.answer(to: message)
            return try follow(begun.id, conversation)
        }
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    // MARK: Following

    func watch(_ id: String) -> Int32 {
        host.converse(doing: "waiting for the host") { conversation throws(BackplaneError) in
            try follow(id, conversation)
        }
    }

    /// Prints the states of a transfer until the final one, and returns the exit code.
    private func follow(_ id: String, _ conversation: HostChoice.Conversation) throws(BackplaneError) -> Int32 {
        let printer = TransferPrinter(json: json)
        var last: TransferState?, failure: BackplaneError?
        _ = try conversation.answer(to: WatchTransferRequest(id: id)) { element in
            do throws(BackplaneError) {
                let state = try JSON.decode(TransferState.self, Array(element.utf8), failing: .controlProtocol)
                printer.print(state, after: last)
                last = state
            } catch {
                failure = error
            }
        }
        printer.end()
        if let failure { throw failure }
        guard let last, last.phase.isFinal else {
            return Output.fail("the host has stopped; the transfer continues when it runs again")
        }
        if !json { TransferCommand.show(last) }
        if let error = last.error { return json ? 1 : Output.fail(error) }
        return last.phase == .succeeded ? 0 : 1
    }

    /// Prints all unfinished transfers until there are none, and each transfer that finishes in the meantime.
    func watchAll() -> Int32 {
        host.converse(doing: "waiting for the host") { conversation throws(BackplaneError) in
            let view = TransferTableView(json: json)
            var open: [String] = []
            while true {
                let states = try conversation.answer(to: TransfersRequest(open: true, also: open))
                view.show(states)
                open = states.filter { !$0.phase.isFinal }.map(\.id)
                if open.isEmpty { break }
                Thread.sleep(forTimeInterval: 0.25)
            }
            return 0
        }
    }

    func list(open: Bool, limit: Int?) -> Int32 {
        if let limit, !(1...100_000).contains(limit) {
            return Output.refuse("--limit: expected a number from 1 to 100000, found \(limit)")
        }
        return host.ask(TransfersRequest(open: open ? true : nil, limit: limit)) { states, _ in
            if json {
                Output.json(states)
            } else {
                Output.table(TransferTableView.header, TransferTableView.rows(states))
            }
            return 0
        }
    }

    // MARK: Changing

    func change(_ id: String, _ change: String) -> Int32 {
        host.ask(ChangeTransferRequest(id: id, change: change)) { states, _ in
            for state in states { Output.line(json ? TransferPrinter.json(state) : TransferTableView.line(state)) }
            return 0
        }
    }
}
