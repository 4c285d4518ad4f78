#if !Engines
import Backplane
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

    mutating func settings(logLevel: Log.Level) throws(Unusable) -> HostSettings {
        let pluginPaths = try values("--plugin-path"), loadFolder = try values("--load-folder").last, data = try values("--data").last
        var level = logLevel
        if let name = try values("--log-level").last {
            do { level = try LogLevelName.level(name) } catch { throw Unusable(text: "--log-level: \(error.description)") }
        }
        return HostSettings(
            manifest: try next("MANIFEST"), pluginPaths: pluginPaths, loadFolder: loadFolder, data: data, log: Engines.log(level))
    }

    /// The last value of an option.
    mutating func text(_ name: String) throws(Unusable) -> String? { try values(name).last }

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

    /// The next word that is no option.
    mutating func next(_ name: String) throws(Unusable) -> String {
        guard let word = nextIfAny() else { throw Unusable(text: "\(name) is missing") }
        return word
    }

    mutating func nextIfAny() -> String? {
        if let index = arguments.firstIndex(where: { !$0.hasPrefix("-") || $0 == "-" || Double($0) != nil }) { return arguments.remove(at: index) }
        return words.isEmpty ? nil : words.removeFirst()
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

enum PlainUsage {
    static let text = """
        backplane, built without engines: the package trait `Engines` adds what needs a package

        USAGE
          backplane run MANIFEST [--json]                     starts every manager, stays until SIGINT or SIGTERM
          backplane call MANIFEST MANAGER METHOD [JSON] [--timeout SECONDS] [--explain [--json]]
                                                              calls one method, prints its result, explains its wires
          backplane check MANIFEST [--json] [--strict]        lists everything that is wrong; starts nothing
          backplane inspect LIBRARY [--json] [--timeout SECONDS] [--load-folder FOLDER]
                                                              says what a library is and brings, and whether it loads
          backplane bench [SUITE] [--only TEXT] [--quick | --iterations COUNT] [--json]
                                                              measures what Backplane costs, in a release build

        OPTIONS OF ALL THAT TAKE A MANIFEST
          --plugin-path FOLDER     a folder to look for libraries in; may be given again
          --load-folder FOLDER     where libraries are copied to before they are loaded
          --data FOLDER            where data access controllers keep their data
          --log-level LEVEL        trace, debug, info, notice, warning, error, critical (default: notice)

        EXAMPLES
          backplane check manifests/almanac.json
          backplane call manifests/almanac.json AlmanacManager on '"07-20"'
          backplane run manifests/almanac.json
          backplane inspect .build/debug/libClock.so
          backplane bench boundary --only actor
          backplane bench composition --quick
        """
}
#endif
