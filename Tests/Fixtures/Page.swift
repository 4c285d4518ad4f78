package import Foundation

/// A page of the documentation as its reader follows it: files to write, commands to run, and the expected output.
package struct Page {
    /// A code block with an instruction after its language: `swift file=…`, `sh run`, `text output`.
    package struct Block {
        package var kind: Substring
        package var text: String

        /// The path to write the block to; `nil` if it is not a file.
        package var file: String? {
            kind.hasPrefix("file=") ? String(kind.dropFirst("file=".count)) : nil
        }
    }

    package let blocks: [Block]

    /// - Parameter path: The path relative to the root of the package.
    package init(_ path: String) throws {
        blocks = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
            .matches(of: /```\w+ ([^\n]+)\n([\s\S]*?)```/)
            .map { Block(kind: $0.output.1, text: String($0.output.2)) }
    }

    package static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL
}
