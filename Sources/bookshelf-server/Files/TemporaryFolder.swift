#if Engines
import Foundation
import Glibc

/// A new folder that only this user can look into.
struct TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array((FileManager.default.temporaryDirectory.path(percentEncoded: false) + "/bookshelf-server-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// With all that is in it. A failure leaves rubbish in the temporary folder, which the system tidies.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
#endif
