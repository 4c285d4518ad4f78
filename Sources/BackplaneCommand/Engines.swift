import Backplane
import BackplaneCrypto
import BackplaneHost
import BackplaneNetwork

/// What this build has of the parts that packages provide.
enum Engines {
    static var digest: (any ContentDigest)? {
        #if Engines
        SHA256Digest()
        #else
        nil
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
