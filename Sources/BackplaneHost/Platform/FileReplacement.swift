import Glibc

/// Writes a file so that whoever reads it sees the old bytes or the new ones, whole, also after a crash.
enum FileReplacement {
    /// - Parameters:
    ///   - mode: the permissions of the new file.
    ///   - replaces: whether a file may be there; otherwise that is `EEXIST`.
    static func write(_ bytes: some Collection<UInt8>, to path: String, mode: UInt32, replaces: Bool) throws(SystemError) {
        let temporary = FilePath.join(FilePath.folder(of: path), ".backplane-" + String(UInt64.random(in: .min ... .max), radix: 36))
        let file = try FileDescriptor(opening: temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        do throws(SystemError) {
            let number = file.number
            try file.write(ArraySlice(bytes))
            try retryingInterrupted { fchmod(number, mode) }
            try retryingInterrupted { fsync(number) }
            // A link fails where a file is, without a moment between looking and taking the name.
            try retryingInterrupted { replaces ? rename(temporary, path) : link(temporary, path) }
            if !replaces { unlink(temporary) }
        } catch {
            unlink(temporary)
            throw error
        }
    }
}
