import ArgumentParser
import Backplane
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneHost
import BackplaneTools
import FoundationEssentials

extension BackplaneTool {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check a manifest and its plugins, or a definition, and list every problem.",
            discussion: """
                Loads the libraries to see what they register, but starts no component. Each library is first tried \
                in a child process, so that a crash is reported as a problem. Each problem begins with its location, \
                in the format that compilers use; problems that follow from another problem are only counted. The exit \
                code is 1 if there is an error. Otherwise, --lock writes the chosen versions into the manifest; from \
                then on, a different choice is an error. The definition of a web service, a file such as \
                NCWebService+NAME.plist, is checked by itself.

                EXAMPLES
                  backplane check
                  backplane check manifests/almanac.json
                  backplane check manifests/almanac.plist --strict --json
                  backplane check backplane.json --lock
                  backplane check definitions/NCWebService+Pharmacies.plist
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @Flag(help: "Print the problems as JSON.") var json = false
        @Flag(help: "Treat warnings as errors.") var strict = false
        @Flag(help: "Also list problems that follow from others.") var all = false
        @Flag(help: "Load the libraries without trying them in a child process first.") var trust = false
        @Flag(help: "Write the chosen versions into the manifest.") var lock = false

        func run() async throws {
            var settings = try host.settings(try manifest.path)
            settings.trials = trust ? .never : .always
            if let problems = DefinitionCheck.problems(of: settings.manifest) {
                guard lock else { throw report(problems, settings) }
                let error = BackplaneError(
                    .manifestUnsupported, "a definition of a web service has no lock; leave out --lock",
                    at: settings.manifest)
                throw ExitCode(Output.fail(error))
            }
            if lock { throw ExitCode(await writeLock(settings)) }
            let host = settings.makeHost()
            let problems = await problems(of: host)
            await host.stop()
            throw report(problems, settings)
        }

        /// Returns the problems of the manifest and, with --strict, the states that can only cross as JSON.
        private func problems(of host: PluginHost) async -> [Problem] {
            await host.check() + (strict ? host.encodedStates() : [])
        }

        /// Returns whether the problems include an error or, with --strict, are not empty.
        private func fails(_ problems: [Problem]) -> Bool {
            problems.contains { strict || $0.severity == .error }
        }

        private func report(_ problems: [Problem], _ settings: HostSettings) -> ExitCode {
            if json { Output.json(problems.map(ProblemRow.init)) } else { print(problems, settings) }
            return fails(problems) ? .failure : .success
        }

        private func print(_ problems: [Problem], _ settings: HostSettings) {
            let list = ProblemList(
                manifest: settings.manifest, problems: problems, showsAll: all, options: settings.composingOptions)
            for line in list.lines(colour: Terminal.wantsColour) { Output.line(line) }
        }
    }
}

// MARK: The lock

extension BackplaneTool.Check {
    /// Writes the chosen versions into the manifest and reports what changed, unless the manifest has errors.
    private func writeLock(_ settings: HostSettings) async -> Int32 {
        var problems: [Problem] = []
        do {
            let bytes = try ManifestFile.read(settings.manifest)
            let host = settings.makeHost(document(bytes, settings, ignoringLock: true))
            problems = await self.problems(of: host)
            let lock = await host.lock()
            await host.stop()
            let fails = fails(problems)
            report(problems, fails ? .refused : try write(lock, into: bytes, settings), settings)
            return fails ? 1 : 0
        } catch {
            guard json else { return Output.fail(error) }
            report(problems + [Problem(.error, manager: nil, error)], .refused, settings)
            return 1
        }
    }

    /// The result of writing the lock.
    private enum Outcome {
        case refused, upToDate
        /// The lock was written; there are no changes if only its formatting differed.
        case written([Change])
    }

    private func document(_ bytes: Data, _ settings: HostSettings, ignoringLock: Bool) -> ManifestDocument {
        ManifestDocument(
            parsing: bytes, path: settings.manifest, environment: settings.chosenEnvironment, ignoringLock: ignoringLock
        )
    }

    private func write(_ lock: [String: LockedClass], into bytes: Data, _ settings: HostSettings) throws(BackplaneError)
        -> Outcome
    {
        let changed: Data
        do { changed = try ManifestText.put(lock: lock, into: bytes) } catch {
            throw BackplaneError(error.code, error.message, at: settings.manifest)
        }
        let before = document(bytes, settings, ignoringLock: false).manifest.lock ?? [:]
        guard changed != bytes else { return .upToDate }
        guard try ManifestFile.read(settings.manifest) == bytes else {
            throw BackplaneError(
                .manifestUnwritable, "the manifest was changed while it was being checked; try again",
                at: settings.manifest)
        }
        try ManifestFile.replace(settings.manifest, with: changed)
        let definitions = Set(before.keys).union(lock.keys).sorted().filter { before[$0] != lock[$0] }
        return .written(definitions.map { Change(definition: $0, before: before[$0], after: lock[$0]) })
    }

    /// A change of one entry of the lock.
    private struct Change: Encodable {
        var definition: String
        var before: LockedClass?
        var after: LockedClass?

        var line: String {
            let beginning = before.map { "\($0) → " } ?? ""
            return "  \(definition): \(after.map { "\(beginning)\($0)" } ?? "removed")"
        }
    }

    private func report(_ problems: [Problem], _ outcome: Outcome, _ settings: HostSettings) {
        if json {
            struct Report: Encodable { var problems: [ProblemRow], written: Bool, changes: [Change] }
            let changes: [Change]? = if case .written(let changes) = outcome { changes } else { nil }
            return Output.json(
                Report(problems: problems.map(ProblemRow.init), written: changes != nil, changes: changes ?? []))
        }
        print(problems, settings)
        switch outcome {
        case .refused: Output.line("\(settings.manifest): the lock is unchanged")
        case .upToDate: Output.line("\(settings.manifest): the lock is up to date")
        case .written(let changes):
            Output.line(
                "\(settings.manifest): locked"
                    + (changes.isEmpty ? "; the versions are the same, but written differently" : ""))
            for change in changes { Output.line(change.line.printable) }
        }
    }
}

/// The problems of a manifest as printed by `check`: grouped by manager, each line beginning with its location.
struct ProblemList: Sendable {
    var manifest: String
    var problems: [Problem]
    /// A Boolean value that indicates whether to also list problems that follow from others.
    var showsAll = false
    /// The options of the command that affect the meaning of the manifest.
    var options: [ShellCommand.Option] = []

    func lines(colour: Bool) -> [String] {
        let groups = groups
        return groups.flatMap { group in
            // With a single group, the summary is enough.
            let lines = group.map { $0.report(in: manifest, colour: colour) }
            return groups.count > 1 ? [heading(of: group).text(colour: colour)] + lines + [""] : lines
        } + rest + [summary] + hints
    }

    /// The summaries of the unlisted problems, with the options that list them.
    private var rest: [String] {
        [
            shown.summaryOfRest.map { "\($0); --json lists all" },
            showsAll ? nil : problems.summaryOfConsequences.map { "\($0); --all lists all" },
        ].compactMap(\.self)
    }

    private var shown: [Problem] { showsAll ? problems : problems.causes }

    /// The listed problems, grouped by manager in their order, beginning with the problems of the whole manifest.
    private var groups: [[Problem]] {
        shown.shortList.reduce(into: []) { groups, problem in
            if groups.last?.first.map({ $0.manager == problem.manager }) == true {
                groups[groups.count - 1].append(problem)
            } else {
                groups.append([problem])
            }
        }
    }

    private func heading(of group: [Problem]) -> Span {
        Span("\(group.first?.manager?.printable ?? "the manifest"): \(Self.counts(group))", .heading)
    }

    private var summary: String {
        problems.isEmpty ? "\(manifest): no problems" : "\(manifest): \(Self.counts(shown, withNone: true))"
    }

    /// A suggestion for the next command, if one manager's fault is caused by another's.
    private var hints: [String] {
        guard let follower = problems.first(where: { $0.error.code == .dependencyUnsatisfied })?.manager else {
            return []
        }
        let command = ShellCommand(name: "explain", words: [manifest, follower], options: options)
        return ["`\(command.text)` traces the fault of `\(follower.printable)` to its cause"]
    }

    private static func counts(_ problems: [Problem], withNone: Bool = false) -> String {
        let errors = problems.count { $0.severity == .error }, warnings = problems.count - errors
        return [(errors, "error"), (warnings, "warning")].filter { withNone || $0.0 > 0 }.map { counted($0, $1) }
            .joined(separator: ", ")
    }
}

/// A problem in the format of `check --json`.
struct ProblemRow: Encodable {
    var severity: String
    var manager: String?
    var location: String?
    var line: Int?
    var column: Int?
    var code: String
    var message: String
    var causes: [BackplaneError]
    /// A Boolean value that indicates whether the problem follows from another one.
    var isConsequence: Bool

    init(_ problem: Problem) {
        (severity, manager, location) = (problem.severity.rawValue, problem.manager, problem.error.location)
        // The location of a mistake in a definition begins with the definition's own file.
        let position = problem.placeInDefinition?.position ?? problem.position
        (line, column) = (position?.line, position?.column)
        (code, message, causes) = (problem.error.code.rawValue, problem.error.message, problem.error.causes)
        isConsequence = problem.isConsequence
    }
}

/// The check of a web service's definition or the header fields next to it, which needs no host.
enum DefinitionCheck {
    /// Returns the problems of a definition; `nil` for a file that is not a definition.
    static func problems(of path: String) -> [Problem]? {
        // A pipe can be read only once, and is always a manifest.
        guard DefinitionFile.isRegular(path), let bytes = try? DefinitionFile.read(path) else { return nil }
        let value = try? DocumentValue(parsing: bytes, as: .document)
        guard DefinitionFile.isDefinition(value, named: path) else { return nil }
        let problems =
            DefinitionFile.hasSharedHeaders(path)
            ? DefinitionDocument(sharedHeaders: bytes, path: path).problems
            : DefinitionDocument(parsing: bytes, path: path).problems
        return problems.map { problem in
            Problem(
                problem.severity == .error ? .error : .warning, manager: nil, problem.error, position: problem.position)
        }
    }
}
