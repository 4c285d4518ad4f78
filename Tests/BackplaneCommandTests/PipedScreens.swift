import Foundation
import TestFixtures
import Testing

/// `backplane run --terminal` through pipes, and the person who reads and writes there.
final class PipedScreens: Sendable {
    let process: RunningTool
    /// The input, which does not end before this object does.
    private let input: FileHandle

    /// - Parameter reader: A command of the shell that reads the output in place of this object. How `backplane` ends
    ///   is then written to standard error.
    init(_ manifest: String, _ options: String..., reader: String? = nil, with tool: Tool) throws {
        let path = tool.folder + "/typed"
        try #require(mkfifo(path, 0o600) == 0)
        // For both, so that nobody waits for the other side.
        let file = open(path, O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        input = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        let program = BuiltProducts.folder + "/backplane"
        let words = ["run", manifest, "--terminal"] + options + ["--data", tool.data, "--load-folder", tool.loads]
        let shell = reader.map { ["-c", #"{ "$@"; echo "over, $?" >&2; } | "# + $0, "sh", program] }
        process = try RunningTool(
            (shell ?? []) + words, of: shell == nil ? program : "/bin/sh", input: path,
            environment: ["XDG_RUNTIME_DIR": tool.folder])
    }

    func type(_ line: String) throws { try input.write(contentsOf: Data("\(line)\n".utf8)) }

    /// Waits for something with a number before it, and writes the number.
    func choose(_ label: String) async throws {
        try #require(await process.says(") \(label)"), "\(process.output)\(process.errors)")
        let text = process.output, end = try #require(text.ranges(of: ") \(label)").last).lowerBound
        try type(String(try #require(text[..<end].split { !$0.isNumber }.last)))
    }
}
