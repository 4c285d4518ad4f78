#if Engines
public import ArgumentParser
import Backplane
import BackplaneControl
public import BackplaneNetwork
import BackplaneTransfers

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

    /// The running host to which the transfer is handed over; `nil` for none.
    var host: HostChoice? {
        get throws {
            guard running || socket != nil || manifest != nil else { return nil }
            return try understood { () throws(Misuse) in try HostChoice.given(socket: socket, manifest: manifest) }
        }
    }

    func fields() throws -> HTTPHeaders {
        var fields: HTTPHeaders = [:]
        for (name, value) in try understood({ () throws(Misuse) in try RequestBody.headers(headers) }) {
            fields.add(name, value)
        }
        return fields
    }

    func validate() throws { _ = (try fields(), try host) }
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

        func validate() throws { _ = try transfer() }

        private func transfer() throws -> Transfer {
            try understood { () throws(Misuse) in
                var settings = Transfer.Download(existing: existing)
                settings.sha256 = try sha256.map { text throws(Misuse) in try TransferWords.digest(text) }
                return Transfer(
                    url, .download(HTTPRequest("GET", url), to: try TransferWords.target(file, url), settings))
            }
        }

        func run() async throws {
            var transfer = try transfer()
            if case .download(var request, let target, let settings) = transfer.work {
                request.headers = try shared.fields()
                transfer.work = .download(request, to: target, settings)
            }
            if let host = try shared.host {
                throw ExitCode(HostedTransferCommand(host: host, json: shared.json).begin(transfer))
            }
            throw ExitCode(await TransferCommand(transfer: transfer, json: shared.json).run())
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
            let body = field.map { HTTPBody.multipart([.file($0, file, type: type)]) } ?? .file(file, type: type)
            let method = method ?? (field == nil ? "PUT" : "POST")
            let request = HTTPRequest(method, url, headers: try shared.fields(), body: body)
            if let host = try shared.host {
                throw ExitCode(
                    HostedTransferCommand(host: host, json: shared.json)
                        .upload(file, request, field: field, type: type))
            }
            throw ExitCode(
                await TransferCommand(transfer: Transfer(url, .upload(request)), json: shared.json).run())
        }
    }
}

extension ExistingFile: ExpressibleByArgument {}
#endif
