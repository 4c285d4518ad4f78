import Foundation

/// A folder for temporary files, which exists until it is removed.
package struct TemporaryFolder {
    package let path: String

    /// Creates the folder.
    ///
    /// - Parameters:
    ///   - purpose: A word that becomes part of its name, to explain its use.
    ///   - parent: The folder in which to create it, or `nil` for the system's temporary folder.
    package init(for purpose: String, in parent: String? = nil) throws {
        let url = (parent.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory).appending(
            path: "backplane-\(purpose)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        path = url.path
    }

    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
