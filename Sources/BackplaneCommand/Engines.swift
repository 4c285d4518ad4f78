import Backplane
import BackplaneApp
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneHummingbird
import BackplaneNetwork
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import BackplaneTools
import BackplaneURLSession

/// The engines of this build: implementations that come from packages, or their substitutes.
enum Engines {
    #if Engines
    /// The engines, for `--version`.
    static let text = "HTTP: AsyncHTTPClient; store: SQLite"
    /// The remark that is printed when a host starts with substitutes; `nil` for none.
    static let remark: String? = nil
    #else
    /// The substitutes, for `--version`.
    static let text = "HTTP: URLSession; store: memory; the trait Engines adds AsyncHTTPClient and SQLite"
    /// The remark that is printed when a host starts with substitutes.
    static let remark: String? =
        "this build has no engines: HTTP uses URLSession, and records are kept in memory until the host stops"
    #endif

    /// Returns the executor of `http:` and `https:` requests.
    static func makeHTTP() -> any HTTPExecutor {
        #if Engines
        AsyncHTTPClientExecutor()
        #else
        URLSessionExecutor()
        #endif
    }

    /// Returns the pins of the certificates that a server sends, without sending a request.
    static func pins(of url: String, timeout: Duration) async throws -> [CertificatePin] {
        #if Engines
        try await AsyncHTTPClientExecutor.pins(of: url, timeout: timeout)
        #else
        throw BackplaneError(
            .networkUnsupported,
            "this build has no engine that shows certificates; build it with the trait Engines", at: url)
        #endif
    }

    /// The function that opens the record store: a file if the build has engines, otherwise memory.
    static var openStore: HostOptions.StoreOpener {
        #if Engines
        { folder, settings, report in
            try SQLiteRecordStore(
                folder: folder, durability: settings.durability, damaged: settings.damaged, report: report)
        }
        #else
        { _, _, _ in MemoryRecordStore() }
        #endif
    }

    /// The function that opens the cache on disk; `nil` if the build has no engines, so that the cache is in memory.
    static var openCache: HostOptions.CacheOpener? {
        #if Engines
        { folder, limit, report in try SQLiteResponseCache(folder: folder, limit: limit, report: report) }
        #else
        nil
        #endif
    }

    /// Starts a server of a host's routes, and returns when it listens.
    ///
    /// - Parameter reloadsPages: Whether pages in browsers reload themselves after a change.
    /// - Throws: `server.failed`.
    static func serve(
        _ host: PluginHost, _ settings: ServerSettings, reloadsPages: Bool
    ) async throws(BackplaneError) -> RunningServer {
        #if Engines
        let server = HostServer(host, settings, reloadsPages: reloadsPages)
        let address = try await start(server)
        return RunningServer(
            url: "\(settings.tls == nil ? "http" : "https")://\(address)", routes: server.routeCount
        ) { limit in await server.stop(within: limit) }
        #else
        throw noServer(settings.listen)
        #endif
    }

    /// Starts a server of an application's screens, and returns when it listens.
    ///
    /// - Parameter key: The key of cookies; `nil` for a random one.
    /// - Returns: The server, whose URL signs one browser in.
    /// - Throws: `server.failed`.
    static func show(
        _ app: AppManager, at address: String, key: [UInt8]?
    ) async throws(BackplaneError) -> RunningServer {
        #if Engines
        let screens = WebScreens(app, names: [try ServerSettings.address(address).host], key: key)
        let server = HostServer(screens, ServerSettings(listen: address))
        let url = "http://\(try await start(server))"
        return RunningServer(url: screens.signInAddress(at: url), routes: 0) { limit in
            await server.stop(within: limit)
        }
        #else
        throw noServer(address)
        #endif
    }

    #if Engines
    /// Starts a server, and returns its address when it listens.
    private static func start(_ server: HostServer) async throws(BackplaneError) -> String {
        let run = Task { try await server.run() }
        do {
            return try await server.listening()
        } catch {
            run.cancel()
            throw BackplaneError(thrown: error)
        }
    }
    #else
    private static func noServer(_ address: String) -> BackplaneError {
        BackplaneError(
            .serverFailed, "this build has no engine for a server; build it with the trait Engines", at: address)
    }
    #endif

    /// Opens the record store in a folder for a command, and never moves a damaged store aside.
    ///
    /// - Parameter isWriting: Whether the command changes records, which is not permitted while another process has the
    ///   store open.
    /// - Throws: `store.unusable` or `store.damaged`.
    static func openFile(_ folder: String, isWriting: Bool) throws(BackplaneError) -> any RecordStore {
        #if Engines
        return isWriting
            ? try SQLiteRecordStore(folder: folder, damaged: .refuse) { Output.remark("backplane: \($0)") }
            : try SQLiteRecordStore(reading: folder)
        #else
        throw BackplaneError(
            .storeUnusable, "this build has no engine for store files; build it with the trait Engines", at: folder)
        #endif
    }
}
