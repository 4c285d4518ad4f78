package import Backplane
import BackplaneHost
import FoundationEssentials

/// A private folder with a unique name in the temporary folder, which is removed with this object.
package final class TestFolder: Sendable {
    package let path: String

    /// Creates the folder on disk.
    ///
    /// - Throws: `host.data-folder-unusable`.
    package init() throws(BackplaneError) {
        path = FileManager.default.temporaryDirectory.appending(path: "backplane-testkit-\(UUID().uuidString)").path
        do throws(PrivateFolder.Defect) {
            try PrivateFolder.make(at: path)
        } catch {
            throw BackplaneError(.dataFolderUnusable, "the test's folder \(error.text)", at: path)
        }
    }

    deinit { remove() }

    func remove() { FileTree.remove(path) }
}
