package import Backplane
import BackplaneExchange
import Glibc

/// The facts about a library that are known without running its code, regardless of whether a host would load it.
package struct LibraryInspection: Sendable {
    package let path: String
    /// The size in bytes; `nil` if it is not a regular file.
    package private(set) var size: Int?
    /// The digest as 64 hexadecimal digits; `nil` if the file cannot be read.
    package private(set) var sha256: String?
    package private(set) var identity: LibraryIdentity?
    /// The reason why a host would refuse the library before loading it.
    package let refusal: BackplaneError?

    /// Creates an inspection of the library at `path` with the checks of a host, in the same order.
    ///
    /// - Parameter folder: The folder for the copy that a host would load.
    package init(of path: String, in folder: LoadFolder) {
        self.path = path
        do throws(BackplaneError) {
            _ = try LibraryFile.prepare(path, in: folder)
            refusal = nil
        } catch {
            refusal = error
        }
        // A refused library may still have an identity.
        guard let bytes = Self.contents(of: path) else { return }
        size = bytes.count
        sha256 = ContentDigest.sha256(of: bytes).hexadecimal
        identity = try? LibraryIdentity(of: LibraryFile.image(MappedBytes(copying: bytes), path), at: path)
    }

    private static func contents(of path: String) -> [UInt8]? {
        guard let file = try? LibraryFile.open(path), let status = try? LibraryFile.status(of: file, path) else {
            return nil
        }
        guard status.kind == .file, status.size <= LibraryFile.maximumSize else { return nil }
        return try? file.bytes(count: status.size)
    }
}
