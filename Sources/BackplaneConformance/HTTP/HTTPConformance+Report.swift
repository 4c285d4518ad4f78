public import Backplane

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
