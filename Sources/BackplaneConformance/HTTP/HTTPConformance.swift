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
/// Cases that need a capability which the executor does not declare are skipped and listed; a separate case checks that
/// the executor refuses their requests. Other rules that an executor is known not to follow are named by the caller.
public enum HTTPConformance {
    /// A case: a rule that executors must follow.
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

    /// Runs an executor through all cases, one after another.
    ///
    /// - Parameters:
    ///   - limit: The time limit of each case.
    ///   - exceptions: The names of cases that are skipped, because the executor is known not to follow their rules.
    ///   - starting: A function that is called with the name of each case before it runs, to identify one that crashes
    ///     the process.
    ///   - make: A function that creates an executor for `http:` for each case.
    public static func run(
        limit: Duration = .seconds(60), except exceptions: Set<String> = [],
        starting: @Sendable (String) -> Void = { _ in },
        _ make: @Sendable () throws -> any HTTPExecutor
    ) async -> Report {
        var report = Report()
        for name in exceptions.subtracting(caseNames) {
            report.results.append(.init(name: name, outcome: .failed("there is no such case to skip")))
        }
        for item in cases {
            guard !exceptions.contains(item.name) else {
                report.results.append(.init(name: item.name, outcome: .skipped("it is an exception")))
                continue
            }
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
