public import Backplane
public import BackplaneExchange
import BackplaneNetwork
import Dispatch
import Synchronization

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

    /// The cases that executors in plugins cannot follow: they have the whole body of a request, in memory or in a
    /// file, before any of it is sent.
    public static let pluginExceptions: Set<String> = [
        "a stream is read only as fast as the server takes it",
        "a response that comes before the body was sent is the response",
    ]

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

extension HTTPConformance {
    /// The outcomes of the suite.
    public struct Report: Sendable, CustomStringConvertible {
        /// The outcome of one case.
        public enum Outcome: Sendable, Equatable {
            /// The rule was followed.
            case passed
            /// The case needs a capability that the executor does not declare.
            case skipped(String)
            /// The rule was not followed.
            case failed(String)
        }
        /// A case and its outcome.
        public struct Result: Sendable {
            /// The rule, as a sentence.
            public var name: String
            /// The outcome, with the reason unless the case passed.
            public var outcome: Outcome
        }
        /// All cases in order.
        public internal(set) var results: [Result] = []

        /// The names of the skipped cases.
        public var skipped: [String] {
            results.filter { if case .skipped = $0.outcome { true } else { false } }.map(\.name)
        }

        /// The failed cases.
        public var failed: [Result] {
            results.filter { if case .failed = $0.outcome { true } else { false } }
        }

        /// Checks that no case has failed.
        ///
        /// - Throws: `conformance.failed` with a cause for each failed case.
        public func requireSuccess() throws(BackplaneError) {
            let failed = failed
            guard !failed.isEmpty else { return }
            throw BackplaneError(
                .conformanceFailed,
                "\(failed.count) of \(results.count) cases of the conformance suite failed; the first: \(failed[0].name): \(failed[0].outcome.reason)",
                causes: failed.map { BackplaneError(.conformanceFailed, "\($0.name): \($0.outcome.reason)") })
        }

        /// A line for each case.
        public var description: String {
            results.map { result in
                switch result.outcome {
                case .passed: "passed   \(result.name)"
                case .skipped(let why): "skipped  \(result.name): \(why)"
                case .failed(let why): "FAILED   \(result.name): \(why)"
                }
            }.joined(separator: "\n")
        }
    }
}

extension HTTPConformance.Report.Outcome {
    fileprivate var reason: String {
        switch self {
        case .passed: ""
        case .skipped(let why), .failed(let why): why
        }
    }
}

extension BackplaneError.Code {
    /// An executor or a store does not follow a rule of its conformance suite.
    public static let conformanceFailed = Self(rawValue: "conformance.failed")
}

extension HTTPConformance {
    /// A violation of a rule.
    struct Unmet: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// Checks that two values are equal.
    static func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
        if found != expected {
            throw Unmet("\(what): expected \("\(expected)".prefix(200)), found \("\(found)".prefix(200))")
        }
    }

    /// Checks that a condition holds.
    static func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw Unmet(what()) }
    }

    /// Returns the error that a step is required to throw.
    static func failure<Value>(_ what: String, _ step: () async throws -> Value) async throws -> BackplaneError {
        do {
            _ = try await step()
        } catch let error as BackplaneError {
            return error
        } catch {
            throw Unmet("\(what): expected a BackplaneError, found \(type(of: error)): \(error)")
        }
        throw Unmet("\(what): expected an error, found a response")
    }

    /// Waits for a condition.
    static func eventually(_ what: String, _ condition: () -> Bool) async throws {
        for _ in 0..<5_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Unmet(what)
    }
}

extension [UInt8] {
    /// Returns bytes that repeat with a period that differs from the size of any buffer.
    static func pattern(count: Int) -> [UInt8] {
        var bytes = [UInt8](0...250)
        while bytes.count < count { bytes += bytes }
        return Array(bytes.prefix(count))
    }
}

/// A latch that blocks server threads until a case opens it.
package final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    /// Waits until the latch is open; call this on a thread of the server.
    package func pass() {
        semaphore.wait()
        semaphore.signal()
    }

    package func open() { semaphore.signal() }
}

/// A counter that several threads increment.
package final class Counted: Sendable {
    private let count = Atomic(0)

    package init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    package func add(_ more: Int) { count.wrappingAdd(more, ordering: .relaxed) }

    /// Waits until the count has remained unchanged for a while.
    func settle() async throws {
        var last = -1, quiet = 0
        while quiet < 25 {
            quiet = value == last ? quiet + 1 : 0
            last = value
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
