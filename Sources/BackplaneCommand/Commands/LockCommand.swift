import Backplane
import BackplaneHost
import FoundationEssentials

/// `backplane check --lock`: writes what was chosen into the manifest, if nothing is wrong otherwise, and says what that changed.
struct LockCommand: Sendable {
    var settings: HostSettings
    var json = false
    /// Warnings keep it from writing too.
    var strict = false

    func run() async -> Int32 {
        do {
            let bytes = try ManifestFile.read(settings.manifest)
            let document = document(bytes, ignoringLock: true)
            let host = settings.makeHost(document)
            let problems = await host.check(), lock = await host.lock()
            await host.stop()
            let isWritten = !problems.fail(strict: strict)
            let changes = isWritten ? try write(lock, into: bytes) : []
            report(problems, changes, isWritten: isWritten)
            return isWritten ? 0 : 1
        } catch {
            return Output.fail(error)
        }
    }

    private func document(_ bytes: Data, ignoringLock: Bool) -> ManifestDocument {
        ManifestDocument(parsing: bytes, path: settings.manifest, environment: settings.chosenEnvironment, ignoringLock: ignoringLock)
    }

    private func write(_ lock: [String: LockedClass], into bytes: Data) throws(BackplaneError) -> [Change] {
        let changed: Data
        do { changed = try LockText.put(lock, into: bytes) } catch {
            throw BackplaneError(error.code, error.message, at: settings.manifest)
        }
        let before = document(bytes, ignoringLock: false).manifest.lock ?? [:]
        guard changed != bytes else { return [] }
        guard try ManifestFile.read(settings.manifest) == bytes else {
            throw BackplaneError(.manifestUnwritable, "it was changed while it was checked; try again", at: settings.manifest)
        }
        try ManifestFile.replace(settings.manifest, with: changed)
        return Set(before.keys).union(lock.keys).sorted().filter { before[$0] != lock[$0] }.map { Change(definition: $0, before: before[$0], after: lock[$0]) }
    }

    /// What became of one entry of the lock.
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

    private func report(_ problems: [Problem], _ changes: [Change], isWritten: Bool) {
        if json {
            struct Report: Encodable { var problems: [ProblemRow], written: Bool, changes: [Change] }
            Output.json(Report(problems: problems.map(ProblemRow.init), written: isWritten, changes: changes))
            return
        }
        problems.print(of: settings.manifest)
        guard isWritten else { return Output.line("\(settings.manifest): the lock stays as it is") }
        Output.line("\(settings.manifest): " + (changes.isEmpty ? "the lock is up to date" : "locked"))
        for change in changes { Output.line(change.line) }
    }
}
