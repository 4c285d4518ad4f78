import Backplane
import BackplaneNetwork
import BackplaneSQLite
import FoundationEssentials

/// The storing of responses in a cache, until the process is killed.
enum CacheWriting {
    /// Stores responses with numbers as their keys, every other one in a file, and prints each number once the
    /// response was stored.
    static func run(in folder: String, from first: Int) async throws {
        let cache = try SQLiteResponseCache(folder: folder) { StoreWriter.say("error \($0)\n") }
        for number in first... {
            let body = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 2 == 0 ? 400_000 : 4_000)
            let response = CachedResponse(
                key: "\(number)", url: "http://books.test/\(number)", endpoint: nil, tags: [],
                HTTPResponse(status: 200, body: body), requested: Date(), received: Date(), expires: .distantFuture,
                varying: [:])
            try await cache.store(response, for: response.key)
            StoreWriter.say("\(number)\n")
        }
    }
}
