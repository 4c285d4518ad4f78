import ArgumentParser
import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneHost
import BackplaneTools
import CBackplaneHost
import Foundation

/// The options of every command that creates a host.
struct HostArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The environment of the manifest to use (default: $BACKPLANE_ENVIRONMENT, or none).", valueName: "name"))
    var environment: String?

    @Option(
        name: .customLong("plugin-path"), parsing: .singleValue,
        help: ArgumentHelp("A folder to search for libraries; can be repeated.", valueName: "folder"))
    var pluginPaths: [String] = []

    @Option(
        help: ArgumentHelp(
            "The folder to which libraries are copied before they are loaded (default: $XDG_CACHE_HOME, or the temporary folder).",
            valueName: "folder"))
    var loadFolder: String?

    @Option(
        help: ArgumentHelp(
            "The folder in which data access controllers store their data (default: $XDG_STATE_HOME/backplane).",
            valueName: "folder"))
    var data: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "The lowest level to log on standard error (\(LogLevelWord.all); default: notice), or NAME=LEVEL for one component, plugin or `host`; can be repeated.",
            valueName: "level"), completion: .list(LogLevelWord.levels), transform: LogLevelWord.init)
    var logLevel: [LogLevelWord] = []

    @Option(
        help: ArgumentHelp(
            "The log format; each record is one line.", valueName: "format"))
    var logFormat = LogFormat.text

    /// Returns the settings with the given manifest, or with the one in the current folder.
    func settings(_ manifest: String?) throws -> HostSettings { try settings.taking(manifest) }

    /// The settings without a manifest.
    var settings: HostSettings {
        HostSettings(
            environment: environment, pluginPaths: pluginPaths, loadFolder: loadFolder, data: data,
            log: LogSettings(levels: LogLevels(.notice).taking(logLevel), format: logFormat))
    }
}

extension LogFormat: ExpressibleByArgument {}

/// A value of `--log-level`: a level, or a level for one component or plugin, such as `org.example.desk=debug`.
struct LogLevelWord: Sendable, Hashable, CustomStringConvertible {
    /// The name of a component, the id of a plugin, or `host`; `nil` for everything without its own level.
    var name: String?
    var level: Log.Level

    static let levels = Log.Level.allCases.map { "\($0)" }
    static let all = levels.joined(separator: ", ")

    init(name: String? = nil, level: Log.Level) { (self.name, self.level) = (name, level) }

    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let word = parts.last ?? ""
        guard let level = Log.Level.allCases.first(where: { "\($0)" == word }) else {
            let question = NameSuggestions(for: word, among: Self.levels).question.map { "; \($0)" } ?? ""
            throw ValidationError("expected one of \(Self.all), found `\(word)`\(question)")
        }
        guard parts.first != "" else {
            throw ValidationError(
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

/// The log settings of a host that a command creates: the levels on standard error, and the format.
struct LogSettings: Sendable {
    var levels = LogLevels(.notice)
    var format = LogFormat.text

    /// The options of a command that creates a host with the same log.
    var options: [ShellCommand.Option] {
        ([LogLevelWord(level: levels.standard)]
            + levels.exceptions.sorted { $0.key < $1.key }.map { LogLevelWord(name: $0.key, level: $0.value) })
            .map { ShellCommand.Option(name: "--log-level", value: "\($0)") }
            + [ShellCommand.Option(name: "--log-format", value: format.rawValue)]
    }
}

/// The options common to all commands that create a host.
struct HostSettings: Sendable {
    /// The path of the manifest, once it is chosen.
    var manifest = ""
    /// The manifest's environment; `nil` means `$BACKPLANE_ENVIRONMENT`, and an empty string means none.
    var environment: String?
    var pluginPaths: [String] = []
    var loadFolder: String?
    var data: String?
    /// The libraries that are first tried in a child process.
    var trials = TrialRule.whileRunning
    /// The log; `nil` for none.
    var log: LogSettings?
    /// The mocks that answer exchanges; `nil` for none.
    var mocks: Mocks?
    /// The cassette to which exchanges are recorded, or which is replayed; `nil` for none.
    var cassette: Cassette?

    /// Returns the settings with the given manifest, or with the one in the current folder.
    func taking(_ manifest: String?) throws -> HostSettings {
        var settings = self
        settings.manifest = try ManifestChoice.taken(manifest)
        return settings
    }

    /// Creates the host's options, with a new HTTP client.
    func makeOptions() -> HostOptions {
        var options = HostOptions(
            pluginPaths: pluginPaths, loadFolder: loadFolder, dataFolder: data,
            log: log.map { StandardErrorLog(format: $0.format) } ?? SilentLog(),
            executors: [Engines.makeHTTP()], openStore: Engines.openStore)
        options.openCache = Engines.openCache
        if let log { options.logLevels = log.levels }
        options.namesCrashes = true
        if ProcessEnvironment.value("SWIFT_BACKTRACE") == nil { bph_end_untraced() }
        (options.mocks, options.cassette) = (mocks, cassette)
        options.trials = trials
        return options
    }

    /// Creates the host of this command; nothing is loaded until it is used.
    ///
    /// - Parameter document: The manifest, or `nil` to read it from its path.
    func makeHost(_ document: ManifestDocument? = nil) -> PluginHost {
        PluginHost(manifest: document ?? self.document, options: makeOptions())
    }

    /// The manifest, read from its path on each access.
    var document: ManifestDocument {
        ManifestDocument(contentsOf: manifest, environment: chosenEnvironment)
    }

    var chosenEnvironment: String? {
        let name = environment ?? ProcessEnvironment.value("BACKPLANE_ENVIRONMENT")
        return name == "" ? nil : name
    }
}

extension HostSettings {
    /// Composes the manifest with its plugins, without starting anything or leaving files behind.
    func compose() async -> Composition {
        let host = makeHost()
        let composition = await host.composition()
        await host.stop()
        return composition
    }

    /// Prints the number of errors, if any, and the command that lists them on standard error.
    func remark(onErrorsOf composition: Composition) {
        let errors = composition.problems.errors.count
        guard errors > 0 else { return }
        let faults = composition.plan.faults.count
        let subject = faults == 0 ? "" : "; \(counted(faults, "manager")) cannot be created"
        let command = ShellCommand(name: "check", words: [manifest], options: composingOptions)
        Output.remark("backplane: \(manifest) has \(counted(errors, "error"))\(subject): `\(command.text)` lists all")
    }

    /// The given options that another command needs to compose the manifest in the same way.
    var composingOptions: [ShellCommand.Option] {
        (environment.map { [.init(name: "--environment", value: $0)] } ?? [])
            + pluginPaths.map { .init(name: "--plugin-path", value: $0) }
    }

    /// Prints the errors that prevent the manifest from being read, and returns the exit code.
    func fail(_ composition: Composition) -> Int32 {
        for problem in composition.problems.causes where problem.severity == .error {
            Output.remark(problem.report(in: manifest))
        }
        if let summary = composition.problems.summaryOfConsequences { Output.remark(summary) }
        return 1
    }
}

/// The options of commands that answer requests from mocks or a cassette, or record them to a cassette.
struct SubstituteArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Answer requests with the mocks in a folder, and in the folder `mocks` beside the manifest.",
            valueName: "folder"), completion: .directory)
    var mock: String?

    @Flag(help: "With --mock, send the requests that have no mock.") var fallThrough = false

    @Option(
        help: ArgumentHelp("Record the exchanges to a cassette, which is a new file.", valueName: "file"),
        completion: .file())
    var record: String?

    @Option(
        help: ArgumentHelp("Answer requests with the exchanges of a cassette.", valueName: "file"),
        completion: .file())
    var replay: String?

    /// The given options in the form in which they are passed to another command.
    var given: [(name: String, value: String)] {
        [("--mock", mock), ("--record", record), ("--replay", replay)].compactMap { name, value in
            value.map { (name, $0) }
        }
    }

    /// The given options as words of a command line.
    var words: [String] { given.map { "\($0.name)=\($0.value)" } + (fallThrough ? ["--fall-through"] : []) }

    func validate() throws {
        guard given.count < 2 else {
            let names = given.map(\.name).joined(separator: " and ")
            throw ValidationError("\(names) exclude each other; use only one of them")
        }
        if fallThrough, mock == nil { throw ValidationError("--fall-through requires --mock") }
        var isFolder: ObjCBool = false
        if let mock, !FileManager.default.fileExists(atPath: mock, isDirectory: &isFolder) || !isFolder.boolValue {
            throw ValidationError("--mock: expected a folder with mocks, found none at `\(mock)`")
        }
    }

    /// Requires that no option is given, because the command does not create the host.
    func requireNone() throws {
        guard let option = given.first?.name else { return }
        throw ValidationError("\(option) applies to a host that this command creates, not to a running one")
    }

    var mocks: Mocks? { mock.map { Mocks(folders: [$0], fallsThrough: fallThrough) } }

    /// Returns the cassette that is recorded or replayed; prints the error if it cannot be used.
    func cassette() throws -> Cassette? {
        do throws(BackplaneError) {
            if let record { return try .recording(to: record) }
            if let replay { return try .replaying(replay) }
            return nil
        } catch {
            throw ExitCode(Output.fail(error))
        }
    }

    /// Returns the settings of a host whose requests are answered or recorded in this way.
    func applied(to settings: HostSettings) throws -> HostSettings {
        var settings = settings
        (settings.mocks, settings.cassette) = (mocks, try cassette())
        return settings
    }
}
