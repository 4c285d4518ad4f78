import Backplane
import BackplaneNetwork
import Glibc

/// The path of a download's target, and those of its part next to it.
struct TargetPath: Sendable {
    static let mark = ".backplane-part-", recordMark = ".record"
    /// The folder with its trailing slash; empty for the current one.
    let folder: Substring
    let name: Substring

    /// Creates the path; returns `nil` if it cannot be the path of a file.
    init?(_ path: String) {
        let start = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
        (folder, name) = (path[..<start], path[start...])
        guard !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0) else { return nil }
    }

    /// The path of the part, whose name has a fixed length because the target's name may have the maximum length.
    var part: String { "\(folder)\(Self.mark)\(PartSum.of(String(name)).digits)" }

    /// Returns the size of the file at a path, or `nil` if there is none.
    static func size(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Returns the path with a number before the extension.
    func numbered(_ number: Int) -> String {
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        return "\(folder)\(name[..<dot])-\(number)\(name[dot...])"
    }

    /// Moves a file to its target, where it appears atomically.
    ///
    /// - Returns: The final path; `nil` if an existing file is kept.
    static func move(_ path: String, to target: String, _ policy: ExistingFile) throws(BackplaneError) -> String? {
        guard let place = TargetPath(target) else { throw .unwritable(target) }
        defer { place.syncFolder() }
        switch policy {
        case .replace:
            guard rename(path, target) == 0 else { throw .unwritable(target) }
            return target
        case .keep: return try moveWithoutReplacing(path, target) ? target : nil
        case .number:
            if try moveWithoutReplacing(path, target) { return target }
            for number in 2...mostNumbers {
                let numbered = place.numbered(number)
                if try moveWithoutReplacing(path, numbered) { return numbered }
            }
            throw BackplaneError(
                .networkFile, "there are \(mostNumbers) numbered files with this name; remove some",
                at: target)
        }
    }

    /// The highest number in a file name, which limits the search for a free name.
    private static let mostNumbers = 10_000

    /// Moves a file unless the target exists, and returns whether it was moved.
    private static func moveWithoutReplacing(_ path: String, _ target: String) throws(BackplaneError) -> Bool {
        if link(path, target) == 0 {
            unlink(path)
            return true
        }
        if errno == EEXIST { return false }
        // Some file systems have no second names for files.
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw .unwritable(target) }
        if access(target, F_OK) == 0 { return false }
        guard rename(path, target) == 0 else { throw .unwritable(target) }
        return true
    }

    /// Waits until the folder's entries are on the disk; a failure is ignored, because the loss of the move in a power
    /// failure is harmless.
    private func syncFolder() {
        let number = open(folder.isEmpty ? "." : String(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return }
        fsync(number)
        close(number)
    }
}

extension BackplaneError {
    /// Returns the error of the last system call that wrote, moved or read a file of a download.
    static func unwritable(_ target: String) -> BackplaneError {
        BackplaneError(
            .networkFile, "the download cannot be written to this file: \(String(cString: strerror(errno)))", at: target
        )
    }
}
