public import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneExchange
public import BackplaneNetwork
import BackplaneTools
import BackplaneTransfers
import Foundation

extension BackplaneTool {
    struct TransferFiles: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "transfer",
            abstract: "Download and upload files, and follow and control the transfers of a running host.",
            discussion: """
                A download is written to a part file next to its target, and moved there once it is complete. If it is \
                interrupted, the same command continues where it stopped, unless the file on the server has changed. \
                An upload starts over.

                `get` and `put` carry out one transfer themselves or, with --running, --socket or --manifest, hand \
                it over to a running host, which continues if the command is interrupted. The other commands work on \
                the transfers of a running host. Transfers of plugins have ids that begin with the plugin's id, such \
                as org.example.books/text/whale.

                The progress is shown on standard error: as one line in a terminal, otherwise as one line for every \
                10%. With --json, each state is printed on standard output as one line of JSON. The exit code is 0 \
                if the transfer has succeeded, 1 if it has not, and 130 after an interruption.

                EXAMPLES
                  backplane transfer get https://books.example.org/whale.epub
                  backplane transfer get https://books.example.org/whale.epub /tmp/whale.epub --existing number
                  backplane transfer put whale.epub https://books.example.org/uploads/whale.epub
                  backplane transfer put whale.png http://127.0.0.1:8484/covers -X POST --field cover --json
                  backplane transfer list
                  backplane transfer watch
                  backplane transfer pause org.example.books/text/whale
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
    @Flag(help: "Hand the transfer over to the running host.") var running = false
    @Option(help: ArgumentHelp("The path of the socket of the running host.", valueName: "path"))
    var socket: String?
    @Option(help: ArgumentHelp("The manifest that is active in the running host.", valueName: "manifest"))
    var manifest: String?

    func validate() throws { _ = (try fields(), try host) }

    /// The running host to which the transfer is handed over; `nil` for none.
    var host: HostChoice? {
        get throws {
            guard running || socket != nil || manifest != nil else { return nil }
            return try HostChoice.given(socket: socket, manifest: manifest)
        }
    }

    func fields() throws -> HTTPHeaders {
        var fields: HTTPHeaders = [:]
        for (name, value) in try RequestBody.headers(headers) { fields.add(name, value) }
        return fields
    }

    /// Carries out a transfer with a pool of this process, and returns the exit code.
    func carryOut(_ transfer: Transfer) async -> Int32 {
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
            do throws(BackplaneError) {
                for try await state in pool.states(of: transfer.id) {
                    printer.print(state, after: last)
                    last = state
                }
            } catch {
                guard error.code == .hostStopped else { throw error }  // interrupted
            }
            printer.end()
            await pool.stop()
            return exitCode(after: last)
        } catch {
            return Output.fail(error)
        }
    }

    private func exitCode(after state: TransferState?) -> Int32 {
        guard let state, state.phase.isFinal else {
            Output.remark(
                state?.isUpload == true
                    ? "backplane: interrupted; the same command starts over"
                    : "backplane: interrupted; the same command continues where this one ended")
            return 130
        }
        return state.report(json: json)
    }

    /// Hands a transfer over to a running host, follows it, and returns the exit code.
    ///
    /// - Parameters:
    ///   - message: The transfer, without the header fields.
    ///   - file: The file to read or to write.
    func handOver(_ message: BeginTransferRequest, to host: HostChoice) throws -> Int32 {
        var message = message
        message.headers = try fields().fields.map { [$0.name, $0.value] }
        if !message.file.hasPrefix("/") {
            message.file = FileManager.default.currentDirectoryPath + "/" + message.file
        }
        return host.converse(
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

extension BackplaneTool.TransferFiles {
    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Download a file, or continue an interrupted download.",
            usage: "backplane transfer get [<options>] <url> [<file>]")

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

        func validate() throws { _ = try (digest, target) }

        func run() async throws {
            guard let host = try shared.host else {
                let request = HTTPRequest("GET", url, headers: try shared.fields())
                var transfer = Transfer(url, download: request, to: try target)
                (transfer.existing, transfer.sha256) = (existing, try digest)
                throw ExitCode(await shared.carryOut(transfer))
            }
            var message = BeginTransferRequest(id: url, url: url, file: try target)
            (message.existing, message.sha256) = (existing, sha256)
            throw ExitCode(try shared.handOver(message, to: host))
        }

        /// The bytes of the expected SHA-256.
        private var digest: [UInt8]? {
            get throws {
                guard let sha256 else { return nil }
                guard let bytes = BeginTransferRequest.bytes(of: sha256) else {
                    throw ValidationError("--sha256: expected 64 hexadecimal digits, found `\(sha256.prefix(80))`")
                }
                return bytes
            }
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

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Upload a file as the body of a request, or as a field of a form.",
            usage: "backplane transfer put [<options>] <file> <url>",
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

        func run() async throws {
            let method = method ?? (field == nil ? "PUT" : "POST")
            guard let host = try shared.host else {
                let body = field.map { HTTPBody.multipart([.file($0, file, type: type)]) } ?? .file(file, type: type)
                let request = HTTPRequest(method, url, headers: try shared.fields(), body: body)
                throw ExitCode(await shared.carryOut(Transfer(url, upload: request)))
            }
            var message = BeginTransferRequest(id: url, url: url, file: file)
            (message.method, message.field, message.type) = (method, field, type)
            throw ExitCode(try shared.handOver(message, to: host))
        }
    }
}

extension ExistingFile: ExpressibleByArgument {}

// MARK: The transfers of a running host

extension BackplaneTool.TransferFiles {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the transfers of a running host, in the order in which they were started.")

        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "List only transfers that have not ended.") var open = false
        @Option(help: ArgumentHelp("The maximum number of transfers (default: 1000).", valueName: "count"))
        var limit: Int?
        @Flag(help: "Print the states as JSON.") var json = false

        func run() throws {
            if let limit, !(1...100_000).contains(limit) {
                throw ExitCode(Output.refuse("--limit: expected a number from 1 to 100000, found \(limit)"))
            }
            let request = TransfersRequest(open: open ? true : nil, limit: limit)
            let code = try host.choice.ask(request) { states, _ in
                if json {
                    Output.json(states)
                } else {
                    Output.table(TransferTableView.header, TransferTableView.rows(states))
                }
                return 0
            }
            throw ExitCode(code)
        }
    }

    struct Watch: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Follow transfers of a running host until they are finished.",
            discussion: """
                Without an id, all unfinished transfers are followed: as a table on a terminal, otherwise with one \
                line for each change. With one, the exit code is that of `get` or `put`.
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
                    if open.isEmpty { break }
                    Thread.sleep(forTimeInterval: 0.25)
                }
                return 0
            }
            throw ExitCode(code)
        }
    }

    struct Pause: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Pause a transfer of a running host.",
            discussion: "Returns once everything received is on the disk.")
        @OptionGroup var change: TransferChangeArguments
        func run() throws { throw ExitCode(try change.run(.pause)) }
    }

    struct Resume: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Resume a paused or failed transfer of a running host.")
        @OptionGroup var change: TransferChangeArguments
        func run() throws { throw ExitCode(try change.run(.resume)) }
    }

    struct Cancel: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancel a transfer of a running host, and remove its incomplete file.")
        @OptionGroup var change: TransferChangeArguments
        func run() throws { throw ExitCode(try change.run(.cancel)) }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancel a transfer of a running host unless it has ended, and delete its record.")
        @OptionGroup var change: TransferChangeArguments
        func run() throws { throw ExitCode(try change.run(.remove)) }
    }
}

/// The arguments of the commands that change a transfer.
struct TransferChangeArguments: ParsableArguments {
    @Argument(help: "The id, as shown by `transfer list`.") var id: String
    @OptionGroup var host: HostChoiceArguments
    @Flag(help: "Print the resulting state as one line of JSON.") var json = false

    func run(_ change: TransferChange) throws -> Int32 {
        try host.choice.ask(ChangeTransferRequest(id: id, change: change)) { states, _ in
            for state in states { Output.line(json ? TransferPrinter.json(state) : TransferTableView.line(state)) }
            return 0
        }
    }
}
