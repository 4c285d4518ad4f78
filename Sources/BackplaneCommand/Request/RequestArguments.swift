#if Engines
import ArgumentParser
import Backplane
import BackplaneNetwork

extension BackplaneTool {
    struct Request: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send an HTTP request as a host would, and print the response's body.",
            usage: "backplane request [<options>] <url>",
            discussion: """
                Uses the HTTP engine of this build or, with --manifest, the executors of a host with that manifest; \
                file: URLs are then relative to the manifest's folder. Redirects are not followed. The exit code is 1 \
                if there is no response, or one with a status of 400 or more.

                The response's body is printed. With --output, it is written to a file, and the progress is shown on \
                standard error. The file appears once the body is complete.

                EXAMPLES
                  backplane request https://www.swift.org --verbose
                  backplane request http://127.0.0.1:8484/v2/sessions --json '{"reader": "ann", "password": "white"}'
                  backplane request http://127.0.0.1:8484/covers --form title=Moby-Dick --form cover=@whale.png
                  backplane request http://127.0.0.1:8484/books.epub --output books.epub --timeout 60
                  backplane request -X PUT http://127.0.0.1:8484/books/1 --file book.epub --curl
                  backplane request file:almanac/events.json --manifest manifests/almanac.json
                  backplane request https://books.example.org/shelf --manifest backplane.json --credentials library
                """)

        @Argument(help: "The URL.") var url: String
        @Option(
            name: [.customShort("X"), .customLong("method")],
            help: ArgumentHelp("The method (default: GET, or POST with a body).", valueName: "method"))
        var method: String?
        @Option(
            name: [.customShort("H"), .customLong("header")], parsing: .singleValue,
            help: ArgumentHelp("A header field, NAME: VALUE; can be repeated.", valueName: "field"))
        var headers: [String] = []
        @Option(
            name: [.customShort("d"), .customLong("data")],
            help: ArgumentHelp("The text to send as the body.", valueName: "text"))
        var data: String?
        @Option(help: ArgumentHelp("The JSON to send as the body.", valueName: "json")) var json: String?
        @Option(
            parsing: .singleValue,
            help: ArgumentHelp(
                "A form field to send in the body, NAME=VALUE or NAME=@FILE; can be repeated.", valueName: "field"))
        var form: [String] = []
        @Option(help: ArgumentHelp("The file to send as the body, read while it is sent.", valueName: "file"))
        var file: String?
        @Option(
            name: [.customShort("o"), .customLong("output")],
            help: ArgumentHelp("The file to write the response's body to.", valueName: "file"))
        var output: String?
        @Flag(name: .shortAndLong, help: "Print the headers and timings on standard error, without secrets.")
        var verbose = false
        @Flag(help: "Print the curl command for the same request, and send nothing.") var curl = false
        @Flag(help: "Request compressed content, and decode it.") var compressed = false
        @Option(help: ArgumentHelp("Seconds after which the exchange fails.", valueName: "seconds"))
        var timeout: Double?
        @Option(help: ArgumentHelp("The manifest whose executors to use.", valueName: "manifest"))
        var manifest: String?
        @Option(help: ArgumentHelp("The environment of the manifest to use.", valueName: "name"))
        var environment: String?
        @Option(
            help: ArgumentHelp(
                "The folder with the data of the manifest's hosts (default: $XDG_STATE_HOME/backplane).",
                valueName: "folder"))
        var dataFolder: String?
        @Option(help: ArgumentHelp("The manifest's credential to send with the request.", valueName: "name"))
        var credentials: String?
        @Option(help: ArgumentHelp("The account of the credential.", valueName: "name"))
        var account: String?

        func validate() throws {
            _ = try body()
            if credentials != nil, manifest == nil {
                throw ValidationError("--credentials requires --manifest")
            }
            if account != nil, credentials == nil {
                throw ValidationError("--account requires --credentials")
            }
            if dataFolder != nil, manifest == nil {
                throw ValidationError("--data-folder requires --manifest")
            }
        }

        private func body() throws -> (RequestBody, [(name: String, value: String)]) {
            try understood { () throws(Misuse) in
                (try RequestBody(text: data, json: json, form: form, file: file), try RequestBody.headers(headers))
            }
        }

        func run() async throws {
            let (body, fields) = try body(), method = method ?? body.method
            var request = HTTPRequest(method, url, body: body.body)
            for (name, value) in fields { request.headers.add(name, value) }
            let command = RequestCommand(
                request: request,
                curl: CurlCommand(
                    method: method, url: url, headers: fields, body: body, output: output, decompresses: compressed),
                output: output, isVerbose: verbose, printsCurl: curl, timeout: timeout, decompresses: compressed,
                credential: credentials, account: account,
                manifest: manifest.map {
                    HostSettings(manifest: $0, environment: environment, data: dataFolder, log: LogSettings())
                })
            throw ExitCode(await command.run())
        }
    }
}
#endif
