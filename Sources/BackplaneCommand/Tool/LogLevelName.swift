import Backplane

/// The names of log levels that `--log-level` accepts.
enum LogLevelName {
    static let names = Log.Level.allCases.map { "\($0)" }
    static let all = names.joined(separator: ", ")

    struct Unknown: Error, CustomStringConvertible {
        let description: String
    }

    static func level(_ name: String) throws(Unknown) -> Log.Level {
        guard let level = Log.Level.allCases.first(where: { "\($0)" == name }) else {
            throw Unknown(description: "expected one of \(all), found `\(name)`")
        }
        return level
    }
}
