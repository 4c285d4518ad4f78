#if Engines
import Backplane
import BackplaneStorage
import Foundation
import Glibc
import GRDB

extension BackplaneError {
    /// What SQLite said, without the values of the statement, which are nobody's business in a log.
    static func unusable(_ error: any Error, at path: String) -> BackplaneError {
        if error is CancellationError { return BackplaneError(.callCancelled, "the call was cancelled") }
        if let error = error as? BackplaneError { return error }
        guard let error = error as? DatabaseError else {
            return BackplaneError(.storeUnusable, "the store's file cannot be used: \(error)", at: path)
        }
        if let reason = obstacle(at: path, full: error.resultCode == .SQLITE_FULL) {
            return BackplaneError(.storeUnusable, reason, at: path)
        }
        let text = "\(error.message ?? "no reason given") (SQLite \(error.extendedResultCode.rawValue))"
        return BackplaneError(.storeUnusable, "the store's file cannot be used: \(text)", at: path)
    }

    /// - Parameter number: the system's number of an error.
    static func unusableFile(_ number: Int32, at path: String) -> BackplaneError {
        let reason =
            obstacle(at: path, full: number == ENOSPC || number == EDQUOT)
            ?? "the store's file cannot be used: \(String(cString: strerror(number)))"
        return BackplaneError(.storeUnusable, reason, at: path)
    }

    /// What keeps the file from being written, where the system tells: SQLite often gives a code of what it was doing at the time.
    private static func obstacle(at path: String, full: Bool) -> String? {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        var system = statvfs()
        let isKnown = statvfs(folder, &system) == 0
        let free = isKnown ? UInt64(system.f_bavail) * UInt64(system.f_frsize) : 0
        if full || (isKnown && free == 0) {
            return
                "the disk is full: \(free) bytes are free in \(folder), but the store needs more to write; free some space"
        }
        if isKnown && Int32(system.f_flag) & Int32(ST_RDONLY) != 0 {
            return "the file system of \(folder) is read-only; give the host a writable data folder"
        }
        if access(folder, F_OK) != 0 { return nil }
        if access(folder, W_OK) != 0 {
            return
                "this user (\(geteuid())) may not write to the folder \(folder); change its permissions, or give the host another data folder"
        }
        if access(path, F_OK) == 0 && access(path, W_OK) != 0 {
            return "this user (\(geteuid())) may not write to the store; change its permissions"
        }
        return nil
    }
}
#endif
