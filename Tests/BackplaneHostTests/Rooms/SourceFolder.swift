import Foundation

/// A folder with source files.
enum SourceFolder {
    /// The Swift files in a folder and below it, by their paths from there.
    static func files(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }.sorted()
    }

    /// Returns the number of lines of a type's declaration and extensions in a formatted source text, with their
    /// braces.
    static func linesOfType(_ name: String, in source: String) -> Int {
        var count = 0, isInside = false
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            if let words = line.wholeMatch(of: /(?:[a-z]+ )*(?:actor|class|struct|enum|extension) (\w+)\b.*\{/) {
                isInside = words.1 == name
            }
            if isInside { count += 1 }
            if line == "}" { isInside = false }
        }
        return count
    }
}
