import Foundation

/// The memory use of a process, from the kernel's summary of its mappings.
enum ProcessMemory {
    /// Returns the figures in bytes, keyed by the kernel's names: `Rss`, `Pss`, `Private_Dirty` and others.
    ///
    /// - Parameter process: The process identifier, or `self`.
    static func figures(ofProcess process: String) throws -> [String: Double] {
        var figures: [String: Double] = [:]
        // The format is `Rss:   12345 kB`.
        for line in try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8).split(separator: "\n")
        {
            let words = line.split(separator: " ")
            if words.count == 3, words[2] == "kB", let number = Double(words[1]) {
                figures[String(words[0].dropLast())] = number * 1_024
            }
        }
        return figures
    }

    /// Returns the peak memory of a running process, in bytes, or `nil` if it is unknown.
    static func highest(ofProcess process: pid_t) -> Double? {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }.map { $0 * 1_024 }
    }

    /// Returns the size of the modified pages that only this process uses, in bytes.
    static func privateDirty() throws -> Double {
        try figures(ofProcess: "self")["Private_Dirty"] ?? .nan
    }
}
