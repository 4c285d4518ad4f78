import Foundation
import Testing

/// Compares a text with a file; `RECORD_SNAPSHOTS=1` records it, and fails so that nobody forgets it there.
func expectRecorded(_ text: String, at path: String, _ location: SourceLocation = #_sourceLocation) throws {
    let recorded = try? String(contentsOfFile: path, encoding: .utf8)
    if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1", text != recorded {
        try Data(text.utf8).write(to: URL(filePath: path))
        Issue.record("recorded \(path)", sourceLocation: location)
    } else {
        #expect(text == recorded ?? "nothing is recorded; RECORD_SNAPSHOTS=1 does", sourceLocation: location)
    }
}
