package import Backplane
import BackplaneDocuments
package import FoundationEssentials

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A namespace for reading and writing manifest files, each as a whole.
package enum ManifestFile {
    package static func read(_ path: String) throws(BackplaneError) -> Data {
        guard let file = fopen(path, "rb") else { throw unreadable(path, errno) }
        defer { fclose(file) }
        // One byte more than is allowed, so that the reader notices an excess; the size of a pipe is not known
        // beforehand.
        var bytes = Data(count: DocumentLimits.bytes + 1)
        let count = bytes.withUnsafeMutableBytes { fread($0.baseAddress, 1, $0.count, file) }
        guard ferror(file) == 0 else { throw unreadable(path, errno) }
        return bytes.prefix(count)
    }

    private static func unreadable(_ path: String, _ code: CInt) -> BackplaneError {
        BackplaneError(.manifestUnreadable, "the manifest cannot be read: \(String(cString: strerror(code)))", at: path)
    }
}
