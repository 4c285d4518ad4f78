#if !Engines
import Backplane
import BackplaneDev
import BackplaneHost

/// Takes options and words out of a command's arguments, wherever they stand.
struct PlainArguments {
    struct Unusable: Error, CustomStringConvertible {
        var text: String
        var description: String { text }
    }
    private var arguments: [String]
    /// What stands after `--`: words, whatever they look like.
    private var words: [String]

    init(_ arguments: [String]) {
        let parts = arguments.split(separator: "--", maxSplits: 1, omittingEmptySubsequences: false)
        (self.arguments, words) = (Array(parts[0]), parts.dropFirst().flatMap(\.self))
    }

    /// The options of all commands that make a host, and the next word as its manifest.
    mutating func settings() throws -> HostSettings {
        try options(logLevel: .notice).taking(nextIfAny())
    }

    /// The same without a manifest.
    mutating func options(logLevel: Log.Level) throws(Unusable) -> HostSettings {
        let pluginPaths = try values("--plugin-path"), loadFolder = try values("--load-folder").last, data = try values("--data").last
        let environment = try values("--environment").last
        var level = logLevel
        if let name = try values("--log-level").last {
            do { level = try LogLevelName.level(name) } catch { throw Unusable(text: "--log-level: \(error.description)") }
        }
        return HostSettings(environment: environment, pluginPaths: pluginPaths, loadFolder: loadFolder, data: data, log: Engines.log(level))
    }

    /// The last value of an option.
    mutating func text(_ name: String) throws(Unusable) -> String? { try values(name).last }

    /// All values of an option that may be given again.
    mutating func texts(_ name: String) throws(Unusable) -> [String] { try values(name) }

    /// How packages are built.
    mutating func swiftPM() throws(Unusable) -> SwiftPM {
        var swiftPM = SwiftPM(scratchPath: try text("--scratch-path"), flags: try values("--build-flag"))
        guard let name = try text("--configuration") else { return swiftPM }
        do { swiftPM.configuration = try SwiftPM.configuration(name) } catch { throw Unusable(text: "--configuration: \(error.description)") }
        return swiftPM
    }

    mutating func flag(_ name: String) -> Bool {
        let count = arguments.count
        arguments.removeAll { $0 == name }
        return arguments.count < count
    }

    mutating func seconds(_ name: String) throws(Unusable) -> Double? {
        guard let text = try text(name) else { return nil }
        guard let number = Double(text) else { throw Unusable(text: "\(name): expected a number of seconds, found `\(text)`") }
        return number
    }

    mutating func count(_ name: String) throws(Unusable) -> Int? {
        guard let text = try text(name) else { return nil }
        guard let number = Int(text) else { throw Unusable(text: "\(name): expected a whole number, found `\(text)`") }
        return number
    }

    mutating func format(_ name: String) throws(Unusable) -> ManifestFormat? {
        guard let text = try text(name) else { return nil }
        do { return try ManifestFormatName.format(text) } catch { throw Unusable(text: "\(name): \(error.description)") }
    }

    /// The next word that is no option.
    mutating func next(_ name: String) throws(Unusable) -> String {
        guard let word = nextIfAny() else { throw Unusable(text: "\(name) is missing") }
        return word
    }

    mutating func nextIfAny() -> String? {
        if let index = arguments.firstIndex(where: { !$0.hasPrefix("-") || $0 == "-" || Double($0) != nil }) { return arguments.remove(at: index) }
        return words.isEmpty ? nil : words.removeFirst()
    }

    mutating func format() throws(Unusable) -> GraphCommand.Format {
        guard let name = try text("--format") else { return .mermaid }
        guard let format = GraphCommand.Format(rawValue: name) else {
            throw Unusable(text: "--format: expected one of \(GraphCommand.Format.names), found `\(name)`")
        }
        return format
    }

    /// All words; no option may be left over.
    mutating func rest() throws(Unusable) -> [String] {
        var words: [String] = []
        while let word = nextIfAny() { words.append(word) }
        try finish()
        return words
    }

    /// Nothing may be left over.
    func finish() throws(Unusable) {
        if let first = (arguments + words).first { throw Unusable(text: "`\(first)` is not expected here") }
    }

    private mutating func values(_ name: String) throws(Unusable) -> [String] {
        var values: [String] = []
        while let index = arguments.firstIndex(where: { $0 == name || $0.hasPrefix(name + "=") }) {
            let option = arguments.remove(at: index)
            if option != name {
                values.append(String(option.dropFirst(name.count + 1)))
            } else if arguments.indices.contains(index) {
                values.append(arguments.remove(at: index))
            } else {
                throw Unusable(text: "\(name) wants a value")
            }
        }
        return values
    }
}
#endif
