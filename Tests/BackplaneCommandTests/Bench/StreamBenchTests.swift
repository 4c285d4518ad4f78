import Foundation
import Testing

/// `backplane bench streams`: what it prints; never how long something took.
@Suite(.timeLimit(.minutes(5)))
struct StreamBenchTests {
    /// What streams must reach: rows and their bounds, in thousandths as they are printed.
    private static let bounds: [String: Double] = [
        "native stream, Int": 1.5, "native stream, struct": 1.6, "allocations of a native stream": 0,
        "encoded stream, struct": 1.176, "native stream, opened and closed": 2,
        "encoded stream, opened and closed": 3, "memory of 1,000,000 elements to a slow consumer, native": 1,
        "memory of 1,000,000 elements to a slow consumer, encoded": 1,
        "1,000 open streams with an element a second": 3,
        "swaps under 4 streams native, median": 1.2, "swaps under 4 streams encoded, median": 1.2,
    ]
    /// What must not happen.
    private static let never = ["native", "encoded"].flatMap { lane in
        ["elements lost", "elements repeated", "elements out of order", "streams ended"].map {
            "swaps under 4 streams \(lane), \($0)"
        }
    }

    @Test func `every bound of streams is a row, and what must not happen did not`() async throws {
        let outcome = try await Tool().plain("bench", "streams", "--quick", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        let names = try rows.map { try #require($0["name"] as? String) }
        for name in names { #expect(names.filter { $0.contains(name) } == [name], "--only can name each row alone") }
        for row in rows {
            let name = row["name"] as? String ?? ""
            let isNever = Self.never.contains(name), bound = isNever ? 0 : Self.bounds[name]
            #expect(row["target"] as? Double == bound && row["suite"] as? String == "streams", "\(name)")
            if isNever { #expect(row["median"] as? Double == 0 && row["met"] as? Bool == true, "\(name)") }
        }
        #expect(Set(Self.never + Self.bounds.keys).isSubset(of: names))
        for lane in ["native", "encoded"] {
            let read = rows.first { $0["name"] as? String == "swaps under 4 streams \(lane), elements read" }
            #expect(try #require(read?["median"] as? Double) > 0)
        }
    }
}
