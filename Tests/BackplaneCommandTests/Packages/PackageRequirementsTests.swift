import Foundation
import TestFixtures
import Testing

/// What this package asks of others, since a program with engines has to agree with it.
struct PackageRequirementsTests {
    @Test func `packages are required by ranges that end at a major version`() throws {
        let text = try String(contentsOf: Page.root.appending(path: "Package.swift"), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { $0.contains(".package(url:") }
        #expect(lines.count >= 9)
        for line in lines {
            #expect(
                line.contains(/, from: "\d+\.\d+\.\d+"/) || line.contains(/, "\d+\.\d+\.\d+"\.\.<"\d+\.0\.0"/),
                "\(line)")
        }
    }
}
