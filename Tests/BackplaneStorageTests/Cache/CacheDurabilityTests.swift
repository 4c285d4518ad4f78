import BackplaneExchange
import BackplaneNetwork
import Foundation
import Glibc
import TestFixtures
import Testing

@testable import BackplaneSQLite

/// The promise that a stored response is there, whole, after a kill at any moment.
@Suite(.timeLimit(.minutes(10)))
struct CacheDurabilityTests {
    private let fixture: CacheFixture
    init() throws { fixture = try CacheFixture() }

    @Test func `a stored response is there after a kill at any moment, and none is half there`() async throws {
        let seed = RunSeed.value
        var random = SeededNumbers(seed), acknowledged: [Int] = [], next = 0
        for kill in 0..<Nightly.count(20, night: 100) {
            let process = try StoreProcess("cache", fixture.folder, "\(next)")
            let wanted = Int.random(in: 1..<8, using: &random)
            var text = ""
            while text.split(separator: "\n").count < wanted {
                let more = process.read()
                try #require(!more.isEmpty, "the writer ended by itself: \(text)")
                text += more
            }
            usleep(UInt32.random(in: 0..<3_000, using: &random))
            process.end(SIGKILL)
            text += process.readToEnd()
            #expect(!text.contains("error"), "\(text)")
            acknowledged += text.split(separator: "\n").compactMap { Int($0) }
            next = (acknowledged.last ?? 0) + 1

            let cache = try fixture.open()
            for number in acknowledged.suffix(20) {
                let found = try await cache.load("\(number)")
                #expect(found != nil, "kill \(kill), seed \(seed): \(number) was acknowledged")
            }
            for entry in try await #require(cache.entries(of: nil, limit: 20)) {
                let body = try await #require(cache.load(entry.key), "kill \(kill), seed \(seed): \(entry.key)").body
                let number = try #require(Int(entry.key)), byte = UInt8(truncatingIfNeeded: number)
                #expect(body.count == (number % 2 == 0 ? 400_000 : 4_000) && body.allSatisfy { $0 == byte })
            }
            let files = try await #require(cache.entries(of: nil, limit: 100_000)).count { $0.size == 400_000 }
            #expect(try fixture.bodies().count == files, "kill \(kill), seed \(seed): no file is left over")
        }
        #expect(fixture.reports.isEmpty)
    }
}
