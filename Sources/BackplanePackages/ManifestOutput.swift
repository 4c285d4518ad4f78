/// What SwiftPM prints of a Package.swift that it cannot read, taken apart.
enum ManifestOutput {
    /// What the compiler says of it, or its program, or else SwiftPM itself, as it was printed.
    static func lines(of printed: [String]) -> [String] {
        // A program that ends by a signal has said why before its registers are listed.
        let said = printed.prefix { !$0.hasPrefix("*** ") }.filter { !isFrame($0) }
        let lines = said.drop { $0.isEmpty }.reversed().drop { $0.isEmpty }.reversed()
        return lines.isEmpty ? printed : Array(lines)
    }

    /// Which command has failed, and in which folder; and that it had to wait.
    private static func isFrame(_ line: String) -> Bool {
        line.hasPrefix("Another instance of SwiftPM") || line.wholeMatch(of: #/error: '.*': Invalid manifest \(compiled with: \[.*\]\)|error: invalid manifests at \[.*\]/#) != nil
    }
}
