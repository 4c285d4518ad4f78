#if Engines
import Crypto
import Foundation
import Hummingbird
import NIOCore
import Synchronization

/// One version of an uploaded file.
///
/// The file on disk is removed when neither the store nor a download refers to it.
final class UploadedFile: Sendable {
    let path: String
    let size: Int
    let tag: EntityTag

    init(path: String, size: Int, tag: EntityTag) {
        (self.path, self.size, self.tag) = (path, size, tag)
    }

    deinit { unlink(path) }
}

/// The uploaded files by name; they are deleted when the server stops.
final class FileStore: Sendable {
    private struct State {
        var files: [String: UploadedFile] = [:]
        var count = 0
    }
    private let state = Mutex(State())
    private let folder: TemporaryFolder

    /// The maximum size of a file, in bytes.
    static let maximumSize = 64 << 20

    init(folder: TemporaryFolder) {
        self.folder = folder
    }

    static func isName(_ name: String) -> Bool {
        guard (1...100).contains(name.utf8.count), name.first != "." else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
            default: false
            }
        }
    }

    subscript(name: String) -> UploadedFile? { state.withLock { $0.files[name] } }

    /// Streams a request's body to disk; until the upload is complete, other readers see the previous file, if any.
    ///
    /// - Returns: The file, and whether its name is new.
    /// - Throws: A ``Failure`` if the file is too large or incomplete, or a `POSIXError` if it cannot be created.
    func put(_ name: String, from request: Request) async throws -> (file: UploadedFile, isNew: Bool) {
        let announced = request.headers[.contentLength].flatMap { Int($0) }
        if let announced, announced > Self.maximumSize { throw Failure.tooLargeFile }
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let path = "\(folder.path)/\(number)"
        do {
            let (size, tag) = try await Self.write(request.body, to: path)
            // A broken connection can look like the end of the body.
            if let announced, announced != size { throw Failure.incompleteFile }
            let file = UploadedFile(path: path, size: size, tag: tag)
            let old = state.withLock { $0.files.updateValue(file, forKey: name) }
            return (file, old == nil)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Writes a body to a new file and returns its size and entity tag.
    ///
    /// Writes block, because the chunks are small and go to the page cache, which is faster than switching threads.
    private static func write(_ body: RequestBody, to path: String) async throws -> (size: Int, tag: EntityTag) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var pieces = body.makeAsyncIterator()
        var hash = SHA256(), size = 0
        while true {
            let piece: ByteBuffer?
            do { piece = try await pieces.next() } catch { throw Failure.incompleteFile }
            guard let bytes = piece?.readableBytesView else { return (size, EntityTag(hash.finalize())) }
            size += bytes.count
            guard size <= maximumSize else { throw Failure.tooLargeFile }
            bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
            try file.write(contentsOf: Data(bytes))
        }
    }

    /// Removes a file and returns whether it existed.
    func remove(_ name: String) -> Bool {
        state.withLock { $0.files.removeValue(forKey: name) } != nil
    }
}

extension Failure {
    fileprivate static var incompleteFile: Failure {
        Failure(.badRequest, "file.incomplete", "The body ended before its announced length.")
    }

    fileprivate static var tooLargeFile: Failure {
        Failure(.contentTooLarge, "file.too-large", "A file has at most \(FileStore.maximumSize) bytes.")
    }
}
#endif
