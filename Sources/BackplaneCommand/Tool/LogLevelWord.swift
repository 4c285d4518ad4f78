import Backplane
import BackplaneDocuments
import BackplaneHost

/// A value of `--log-level`: a level, or a level for one component or plugin, such as `org.example.desk=debug`.
struct LogLevelWord: Sendable, Hashable, CustomStringConvertible {
    /// The name of a component, the id of a plugin, or `host`; `nil` for everything without a level of its own.
    var name: String?
    var level: Log.Level

    static let levels = Log.Level.allCases.map { "\($0)" }
    static let all = levels.joined(separator: ", ")

    struct Unknown: Error, CustomStringConvertible {
        let description: String
    }

    init(name: String? = nil, level: Log.Level) { (self.name, self.level) = (name, level) }

    init(_ text: String) throws(Unknown) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let word = parts.last ?? ""
        guard let level = Log.Level.allCases.first(where: { "\($0)" == word }) else {
            let question = NameSuggestions(for: word, among: Self.levels).question.map { "; \($0)" } ?? ""
            throw Unknown(description: "expected one of \(Self.all), found `\(word)`\(question)")
        }
        guard parts.first != "" else {
            throw Unknown(
                description:
                    "expected a level, or NAME=LEVEL with the name of a component, the id of a plugin or `host`, found `\(text)`"
            )
        }
        (name, self.level) = (parts.count > 1 ? parts[0] : nil, level)
    }

    var description: String { (name.map { "\($0)=" } ?? "") + "\(level)" }
}

extension LogLevels {
    /// Returns the levels that result from several arguments, the later of which take precedence.
    func taking(_ words: [LogLevelWord]) -> LogLevels {
        words.reduce(into: self) { levels, word in
            if let name = word.name { levels.exceptions[name] = word.level } else { levels.standard = word.level }
        }
    }
}
