package import Backplane
import BackplaneDocuments
package import FoundationEssentials
internal import Glibc

/// The access to manifest files and pipes.
package enum ManifestFile {
    /// The time limit for the first bytes of a pipe, and again for the next ones.
    private static let patience = Duration.seconds(5)
    /// The total time limit for reading a pipe.
    private static let limit = Duration.seconds(60)

    /// Returns the contents of a file, or the data that another program writes into a pipe.
    ///
    /// - Parameter onlyRegular: Whether anything but a regular file is refused.
    /// - Throws: `manifest.unreadable`, including for a pipe that is not written to.
    package static func read(_ path: String, onlyRegular: Bool = false) throws(BackplaneError) -> Data {
        // One byte more than is allowed, so that the reader notices an excess.
        let most = DocumentLimits.bytes + 1
        do throws(SystemError) {
            // Without O_NONBLOCK, opening a pipe without a writer would block.
            let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK), status = try FileStatus(of: file)
            switch status.kind {
            case .file: return Data(try file.bytes(count: most))
            case .folder: throw SystemError(EISDIR)
            case .link, .other:
                guard !onlyRegular else { throw SystemError(ESPIPE) }
                return Data(try file.bytesOfPipe(count: most, patience: patience, limit: limit))
            }
        } catch {
            let reason =
                switch error.number {
                case ESPIPE: "expected a regular file, found a pipe, a device or a socket"
                case ETIMEDOUT: "nothing was written to it for \(patience), or it did not end within \(limit)"
                case ENOENT: "\(error)" + (question(about: path).map { "; \($0)" } ?? "")
                default: "\(error)"
                }
            throw BackplaneError(.manifestUnreadable, "the manifest cannot be read: \(reason)", at: path)
        }
    }

    /// Returns the question whether a file of a similar name in the same folder is meant; `nil` if there is none.
    private static func question(about path: String) -> String? {
        let names = try? FileManager.default.contentsOfDirectory(atPath: FilePath.folder(of: path))
        return NameSuggestions(for: FilePath.name(of: path), among: names ?? []).question
    }
}
