import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization

@testable import BackplaneSQLite

/// A folder with a cache, and the time of its uses.
final class CacheFixture: Sendable {
    let files: TestFolder
    private let time = Mutex(Date(timeIntervalSinceReferenceDate: 1_000_000))
    private let reported = Mutex<[BackplaneError]>([])

    init() throws { files = try TestFolder() }

    var folder: String { files.path + "/cache" }
    var file: String { folder + "/cache.sqlite" }
    var reports: [BackplaneError] { reported.withLock { $0 } }

    func open(limit: Int = 256 << 20) throws -> SQLiteResponseCache {
        try SQLiteResponseCache(folder: folder, limit: limit, now: { self.time.withLock { $0 } }) { error in
            self.reported.withLock { $0.append(error) }
        }
    }

    func pass(_ seconds: Double) { time.withLock { $0 += seconds } }

    /// The names of the files with bodies.
    func bodies() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder + "/bodies") }
}

extension CachedResponse {
    /// A response whose bytes all have one value, and which expires at a time in seconds since 2001.
    static func sample(
        _ key: String, _ count: Int = 5, byte: UInt8 = 65, url: String = "http://books.test/whale",
        endpoint: String? = nil, tags: [String] = [], expires: Double = 2_000_000
    ) -> CachedResponse {
        let date = Date(timeIntervalSinceReferenceDate: 1_000_000.125)
        let headers: HTTPHeaders = [
            "ETag": #""1""#, "Vary": "accept", "Set-Cookie": "a=1", "set-cookie": "b=2", "X": "",
        ]
        return CachedResponse(
            key: key, url: url, endpoint: endpoint, tags: tags,
            HTTPResponse(status: 203, headers: headers, body: [UInt8](repeating: byte, count: count)), requested: date,
            received: date + 1, expires: Date(timeIntervalSinceReferenceDate: expires),
            varying: ["accept": "text/plain, ü", "x": ""])
    }
}
