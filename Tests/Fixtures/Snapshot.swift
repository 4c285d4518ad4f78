import Foundation
package import Testing

/// Compares a text with a recorded file in the folder `Snapshots` of the test target.
///
/// `RECORD_SNAPSHOTS=1` records the text, and fails so that the setting is not left in place.
package func expectSnapshot(_ text: String, _ name: String, _ location: SourceLocation = #_sourceLocation) throws {
    let file = Page.root.appending(path: "Tests/\(location.moduleName)/Snapshots/\(name).txt")
    if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1" {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        Issue.record("recorded \(name)", sourceLocation: location)
    } else {
        let recorded = try? String(contentsOf: file, encoding: .utf8)
        #expect(text == recorded ?? "nothing is recorded; RECORD_SNAPSHOTS=1 does", sourceLocation: location)
    }
}
