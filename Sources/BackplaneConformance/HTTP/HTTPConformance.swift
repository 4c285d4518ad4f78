public import BackplaneExchange
import BackplaneNetwork

/// The conformance suite for HTTP executors, over real sockets on loopback.
///
/// ```swift
/// @Test func `my executor conforms`() async throws {
///     let report = await HTTPConformance.run { MyExecutor() }
///     try report.requireSuccess()
///     #expect(report.skipped.isEmpty)
/// }
/// ```
///
/// Cases that need a capability which the executor does not declare are skipped and listed; that their requests are
/// refused is a case of its own.
public enum HTTPConformance {
    /// A case: a rule that executors follow.
    struct Case: Sendable {
        var name: String
        var needs: HTTPCapabilities
        var body: @Sendable (any HTTPExecutor) async throws -> Void

        init(
            _ name: String, needs: HTTPCapabilities = [],
            _ body: @escaping @Sendable (any HTTPExecutor) async throws -> Void
        ) {
            (self.name, self.needs, self.body) = (name, needs, body)
        }
    }

    static let cases = requests + uploads + refusals + responses + streams + compression + failures + cancellation

    /// The names of all cases, in order.
    public static var caseNames: [String] { cases.map(\.name) }

    /// Runs an executor through all cases, one after the other.
    ///
    /// - Parameters:
    ///   - limit: The time that one case may take.
    ///   - starting: Called with the name of each case before it is run, to find the one that ends the process.
    ///   - make: Makes an executor for each case, which serves `http:`.
    public static func run(
        limit: Duration = .seconds(60), starting: @Sendable (String) -> Void = { _ in },
        _ make: @Sendable () throws -> any HTTPExecutor
    ) async -> Report {
        await run(cases, limit: limit, starting: starting, make)
    }

    static func run(
        _ cases: [Case], limit: Duration, starting: @Sendable (String) -> Void = { _ in },
        _ make: @Sendable () throws -> any HTTPExecutor
    ) async -> Report {
        var report = Report()
        for item in cases {
            starting(item.name)
            do {
                let executor = try make(), missing = item.needs.subtracting(executor.capabilities)
                guard missing.isEmpty else {
                    report.results.append(.init(name: item.name, outcome: .skipped("it does not have \(missing)")))
                    continue
                }
                try await Race.run(
                    { try await item.body(executor) }, within: limit, otherwise: Unmet("it took longer than \(limit)"))
                report.results.append(.init(name: item.name, outcome: .passed))
            } catch {
                report.results.append(.init(name: item.name, outcome: .failed("\(error)")))
            }
        }
        return report
    }
}
