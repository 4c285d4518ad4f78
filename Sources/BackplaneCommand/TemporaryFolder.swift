import Foundation

/// A folder for as long as something takes.
struct TemporaryFolder {
    let path: String

    /// - Parameter purpose: a word of its name, for whoever comes across it.
    init(for purpose: String) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "backplane-\(purpose)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        path = url.path
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
