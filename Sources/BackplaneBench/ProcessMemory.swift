import Foundation

/// How much memory a process has, as the kernel sums up its mappings.
enum ProcessMemory {
    /// In bytes, by the names that the system gives: `Rss`, `Pss`, `Private_Dirty`, …
    ///
    /// - Parameter process: its number, or `self`.
    static func figures(ofProcess process: String) throws -> [String: Double] {
        var figures: [String: Double] = [:]
        // `Rss:   12345 kB` and the like.
        for line in try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 3, words[2] == "kB", let number = Double(words[1]) { figures[String(words[0].dropLast())] = number * 1_024 }
        }
        return figures
    }

    /// What is this process's alone and would have to be written out, in bytes.
    static func privateDirty() throws -> Double {
        try figures(ofProcess: "self")["Private_Dirty"] ?? .nan
    }
}
