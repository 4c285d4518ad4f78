/// The output of SwiftPM for a Package.swift that it cannot read.
enum ManifestOutput {
    /// Returns the message of the compiler, of the manifest's program or else of SwiftPM itself, unchanged.
    static func lines(of printed: [String]) -> [String] {
        // A program that ends by a signal prints its reason before the registers.
        let said = printed.prefix { !$0.hasPrefix("*** ") }.filter { !isFrame($0) }
        let lines = said.drop { $0.isEmpty }.reversed().drop { $0.isEmpty }.reversed()
        return lines.isEmpty ? printed : Array(lines)
    }

    /// Returns whether a line only names the failed command and its folder, or reports that SwiftPM had to wait.
    private static func isFrame(_ line: String) -> Bool {
        line.hasPrefix("Another instance of SwiftPM")
            || line.wholeMatch(
                of: #/error: '.*': Invalid manifest \(compiled with: \[.*\]\)|error: invalid manifests at \[.*\]/#)
                != nil
    }
}
