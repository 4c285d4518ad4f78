import Foundation

/// A folder with source files.
enum SourceFolder {
    /// The Swift files in a folder and below it, by their paths from there.
    static func files(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }.sorted()
    }
}
