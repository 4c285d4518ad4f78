import Backplane
import BackplaneHost
import BackplaneTerminal
import FoundationEssentials

/// The command `backplane check --lock`: writes the chosen versions into the manifest and reports what changed.
///
/// Nothing is written if the manifest has errors.
struct LockCommand: Sendable {
    var settings: HostSettings
    var json = false
    /// A Boolean value that indicates whether warnings also prevent writing.
    var strict = false
    /// A Boolean value that indicates whether to also list problems that follow from others.
    var all = false

    func run() async -> Int32 {
        var problems: [Problem] = []
        do {
            let bytes = try ManifestFile.read(settings.manifest)
            let document = document(bytes, ignoringLock: true)
            let host = settings.makeHost(document)
            problems = await host.problems(strict: strict)
            let lock = await host.lock()
            await host.stop()
            let fails = problems.fail(strict: strict)
            report(problems, fails ? .refused : try write(lock, into: bytes))
            return fails ? 1 : 0
        } catch {
            guard json else { return Output.fail(error) }
            report(problems + [Problem(.error, manager: nil, error)], .refused)
            return 1
        }
    }

    /// The result of writing the lock.
    private enum Outcome {
        case refused, upToDate
        /// The lock was written; there are no changes if only its formatting differed.
        case written([Change])
    }

    private func document(_ bytes: Data, ignoringLock: Bool) -> ManifestDocument {
        ManifestDocument(
            parsing: bytes, path: settings.manifest, environment: settings.chosenEnvironment, ignoringLock: ignoringLock
        )
    }

    private func write(_ lock: [String: LockedClass], into bytes: Data) throws(BackplaneError) -> Outcome {
        let changed: Data
        do { changed = try LockText.put(lock, into: bytes) } catch {
            throw BackplaneError(error.code, error.message, at: settings.manifest)
        }
        let before = document(bytes, ignoringLock: false).manifest.lock ?? [:]
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
        struct Side: Encodable {
            var plugin: String
            var version: String

            init(_ locked: LockedClass) { (plugin, version) = (locked.plugin, locked.version.description) }
        }
        var definition: String
        var before: Side?
        var after: Side?

        init(definition: String, before: LockedClass?, after: LockedClass?) {
            (self.definition, self.before, self.after) = (definition, before.map(Side.init), after.map(Side.init))
        }

        var line: String {
            func text(_ side: Side) -> String { "\(side.version) of plugin `\(side.plugin)`" }
            return switch (before, after) {
            case (let before?, let after?): "  \(definition): \(text(before)) → \(text(after))"
            case (nil, let after?): "  \(definition): \(text(after))"
            case (_, nil): "  \(definition): removed"
            }
        }
    }

    private func report(_ problems: [Problem], _ outcome: Outcome) {
        if json {
            struct Report: Encodable { var problems: [ProblemRow], written: Bool, changes: [Change] }
            let changes: [Change]? = if case .written(let changes) = outcome { changes } else { nil }
            return Output.json(
                Report(problems: problems.map(ProblemRow.init), written: changes != nil, changes: changes ?? []))
        }
        problems.print(of: settings, all: all)
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
