#if Engines
import Glibc
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// The server as a whole: its routes, their shared state, and its start and shutdown.
struct BookshelfServer {
    var catalogue: Catalogue
    var readers: [Credentials]
    /// The port to listen on; 0 chooses any free port.
    var port: Int
    var tokenLifetime: Duration
    var delay: Duration
    var stopsWithParent: Bool

    /// The time for requests in flight to finish after the start of a shutdown, before their connections are closed.
    static let patience = Duration.milliseconds(300)

    /// Serves until SIGTERM, SIGINT or, if the server stops with its parent, until the end of standard input.
    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let log = Logger(label: "bookshelf-server", factory: Self.log)
        let events = EventFeed()
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: application(folder: folder, events: events, log: log)),
            .init(service: Heartbeat(events: events)),
        ]
        if stopsWithParent {
            services.append(.init(service: ParentWatch(), successTerminationBehavior: .gracefullyShutdownGroup))
        }
        var configuration = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: log)
        configuration.maximumGracefulShutdownDuration = Self.patience
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch is CancellationError {
            // The grace period expired and an open connection was closed, which is a regular shutdown.
        } catch let error as IOError {
            throw StartProblem(
                text: "cannot listen on 127.0.0.1:\(port): \(String(cString: strerror(error.errnoCode)))")
        }
    }

    private func application(folder: TemporaryFolder, events: EventFeed, log: Logger) -> some Service {
        Application(
            router: router(folder: folder, events: events),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                Self.announce("bookshelf-server listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
            },
            logger: log)
    }

    private func router(folder: TemporaryFolder, events: EventFeed) -> BookshelfRouter {
        let router = BookshelfRouter()
        router.add(middleware: Delay(duration: delay))
        router.add(middleware: FailuresAsJSON())
        let sessions = Sessions(readers: readers, lifetime: tokenLifetime)
        FlatBookRoutes(catalogue: catalogue).add(to: router)
        BookRoutes(catalogue: catalogue).add(to: router)
        SessionRoutes(sessions: sessions).add(to: router)
        LoanRoutes(catalogue: catalogue, sessions: sessions, loans: Loans(), events: events).add(to: router)
        FileRoutes(sessions: sessions, files: FileStore(folder: folder)).add(to: router)
        EventRoutes(events: events).add(to: router)
        return router
    }

    private static func log(label: String) -> any LogHandler {
        var handler = StreamLogHandler.standardError(label: label)
        handler.logLevel = .critical  // connections that the shutdown closes are logged as errors
        return handler
    }

    /// Writes a line to standard output without buffering, because a parent process may be waiting for it on a pipe.
    private static func announce(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }
}

/// The reason why the server cannot start.
struct StartProblem: Error, CustomStringConvertible {
    var text: String
    var description: String { text }
}
#endif
