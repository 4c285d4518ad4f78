package import Backplane
package import BackplaneNetwork
import Glibc

/// What can be known of a library without running one instruction of it, whether a host would load it or not.
package struct LibraryInspection: Sendable {
    package let path: String
    /// In bytes; `nil` for what is no regular file.
    package private(set) var size: Int?
    /// 64 hexadecimal digits; `nil` where nothing computes them.
    package private(set) var sha256: String?
    package private(set) var identity: LibraryIdentity?
    /// Why a host refuses it before it is loaded.
    package let refusal: BackplaneError?

    /// Looks at the library at `path`, in the way and in the order in which a host does.
    ///
    /// - Parameter folder: where the copy goes that a host would load.
    package init(of path: String, in folder: LoadFolder, digest: (any ContentDigest)? = nil) {
        self.path = path
        do throws(BackplaneError) {
            _ = try LibraryFile.prepare(path, in: folder, digest: digest)
            refusal = nil
        } catch {
            refusal = error
        }
        // What is refused may say something all the same.
        guard let bytes = Self.contents(of: path) else { return }
        size = bytes.count
        sha256 = digest.map { LibraryFile.text(ofDigest: $0.sha256(of: bytes)) }
        identity = try? LibraryIdentity(of: LibraryFile.image(MappedBytes(copying: bytes), path), at: path)
    }

    private static func contents(of path: String) -> [UInt8]? {
        guard let file = try? LibraryFile.open(path), let status = try? LibraryFile.status(of: file, path) else { return nil }
        guard status.kind == .file, status.size <= LibraryFile.maximumSize else { return nil }
        return try? file.bytes(count: status.size)
    }
}
