import Foundation
import Glibc

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

    /// Removes the folder although other threads may be creating files in it; tries for about a second.
    package func removeInUse() {
        for _ in 0..<100 {
            remove()
            guard access(path, F_OK) == 0 else { return }
            usleep(10_000)
        }
    }
}
