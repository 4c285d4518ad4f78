import Glibc

/// The program that this process runs.
package enum RunningExecutable {
    /// The folder that contains the program, with all links resolved; `nil` if `/proc` is not mounted.
    ///
    /// For a program that was deleted or replaced while it runs, this is the folder that contained it.
    package static var folder: String? {
        var text = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = text.withUnsafeMutableBytes { buffer in
            readlink("/proc/self/exe", buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        guard count > 0 else { return nil }
        return FilePath.folder(of: String(decoding: text[..<count], as: UTF8.self))
    }
}
