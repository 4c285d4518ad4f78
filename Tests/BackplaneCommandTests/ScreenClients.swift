import Foundation
import TestFixtures
import Testing

/// A browser without a display that is signed in to the screens of a host in another process.
struct ScreenVisitor {
    /// A page, with what its script sends.
    struct Page {
        let text: String
        let token, window, screen: Substring

        fileprivate init(_ answer: String) throws {
            text = answer
            token = try #require(answer.firstMatch(of: #/data-token="([0-9a-f]+)"/#)).1
            window = try #require(answer.firstMatch(of: #/data-window="([0-9]+)"/#)).1
            screen = try #require(answer.firstMatch(of: #/name="screen" value="([0-9]+)"/#)).1
        }
    }
    private let port: UInt16
    private let cookie: Substring

    /// Signs in with the address that a command has printed.
    init(signingInAt address: some StringProtocol) throws {
        let pattern = #/http://127.0.0.1:([0-9]+)(/\?token=[0-9a-f]+)/#
        let parts = try #require(String(address).wholeMatch(of: pattern), "\(address)")
        port = try #require(UInt16(parts.1))
        let answer = try Self.send("GET \(parts.2)", at: port, "Connection: close").receive()
        cookie = try #require(answer.firstMatch(of: #/[Ss]et-[Cc]ookie: ([^;]+);/#), "\(answer)").1
    }

    /// Sends a request on a connection of its own.
    private static func send(
        _ request: String, at port: UInt16, _ fields: String..., body: String = ""
    ) throws -> RawClient {
        let client = try RawClient(port: port)
        let head = ["\(request) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + fields
        client.send(head.joined(separator: "\r\n"), "", body)
        return client
    }

    func page(_ path: String = "/") throws -> Page {
        let answer = try Self.send("GET \(path)", at: port, "Cookie: \(cookie)", "Connection: close").receive()
        try #require(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
        return try Page(answer)
    }

    /// Opens the stream of what the tab of a page shows, whose first message is all of it.
    func events(of page: Page) throws -> RawClient {
        let stream = try Self.send("GET /events?tab=a&window=\(page.window)", at: port, "Cookie: \(cookie)")
        let head = stream.receive(to: "\r\n\r\n")
        try #require(head.hasPrefix("HTTP/1.1 200 "), "\(head)")
        return stream
    }

    /// Presses a button, as the script of the tab does.
    func press(_ button: String, on page: Page) throws {
        let event = #"{"tab": "a", "kind": "press", "id": "\#(page.screen)/\#(button)"}"#
        let answer = try Self.send(
            "POST /event", at: port, "Cookie: \(cookie)", "X-Screen-Token: \(page.token)",
            "Content-Type: application/json", "Content-Length: \(event.utf8.count)", "Connection: close", body: event
        ).receive()
        #expect(answer.hasPrefix("HTTP/1.1 204 "), "\(answer)")
    }
}

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
