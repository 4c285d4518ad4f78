import Foundation

/// Where this program is.
enum Program {
    /// The folder of the running executable, without symbolic links.
    static var folder: String {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(filePath: path).deletingLastPathComponent().path
    }
}
