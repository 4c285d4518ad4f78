import Foundation
import TestFixtures
import Testing

/// Somebody who follows a page to the letter, in a folder with a checkout of this package and `backplane` in the PATH.
struct Reader {
    private let folder: URL
    /// Where hosts keep what is theirs.
    private let tool: Tool
    /// What commands have besides this process's.
    let environment: [String: String]

    /// - Parameter more: what the reader has in the environment besides.
    init(in packages: PackagesFolder, with tool: Tool, _ more: [String: String] = [:]) {
        (folder, self.tool) = (URL(filePath: packages.path), tool)
        environment = ["XDG_STATE_HOME": tool.folder + "/state", "XDG_RUNTIME_DIR": tool.folder].merging(
            packages.environment
        ) { $1 }.merging(more) { $1 }
    }

    /// Writes a block that is a file; one that is there as it should be keeps its date, and need not be built again.
    func write(_ block: Page.Block) throws {
        guard let path = block.file else { return }
        let file = folder.appending(path: path), text = Data(block.text.utf8)
        guard (try? Data(contentsOf: file)) != text else { return }
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file)
    }

    /// Runs lines of a shell and gives what they print on standard output, or, where they are to fail, on standard
    /// error.
    func run(_ lines: String, fails: Bool = false) throws -> String {
        let process = Process(), output = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-e", "-c", lines]
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        if fails { process.standardError = output } else { process.standardOutput = output }
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect((process.terminationStatus != 0) == fails, "\(lines)\(text)")
        return text
    }

    /// Does what the blocks say: `file=…` is written, `run` succeeds, `fails` does not, `output` is what was printed
    /// last.
    ///
    /// - Returns: everything that was printed, and how many outputs the page shows.
    @discardableResult
    func follow(_ blocks: some Sequence<Page.Block>) throws -> (printed: String, outputs: Int) {
        var printed = [""], outputs = 0
        for block in blocks {
            switch block.kind {
            case "run": printed.append(try run(block.text))
            case "fails": printed.append(try run(block.text, fails: true))
            case "output":
                #expect(printed.last?.hasSuffix(block.text) == true, "\(printed.last ?? "") is not\n\(block.text)")
                outputs += 1
            default: try write(block)
            }
        }
        return (printed.joined(), outputs)
    }
}
