import Foundation

/// The location of the running program.
enum Program {
    /// The folder of the running executable, with symbolic links resolved.
    static var folder: String {
        let path =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(filePath: path).deletingLastPathComponent().path
    }
}
