import Backplane
import BackplaneCrypto
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneReports
import BackplaneSQLite
import BackplaneStorage
import BackplaneURLSession

/// The engines of this build: implementations that come from packages, or their substitutes.
enum Engines {
    #if Engines
    /// The function that computes SHA-256 digests.
    static var digest: any ContentDigest { SHA256Digest() }
    #else
    /// No function: this build cannot check digests.
    static var digest: (any ContentDigest)? { nil }
    #endif

    /// Returns the executor of `http:` and `https:` requests.
    static func makeHTTP() -> any HTTPExecutor {
        #if Engines
        AsyncHTTPClientExecutor()
        #else
        URLSessionExecutor()
        #endif
    }

    /// Opens the record store: a file if the build has engines, otherwise memory for the lifetime of the host.
    static var openStore: HostOptions.StoreOpener {
        #if Engines
        { folder, damaged, report in try SQLiteRecordStore(folder: folder, damaged: damaged, report: report) }
        #else
        { _, _, _ in MemoryRecordStore() }
        #endif
    }

    static func log(_ level: Log.Level) -> any LogSink {
        #if Engines
        SwiftLog(level: level)
        #else
        StandardErrorLog(level: level)
        #endif
    }
}
