import Foundation
import Testing

/// `backplane bench swap`: what it prints, and that nothing was lost; never how long something took.
@Suite(.timeLimit(.minutes(20)))
struct SwapBenchTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// What swaps must reach: rows and their bounds.
    private static let bounds: [String: Double] = [
        "swap in Swift, median": 0.6, "swap in Swift, p99": 2, "swap in C, median": 0.6, "swap in C, p99": 2,
        "4 callers native, wait at the gate, median": 0.4, "4 callers native, wait at the gate, p99": 3,
        "4 callers encoded, wait at the gate, median": 0.4, "4 callers encoded, wait at the gate, p99": 3,
        "4 callers, 100,000 records natively, wait beyond that with an empty state": 1,
        "4 callers, a call of 14 s, longest wait at the gate": 210,
        "4 callers, a call of 14 s, from its end to the commit": 50,
        "1,000 swaps in Swift, memory of each": 64,
        "200 swaps in Swift with a load folder in memory, memory of each": 64,
        "1,000 swaps in Swift, a call after": 1.1,
        "1,000 swaps in Swift, the last hundred": 5, "1,000 swaps in C, the last hundred": 5,
        "swap in Swift, what the trial takes": 0.6, "swap in C, what the trial takes": 0.6,
    ]
    /// What must not happen.
    private static let never =
        ["native", "encoded"].flatMap { lane in
            [
                "calls failed", "answered twice", "answered by the wrong generation", "out of order",
                "carried count less the callers' own", "states that took another lane",
            ].map {
                "4 callers \(lane), \($0)"
            }
        }
        + [
            "calls failed", "answered twice", "answered by the wrong generation", "out of order",
            "carried count less the callers' own", "wires that led elsewhere than the manifest says",
        ].map { "4 callers, other manifests, \($0)" }
        + [
            "calls failed", "answered twice", "answered by the wrong generation", "out of order",
            "carried count less the callers' own",
        ].map { "4 callers, a call of 14 s, \($0)" }
        + [
            "long calls lost, made twice or in the wrong generation", "exchanges in calls lost",
            "exchanges in calls sent twice", "exchanges outside of calls lost", "exchanges outside of calls sent twice",
            "transfers lost", "transfers requested twice",
            "sign-ins beyond the first", "times of timers lost", "times of timers fired twice",
        ].map { "work under way, \($0)" }
        + [
            "prepare (create)", "quiesce (hold)", "quiesce (drain)", "suspend", "export", "import", "flip", "activate",
            "probation (watch)",
        ].flatMap { place in
            ["plain", "other manifest"].map {
                "\($0), fault at \(place): old generation stopped serving or lost state"
            }
        }

    @Test func `every bound of swaps is a row, and what must not happen did not`() async throws {
        let outcome = try await tool.plain("bench", "swap", "--quick", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        let names = try rows.map { try #require($0["name"] as? String) }
        for name in names { #expect(names.filter { $0.contains(name) } == [name], "--only can name each row alone") }
        for row in rows {
            let name = row["name"] as? String ?? "", isNever = Self.never.contains(name)
            #expect(
                row["target"] as? Double == (isNever ? 0 : Self.bounds[name]) && row["suite"] as? String == "swap",
                "\(name)")
            if isNever { #expect(row["median"] as? Double == 0 && row["met"] as? Bool == true, "\(name)") }
            if let baseline = row["baseline"] as? String {
                #expect(names.contains(baseline) && row["ratio"] is Double, "\(name)")
            }
        }
        #expect(Set(Self.never + Self.bounds.keys).isSubset(of: names))
        for lane in ["native", "encoded"] {
            let answered = try #require(
                rows.first { $0["name"] as? String == "4 callers \(lane), calls answered" }?["median"] as? Double)
            #expect(answered > 0, "somebody called")
        }
        for step in ["prepare", "quiesce", "suspend", "export", "import", "flip", "activate", "commit"] {
            #expect(names.count { $0.hasSuffix(", step \(step)") } == 2, "\(step), in Swift and in C")
        }
        #expect(outcome.errors.contains("the highest count of all"))
    }

    @Test func `one row alone is measured with its baseline`() async throws {
        let outcome = try await tool.plain("bench", "swap", "--only", "native, gap with a swap", "--quick", "--json")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        #expect(
            rows.map { $0["name"] as? String } == [
                "4 callers native, gap without swaps", "4 callers native, gap with a swap",
            ])
    }
}
