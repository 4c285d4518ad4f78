import Backplane
import BackplaneHost
import BackplaneTerminal

/// The command `backplane inspect`: shows a library's metadata and whether a host would load it.
struct InspectCommand: Sendable {
    /// The path of the library, or its name in a manifest.
    var library: String
    /// The manifest in which the name is looked up, or `nil` for none.
    var manifest: String?
    var loadFolder: String?
    /// The time limit for the library's description of itself.
    var limit: Duration
    var json = false

    func run() async -> Int32 {
        do {
            let folder = try LoadFolder(in: loadFolder)
            defer { folder.remove() }
            let report = await inspect(try Self.locate(library, of: manifest), in: folder)
            if json { Output.json(report) } else { report.printTable() }
            return report.loads ? 0 : 1
        } catch {
            return Output.fail(error)
        }
    }

    /// Returns the path of a library.
    ///
    /// - Parameters:
    ///   - library: A path, or a name as it appears in a manifest.
    ///   - manifest: The path of the manifest, or `nil` for none.
    /// - Throws: `plugin.not-found`; `manifest.unreadable` if there is no such manifest.
    static func locate(_ library: String, of manifest: String?) throws(BackplaneError) -> String {
        let advice = "build it, or specify its path"
        guard let manifest else {
            if library.contains("/") || (try? FileStatus(at: library)) != nil { return library }
            return try LibraryLocator(manifestFolder: ".", pluginPaths: [], advice: advice).locate(library)
        }
        if library.contains("/") { return library }
        _ = try ManifestFile.read(manifest)
        let plugins = ManifestDocument(contentsOf: manifest).manifest.plugins ?? []
        let named = plugins.first { [library, "lib\(library).so"].contains(FilePath.name(of: $0.library)) }
        return try LibraryLocator(manifestFolder: FilePath.folder(of: manifest), pluginPaths: [], advice: advice)
            .locate(named?.library ?? library)
    }

    private func inspect(_ path: String, in folder: LoadFolder) async -> InspectionReport {
        var report = InspectionReport(LibraryInspection(of: path, in: folder))
        guard report.problems.isEmpty else { return report }
        do throws(BackplaneError) {
            report.plugin = try await InspectionChild.describe(path, in: folder.path, limit: limit)
        } catch {
            report.problems.append(error)
        }
        return report
    }
}
