import Backplane
import BackplaneHost
import BackplaneTerminal
import BackplaneValidate

/// The command `backplane validate`: checks a plugin against the rules of the boundary.
struct ValidateCommand: Sendable {
    /// The path of the library, or its name in a manifest.
    var library: String
    /// The manifest in which the name is looked up, or `nil` for none.
    var manifest: String?
    var loadFolder: String?
    /// The time limit for each step, call and answer of a check.
    var limit: Duration
    var json = false

    func run() async -> Int32 {
        guard !library.isEmpty else { return Output.refuse("LIBRARY: expected a path or a name, found nothing") }
        do throws(BackplaneError) {
            let folder = try LoadFolder(in: loadFolder)
            defer { folder.remove() }
            let report = await Validation(
                path: try InspectCommand.locate(library, of: manifest), folder: folder.path, limit: limit
            )
            .report()
            if json { Output.json(report) } else { report.printTable() }
            return report.isValid ? 0 : 1
        } catch {
            if json { Output.json(ValidationReport(library, error)) }
            return Output.fail(error)
        }
    }
}
