#if Engines
import ArgumentParser

@main
struct ServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookshelf-server",
        abstract: "Serve a catalogue of books, loans and files over HTTP, to this machine only.",
        discussion: """
            Listens on 127.0.0.1, prints one line on standard output when it is ready, and runs until SIGTERM or SIGINT.
            Loans and uploads need a bearer token, which `POST /v2/sessions` issues for the reader's name and password.

            EXAMPLES
              bookshelf-server
              bookshelf-server --port 8080 --token-lifetime 10
              bookshelf-server --reader grace --password hopper --catalogue books.json
              curl 'http://127.0.0.1:8080/v2/search?q=whale'
            """)

    @Option(help: ArgumentHelp("The port to listen on; 0 selects a free one.", valueName: "number"))
    var port = 0

    @Option(
        help: ArgumentHelp(
            "A JSON file with the catalogue to serve (default: the built-in one).", valueName: "path"))
    var catalogue: String?

    @Option(help: ArgumentHelp("The name of the reader who can sign in.", valueName: "name"))
    var reader = "ada"

    @Option(help: ArgumentHelp("The reader's password; the default is for demonstrations.", valueName: "text"))
    var password = "difference-engine"

    @Option(
        name: .customLong("also"), parsing: .singleValue,
        help: ArgumentHelp("A further reader who can sign in, NAME:PASSWORD; can be repeated.", valueName: "reader"))
    var others: [String] = []

    @Option(help: ArgumentHelp("The lifetime of a token.", valueName: "seconds"))
    var tokenLifetime = 300

    @Option(help: ArgumentHelp("The delay of every response, to simulate a slow server.", valueName: "milliseconds"))
    var delay = 0

    @Flag(help: "Stop when standard input ends, so that the server never outlives its parent.")
    var stopWithParent = false

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port: expected a number from 0 to 65535, found \(port)")
        }
        guard others.allSatisfy({ $0.contains(":") }) else { throw ValidationError("--also: expected NAME:PASSWORD") }
        guard (0...86_400).contains(tokenLifetime) else {
            throw ValidationError("--token-lifetime: expected 0 to 86400 seconds, found \(tokenLifetime)")
        }
        guard (0...600_000).contains(delay) else {
            throw ValidationError("--delay: expected 0 to 600000 milliseconds, found \(delay)")
        }
    }

    func run() async throws {
        let catalogue = if let path = catalogue { try Catalogue(contentsOf: path) } else { try Catalogue.bundled() }
        let readers = others.map { $0.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) }
        let server = BookshelfServer(
            catalogue: catalogue,
            readers: [Credentials(reader: reader, password: password)]
                + readers.map { Credentials(reader: String($0[0]), password: String($0[1])) }, port: port,
            tokenLifetime: .seconds(tokenLifetime), delay: .milliseconds(delay), stopsWithParent: stopWithParent)
        try await server.run()
    }
}
#endif
