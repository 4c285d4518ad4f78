import Backplane
import BackplaneCrypto
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneReports
import BackplaneSQLite
import BackplaneStorage
import BackplaneURLSession

/// What this build has of the parts that packages provide.
enum Engines {
    static var digest: (any ContentDigest)? {
        #if Engines
        SHA256Digest()
        #else
        nil
        #endif
    }

    /// What carries `http:` and `https:` requests out.
    static func makeHTTP() -> any HTTPExecutor {
        #if Engines
        AsyncHTTPClientExecutor()
        #else
        URLSessionExecutor()
        #endif
    }

    /// Records are kept in a file with the engines, and in memory, for as long as the host runs, without.
    static var openStore: HostOptions.StoreOpener {
        #if Engines
        { folder, report in try SQLiteRecordStore(folder: folder, report: report) }
        #else
        { _, _ in MemoryRecordStore() }
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
