#if Engines
import Backplane
import BackplaneStorage
import Foundation
import Glibc
import GRDB

extension BackplaneError {
    /// Converts an error of SQLite, without the values of the statement, which do not belong in a log.
    ///
    /// Errors of Backplane are returned unchanged.
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

    /// Returns the error for a file that the system refuses to open.
    ///
    /// - Parameter number: The system's error number.
    static func unusableFile(_ number: Int32, at path: String) -> BackplaneError {
        let reason =
            obstacle(at: path, full: number == ENOSPC || number == EDQUOT)
            ?? "the store's file cannot be used: \(String(cString: strerror(number)))"
        return BackplaneError(.storeUnusable, reason, at: path)
    }

    /// Returns the reason why the file cannot be written, if the system reports one.
    ///
    /// SQLite's own code often only indicates which operation failed.
    ///
    /// - Parameter full: Whether SQLite has reported a full disk.
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
