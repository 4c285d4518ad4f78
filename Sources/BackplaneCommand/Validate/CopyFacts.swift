import Backplane
import BackplaneHost

/// What two copies of it answered in one process, as an old and a new generation do.
struct CopyFacts: Codable, Sendable {
    var first, second: PluginReport

    var verdicts: Verdicts {
        guard first != second else { return [.stable: .passed()] }
        let (one, other) = (first.components.map(\.className), second.components.map(\.className))
        let what = first.id != second.id || first.version != second.version
            ? "\(first.id) \(first.version), and then \(second.id) \(second.version)"
            : one == other ? "the same classes with other contracts or wires" : "\(one.joined(separator: ", ")), and then \(other.joined(separator: ", "))"
        return [.stable: .failed(["it answers \(what); what a plugin brings depends on its code alone"])]
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
