import Backplane
import BackplaneHost
import FoundationEssentials

/// A private folder in the temporary folder, under a name that nobody else has.
struct TestFolder: Sendable {
    let path: String

    /// - Throws: `host.data-folder-unusable`.
    init() throws(BackplaneError) {
        path = FileManager.default.temporaryDirectory.appending(path: "backplane-testkit-\(UUID().uuidString)").path
        do throws(PrivateFolder.Problem) {
            try PrivateFolder.make(at: path)
        } catch {
            throw BackplaneError(.dataFolderUnusable, "the test's folder \(error.text)", at: path)
        }
    }

    func remove() { FileTree.remove(path) }
}
