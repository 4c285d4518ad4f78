#if Engines
import Foundation
import Glibc

/// A new temporary folder that only the current user can access.
struct TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array(
            (FileManager.default.temporaryDirectory.path(percentEncoded: false) + "/bookshelf-server-XXXXXX")
                .utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Removes the folder and its contents.
    ///
    /// Errors are ignored: the operating system cleans up temporary folders.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
#endif
