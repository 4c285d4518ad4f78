import Backplane
import BackplaneHost
import BackplaneTerminal

/// The command `backplane inspect`: shows a library's metadata and whether a host would load it.
struct InspectCommand: Sendable {
    /// The path of the library, or its name in a manifest.
    var library: String
    var loadFolder: String?
    /// The time that the library has to describe itself.
    var limit: Duration
    var json = false

    func run() async -> Int32 {
        do {
            let folder = try LoadFolder(in: loadFolder)
            defer { folder.remove() }
            let report = await inspect(try Self.locate(library), in: folder)
            if json { Output.json(report) } else { report.printTable() }
            return report.loads ? 0 : 1
        } catch {
            return Output.fail(error)
        }
    }

    /// Returns the path of a library.
    ///
    /// - Parameter library: A path, or a name as it appears in a manifest.
    static func locate(_ library: String) throws(BackplaneError) -> String {
        let isPath = library.contains("/") || (try? FileStatus(at: library)) != nil
        if isPath { return library }
        return try LibraryLocator(manifestFolder: ".", pluginPaths: [], advice: "build it, or give its path").locate(
            library)
    }

    private func inspect(_ path: String, in folder: LoadFolder) async -> InspectionReport {
        var report = InspectionReport(LibraryInspection(of: path, in: folder, digest: Engines.digest))
        guard report.problems.isEmpty else { return report }
        do throws(BackplaneError) {
            report.plugin = try await InspectionChild.describe(path, in: folder.path, limit: limit)
        } catch {
            report.problems.append(error)
        }
        return report
    }
}
