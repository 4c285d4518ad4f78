public import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneExchange
import BackplaneHost
public import BackplaneNetwork
import BackplaneTools
import BackplaneTransfers
import Foundation
import Synchronization

extension BackplaneTool {
    struct Transfers: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "transfers",
            abstract: "Begin, follow and control the downloads and uploads of a running host.",
            discussion: """
                The host carries them out, and continues if the command is interrupted. A download is written to a \
                part file next to its target, and moved there once it is complete; after an interruption it continues \
                where it stopped, unless the file on the server has changed. An upload starts over. Transfers of \
                plugins have ids that begin with the plugin's id, such as org.example.books/text/whale. Without a \
                host, `backplane request --output` downloads a file.

                The progress is shown on standard error: as one line in a terminal, otherwise as one line for every \
                10%. With --json, each state is printed on standard output as one line of JSON. The exit code is 0 \
                if the transfer has succeeded, 1 if it has not, and 130 after an interruption.

                EXAMPLES
                  backplane transfers get https://books.example.org/whale.epub
                  backplane transfers get https://books.example.org/whale.epub /tmp/whale.epub --existing number
                  backplane transfers put whale.epub https://books.example.org/uploads/whale.epub
                  backplane transfers put whale.png http://127.0.0.1:8484/covers -X POST --field cover --json
                  backplane transfers list
                  backplane transfers watch
                  backplane transfers pause org.example.books/text/whale
                """,
            subcommands: [
                Get.self, Put.self, List.self, Watch.self, Pause.self, Resume.self, Cancel.self, Remove.self,
            ])
    }
}

/// The options that downloads and uploads share.
struct TransferSharedArguments: ParsableArguments {
    @Option(
        name: [.customShort("H"), .customLong("header")], parsing: .singleValue,
        help: ArgumentHelp("A header field, NAME: VALUE; can be repeated.", valueName: "field"))
    var headers: [String] = []
    @Flag(help: "Print each state as one line of JSON.") var json = false
    @OptionGroup var host: HostChoiceArguments

    func validate() throws { _ = try HTTPHeaders(words: headers) }

    /// Hands a transfer over to the running host, follows it, and returns the exit code.
    ///
    /// - Parameter message: The transfer, without the header fields.
    func begin(_ message: BeginTransferRequest) throws -> Int32 {
        var message = message
        message.headers = try HTTPHeaders(words: headers).fields.map { [$0.name, $0.value] }
        message.file = FilePath.absolute(message.file)
        return try host.choice.converse(
            doing: "beginning", interrupted: "this command ends, and the host continues the transfer"
        ) { [message] conversation throws(BackplaneError) in
            let begun = try conversation.answer(to: message)
            return try conversation.follow(begun.id, json: json)
        }
    }
}

extension HostChoice.Conversation {
    /// Prints the states of a transfer until the final one, and returns the exit code.
    fileprivate func follow(_ id: String, json: Bool) throws(BackplaneError) -> Int32 {
        let printer = TransferPrinter(json: json)
        var last: TransferState?
        let code = try follow(WatchTransferRequest(id: id), of: TransferState.self) { state, _ in
            printer.print(state, after: last)
            last = state
        }
        printer.end()
        guard code == 0 else { return code }
        guard let last, last.phase.isFinal else {
            return Output.fail("the host has stopped; the transfer continues when it runs again")
        }
        return last.report(json: json)
    }
}

extension TransferState {
    /// Prints the outcome of a finished transfer, and returns the exit code.
    fileprivate func report(json: Bool) -> Int32 {
        guard !json else { return phase == .succeeded ? 0 : 1 }
        if let response {
            Output.write(bytes: response, to: STDOUT_FILENO)
        } else if let file {
            if wasKept { Output.remark("backplane: the file exists, and was kept") }
            Output.line(file)
        }
        if let error { return Output.fail(error) }
        return phase == .succeeded ? 0 : 1
    }
}

extension BackplaneTool.Transfers {
    struct Get: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get",
            abstract: "Download a file, or continue an interrupted download.",
            usage: "backplane transfers get [<options>] <url> [<file>]")

        @Argument(help: "The URL.") var url: String
        @Argument(help: "The file or folder to write to (default: the URL's last component, in the current folder).")
        var file: String?
        @Option(
            help: ArgumentHelp(
                "The policy if the file exists: replace it, keep it, or number the new one.", valueName: "policy"))
        var existing: ExistingFile = .replace
        @Option(help: ArgumentHelp("The expected SHA-256 of the file, in hexadecimal.", valueName: "digest"))
        var sha256: String?
        @OptionGroup var shared: TransferSharedArguments

        func validate() throws {
            if let sha256, BeginTransferRequest.bytes(of: sha256) == nil {
                throw ValidationError("--sha256: expected 64 hexadecimal digits, found `\(sha256.prefix(80))`")
            }
            _ = try target
        }

        func run() throws {
            var message = BeginTransferRequest(id: url, url: url, file: try target)
            (message.existing, message.sha256) = (existing, sha256)
            throw ExitCode(try shared.begin(message))
        }

        /// The file to write: the given one, or one in the given folder that is named after the URL.
        private var target: String {
            get throws {
                var isFolder = false
                if let file, !file.hasSuffix("/"),
                    !(FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) && isFolder)
                {
                    return file
                }
                let folder = file.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
                let encoded =
                    WebURL(url)?.path.split(separator: "/").last.map(String.init) ?? ""
                // A name that would escape the folder is not used.
                let name = encoded.removingPercentEncoding ?? encoded
                guard !["", ".", ".."].contains(name),
                    !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 < 0x20 })
                else {
                    throw ValidationError("the URL does not end with a file name; specify one after the URL")
                }
                return folder + name
            }
        }
    }

    struct Put: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "put",
            abstract: "Upload a file as the body of a request, or as a field of a form.",
            usage: "backplane transfers put [<options>] <file> <url>",
            discussion: "Up to 64 KB of the response's body is printed.")

        @Argument(help: "The file to upload, which is read while it is sent.") var file: String
        @Argument(help: "The URL.") var url: String
        @Option(
            name: [.customShort("X"), .customLong("method")],
            help: ArgumentHelp("The method (default: PUT, or POST with --field).", valueName: "method"))
        var method: String?
        @Option(help: ArgumentHelp("The form field in which to send the file.", valueName: "name"))
        var field: String?
        @Option(help: ArgumentHelp("The media type of the file.", valueName: "type"))
        var type = "application/octet-stream"
        @OptionGroup var shared: TransferSharedArguments

        func run() throws {
            var message = BeginTransferRequest(id: url, url: url, file: file)
            (message.method, message.field, message.type) = (method ?? (field == nil ? "PUT" : "POST"), field, type)
            throw ExitCode(try shared.begin(message))
        }
    }
}

extension ExistingFile: ExpressibleByArgument {}

// MARK: The transfers of a running host

extension BackplaneTool.Transfers {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the transfers of a running host, in the order in which they were started.")

        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "List only transfers that have not ended.") var open = false
        @Option(help: ArgumentHelp("The maximum number of transfers (default: 1000).", valueName: "count"))
        var limit: Int?
        @Flag(help: "Print the states as JSON.") var json = false

        func validate() throws {
            if let limit, !(1...100_000).contains(limit) {
                throw ValidationError("--limit: expected a number from 1 to 100000, found \(limit)")
            }
        }

        func run() throws {
            let request = TransfersRequest(open: open ? true : nil, limit: limit)
            try host.choice.show(request, json: json) {
                Output.table(TransferTableView.header, TransferTableView.rows($0))
            }
        }
    }

    struct Watch: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "watch",
            abstract: "Follow transfers of a running host until they are finished.",
            discussion: """
                Without an id, all unfinished transfers are followed: as a table on a terminal, otherwise with one \
                line for each change. With an id, the exit code is the same as for `get` or `put`.
                """)

        @Argument(help: "The id (default: all unfinished transfers).") var id: String?
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print each state as one line of JSON.") var json = false

        func run() throws {
            let code = try host.choice.converse(doing: "waiting for the host") { conversation throws(BackplaneError) in
                if let id { return try conversation.follow(id, json: json) }
                let view = TransferTableView(json: json)
                var open: [String] = []
                while true {
                    let states = try conversation.answer(to: TransfersRequest(open: true, also: open))
                    view.show(states)
                    open = states.filter { !$0.phase.isFinal }.map(\.id)
                    if open.isEmpty || Output.hasNoReader { break }
                    Thread.sleep(forTimeInterval: 0.25)
                }
                return 0
            }
            throw ExitCode(code)
        }
    }

    struct Pause: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause",
            abstract: "Pause a transfer of a running host.",
            discussion: "Returns once everything received is on the disk.")
        @OptionGroup var change: TransferChangeArguments
        func run() throws { throw ExitCode(try change.run(.pause)) }
    }

    struct Resume: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume",
            abstract: "Resume a paused or failed transfer of a running host.")
        @OptionGroup var change: TransferChangeArguments
        func run() throws { throw ExitCode(try change.run(.resume)) }
    }

    struct Cancel: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel",
            abstract: "Cancel a transfer of a running host, and remove its incomplete file.")
        @OptionGroup var change: TransferChangeArguments
        func run() throws { throw ExitCode(try change.run(.cancel)) }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Cancel a transfer of a running host unless it has ended, and delete its record.")
        @OptionGroup var change: TransferChangeArguments
        func run() throws { throw ExitCode(try change.run(.remove)) }
    }
}

/// The arguments of the commands that change a transfer.
struct TransferChangeArguments: ParsableArguments {
    @Argument(help: "The id, as shown by `transfers list`.") var id: String
    @OptionGroup var host: HostChoiceArguments
    @Flag(help: "Print the resulting state as one line of JSON.") var json = false

    func run(_ change: TransferChange) throws -> Int32 {
        try host.choice.ask(ChangeTransferRequest(id: id, change: change)) { states, _ in
            for state in states { Output.line(json ? TransferPrinter.json(state) : TransferTableView.line(state)) }
            return 0
        }
    }
}

// MARK: Progress

/// The progress of a transfer: a single line on a terminal, otherwise a line for each tenth, or JSON objects.
struct TransferPrinter: Sendable {
    let json: Bool
    private let showsLine: Bool

    init(json: Bool) { (self.json, showsLine) = (json, !json && Terminal.takesProgress) }

    /// Prints a state if it differs noticeably from the previous one.
    func print(_ state: TransferState, after last: TransferState?) {
        if !json, let reason = state.restart, state.restart != last?.restart {
            end()
            Output.remark("backplane: the transfer was restarted, because \(reason.explanation)")
        }
        if showsLine {
            if state.phase == .running { ProgressLine().showFitting(Self.line(state)) }
        } else if Self.milestone(state) != last.map(Self.milestone) {
            if json {
                Output.line(Self.json(state))
            } else if state.phase == .running {
                Output.remark(Self.line(state))
            }
        }
    }

    /// Removes the line from the terminal.
    func end() {
        if showsLine { ProgressLine().clear() }
    }

    /// The part of a state that is printed on a line of its own: each tenth, or every 16 MB if the total is unknown.
    private static func milestone(_ state: TransferState) -> String {
        let step = state.progress.map { Int64($0 * 10) } ?? state.bytes >> 24
        return "\(state.phase) \(state.restart?.rawValue ?? "") \(state.total ?? -1) \(step)"
    }

    /// Returns the line for a running transfer: `45 % of 12 MB, 3 MB/s, 4 s left`.
    static func line(_ state: TransferState) -> String {
        let what = state.isUpload ? "sent" : "received"
        var parts = ["\(what) \(Figure.bytes(Int(state.bytes)))"]
        if let total = state.total, let progress = state.progress {
            parts = [ProgressLine.bar(what, progress, of: total)]
        }
        if let rate = state.rate { parts.append("\(Figure.bytes(Int(rate)))/s") }
        if let left = state.timeLeft { parts.append("\(time(left)) left") }
        return parts.joined(separator: ", ")
    }

    static func time(_ time: Duration) -> String {
        let seconds = time.components.seconds
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min"
        default: "\(seconds / 3_600) h"
        }
    }

    /// Returns a state as a single-line JSON object.
    static func json(_ state: TransferState) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and numbers can always be encoded.
        return (try? encoder.encode(state)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

/// The transfers of a host: a table that is redrawn on a terminal, otherwise a line for each change.
///
/// A finished transfer is removed from the table, and a line above the table remains.
final class TransferTableView: Sendable {
    private let json: Bool
    private let redraws: Bool
    /// The number of lines of the table on the terminal, and the last milestone of each transfer.
    private let shown = Mutex((lines: 0, steps: [String: String]()))

    static let header = ["ID", "PHASE", "DONE", "RATE", "LEFT", "NOTE"]

    init(json: Bool) { (self.json, redraws) = (json, !json && Terminal.takesTable) }

    func show(_ states: [TransferState]) {
        shown.withLock { shown in
            if redraws {
                // Go back to the first line, and clear everything below it.
                if shown.lines > 0 { Output.write("\u{1B}[\(shown.lines)A\u{1B}[J", to: STDOUT_FILENO) }
                let size = Terminal.size(of: STDOUT_FILENO), table = Self.table(states, size.columns, size.rows)
                for state in states where state.phase.isFinal { Output.line(Self.line(state)) }
                for line in table { Output.line(line) }
                shown.lines = table.count
            } else {
                var steps: [String: String] = [:]
                for state in states {
                    let step = state.progress.map { Int64($0 * 10) } ?? state.bytes >> 24
                    steps[state.id] = "\(state.phase) \(step)"
                    guard shown.steps[state.id] != steps[state.id] else { continue }
                    Output.line(json ? TransferPrinter.json(state) : Self.line(state))
                }
                shown.steps = steps
            }
        }
    }

    /// Returns the lines of the table of unfinished transfers, limited to those that fit on the terminal.
    static func table(_ states: [TransferState], _ columns: Int, _ rows: Int) -> [String] {
        let open = states.filter { !$0.phase.isFinal }, room = max(1, rows - 2)
        guard !open.isEmpty else { return [] }
        let listed = open.count > room ? Array(open.prefix(max(1, room - 1))) : open
        var lines = Table(header, Self.rows(listed).map { $0.map { Span($0) } }).lines(colour: false)
        if listed.count < open.count { lines.append("… and \(open.count - listed.count) more") }
        return lines.map { $0.fitted(to: columns - 1) }
    }

    static func rows(_ states: [TransferState]) -> [[String]] {
        states.map { state in
            [
                state.id.printable.shortened(to: 60), state.phase.rawValue, done(state),
                state.rate.map { "\(Figure.bytes(Int($0)))/s" } ?? "",
                state.timeLeft.map { TransferPrinter.time($0) } ?? "", note(state).printable.shortened(to: 80),
            ]
        }
    }

    /// Returns the line for a transfer.
    static func line(_ state: TransferState) -> String {
        let note = note(state)
        return
            "\(state.id.printable): \(state.phase.rawValue), \(done(state))\(note.isEmpty ? "" : ", ")\(note.printable)"
    }

    private static func done(_ state: TransferState) -> String {
        guard let total = state.total, let progress = state.progress else { return Figure.bytes(Int(state.bytes)) }
        return "\(Int(progress * 100)) % of \(Figure.bytes(Int(total)))"
    }

    private static func note(_ state: TransferState) -> String {
        state.error?.message ?? state.file ?? state.restart.map { "restarted, because \($0.explanation)" } ?? ""
    }
}
