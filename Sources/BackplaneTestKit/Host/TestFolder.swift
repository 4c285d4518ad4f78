import Backplane
import BackplaneHost
import FoundationEssentials

/// A private folder with a unique name in the temporary folder.
struct TestFolder: Sendable {
    let path: String

    /// Creates the folder on disk.
    ///
    /// - Throws: `host.data-folder-unusable`.
    init() throws(BackplaneError) {
        path = FileManager.default.temporaryDirectory.appending(path: "backplane-testkit-\(UUID().uuidString)").path
        do throws(PrivateFolder.Defect) {
            try PrivateFolder.make(at: path)
        } catch {
            throw BackplaneError(.dataFolderUnusable, "the test's folder \(error.text)", at: path)
        }
    }

    func remove() { FileTree.remove(path) }
}
