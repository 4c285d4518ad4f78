import BackplaneTestKit
import Foundation
import Glibc

@main
enum Main {
    static func main() {
        let options = Options(CommandLine.arguments.dropFirst())
        // Before any thread starts, so that `sigwait` receives the signals and no thread is interrupted.
        var signals = sigset_t(), signal: Int32 = 0
        for signal in [SIGTERM, SIGINT] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let server: TestServer
        do {
            let routes = Routes(catalogue: try Catalogue(), library: Library(options))
            server = try TestServer(port: options.port, readsBodies: false) { request, connection in
                if options.delay > .zero { _ = connection.hasEnded(within: options.delay) }
                routes.answer(request, connection)
            }
        } catch let error as POSIXError {
            fail("cannot listen on 127.0.0.1:\(options.port): \(String(cString: strerror(error.code.rawValue)))")
        } catch {
            fail("the catalogue beside the program cannot be read: \(error)")
        }
        // Unbuffered, because a parent process may be waiting for the line on a pipe.
        let line = "bookshelf-server listening on http://127.0.0.1:\(server.port)\n"
        _ = write(STDOUT_FILENO, line, line.utf8.count)
        if options.stopsWithParent {
            Thread.detachNewThread {
                while let bytes = try? FileHandle.standardInput.read(upToCount: 1), !bytes.isEmpty {}
                kill(getpid(), SIGTERM)
            }
        }
        sigwait(&signals, &signal)
        server.stop(within: .milliseconds(300))
        exit(0)
    }
}

/// The options of the command line.
struct Options {
    var port: UInt16 = 0
    /// The passwords of the readers who can sign in, keyed by their names.
    var readers = ["ada": "difference-engine"]
    var tokenLifetime = 300
    var delay = Duration.zero
    var stopsWithParent = false

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let option = rest.popFirst() {
            func value<Value>(_ expected: String, _ read: (String) -> Value?) -> Value {
                let found = rest.popFirst()
                if let value = found.flatMap(read) { return value }
                fail("\(option): expected \(expected), found \(found.map { "`\($0)`" } ?? "nothing")", EX_USAGE)
            }
            func number(upTo limit: Int) -> Int {
                value("a number from 0 to \(limit)") { Int($0).flatMap { (0...limit).contains($0) ? $0 : nil } }
            }
            switch option {
            case "--port": port = UInt16(number(upTo: 65_535))
            case "--token-lifetime": tokenLifetime = number(upTo: 86_400)
            case "--delay": delay = .milliseconds(number(upTo: 600_000))
            case "--also":
                let reader = value("NAME:PASSWORD") { $0.wholeMatch(of: /([^:]+):(.+)/) }
                readers[String(reader.1)] = String(reader.2)
            case "--stop-with-parent": stopsWithParent = true
            case "--help", "-h":
                print(Self.help)
                exit(0)
            default: fail("unknown argument `\(option)`; see bookshelf-server --help", EX_USAGE)
            }
        }
    }

    private static let help = """
        Serve a catalogue of books, loans and files over HTTP, to this machine only.

        Listens on 127.0.0.1, prints one line on standard output when it is ready, and runs until SIGTERM or SIGINT.
        Loans and uploads need a bearer token, which `POST /v2/sessions` issues for a reader's name and password: for
        `ada`, `difference-engine`. They are gone when the server stops.

          --port NUMBER             The port to listen on; 0, the default, selects a free one.
          --also NAME:PASSWORD      A further reader who can sign in; can be repeated.
          --token-lifetime SECONDS  The lifetime of a token (default: 300).
          --delay MILLISECONDS      The delay of every response, to simulate a slow server (default: 0).
          --stop-with-parent        Stop when standard input ends, so that the server never outlives its parent.

        EXAMPLE: bookshelf-server --port 8484 &
                 curl 'http://127.0.0.1:8484/v2/search?q=whale'
        """
}

private func fail(_ text: String, _ status: Int32 = 1) -> Never {
    try? FileHandle.standardError.write(contentsOf: Data("bookshelf-server: \(text)\n".utf8))
    exit(status)
}
