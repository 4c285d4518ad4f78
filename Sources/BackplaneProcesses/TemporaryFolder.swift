import Foundation

/// A folder for as long as something takes.
package struct TemporaryFolder {
    package let path: String

    /// - Parameters:
    ///   - purpose: a word of its name, for whoever comes across it.
    ///   - parent: `nil`: the system's folder for such folders.
    package init(for purpose: String, in parent: String? = nil) throws {
        let url = (parent.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory).appending(path: "backplane-\(purpose)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        path = url.path
    }

    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
