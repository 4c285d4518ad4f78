import Backplane
import BackplaneHost

/// The answers of two copies of the library in one process, like an old and a new generation.
struct CopyFacts: Codable, Sendable {
    var first, second: PluginReport

    /// Returns the verdicts on both copies.
    ///
    /// - Parameter before: The answer of the library in another process.
    func verdicts(after before: PluginReport?) -> Verdicts {
        if first != second {
            return [
                .stable: .failed([
                    "it registers \(Self.difference(first, second)); what a plugin registers must depend only on its "
                        + "code"
                ])
            ]
        }
        guard let before, before != first else { return [.stable: .passed()] }
        return [
            .stable: .failed([
                "it registers \(Self.difference(before, first)) in another process; what a plugin registers must "
                    + "depend only on its code"
            ])
        ]
    }

    private static func difference(_ first: PluginReport, _ second: PluginReport) -> String {
        let (one, other) = (first.components.map(\.className), second.components.map(\.className))
        return first.id != second.id || first.version != second.version
            ? "\(first.id) \(first.version), and then \(second.id) \(second.version)"
            : one == other
                ? "the same classes with other contracts or wires"
                : "\(one.joined(separator: ", ")), and then \(other.joined(separator: ", "))"
    }
}

extension Candidate {
    func copies() throws(BackplaneError) -> CopyFacts {
        func answer(_ number: String) throws(BackplaneError) -> PluginReport {
            let file = try prepared(), library = try loaded(file)
            note("the entry of its \(number) copy ran")
            return PluginReport(try file.describe(library))
        }
        return CopyFacts(first: try answer("first"), second: try answer("second"))
    }
}
