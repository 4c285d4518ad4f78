package import BackplaneDocuments
import Foundation
import Glibc
package import Testing

/// A browser, headless Chromium, which a test controls over WebDriver (W3C) with chromedriver.
///
/// Tests are skipped if the browser is missing. The browser always ends with the test.
package final class WebBrowser: Sendable {
    /// The properties of the display that the browser simulates.
    package struct Settings: Sendable {
        /// The size of the window.
        let width: Int, height: Int
        /// The values of CSS media features, keyed by names such as `prefers-color-scheme`.
        let media: [String: String]

        package init(width: Int = 900, height: Int = 900, media: [String: String] = [:]) {
            (self.width, self.height, self.media) = (width, height, media)
        }
    }
    /// The error of a command that has failed in the browser.
    package struct Problem: Error, CustomStringConvertible {
        /// The code of WebDriver, such as `no such element`.
        package let code: String
        package let description: String
    }
    /// Keys that are not characters.
    package enum Key {
        package static let enter = "\u{E007}", escape = "\u{E00C}", left = "\u{E012}"
    }

    private static let program = "chromium-headless-shell"
    private static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    /// A Boolean value that indicates whether the browser is installed or required.
    package static let isThere = PeerServer.isThere("chromedriver", program, "python3")
    /// The comment of tests that are skipped without the browser.
    package static let isMissing: Comment = "chromedriver, chromium-headless-shell or python3 is not installed"

    private let port: UInt16
    /// The path of the browser at chromedriver.
    private let session: String

    private init(port: UInt16, session: String) { (self.port, self.session) = (port, session) }

    // MARK: Beginning and end

    /// Runs a browser while `body` runs.
    package static func run(
        _ settings: Settings = Settings(), _ body: (WebBrowser) async throws -> Void
    ) async throws {
        try await PeerServer.with(script) { server in
            guard let port = server.ports.first.flatMap({ UInt16($0) }) else {
                throw PeerServer.Missing(description: "chromedriver has not named its port")
            }
            let browser = try await start(at: port, settings)
            do {
                try await browser.emulate(settings)
                try await body(browser)
            } catch {
                await browser.end()
                throw error
            }
            await browser.end()
        }
    }

    /// A script that kills the processes that chromedriver leaves behind, and removes the folder into which they write.
    private static let script = """
        import re, shutil, subprocess, tempfile, threading
        folder = sys.argv[1]
        own = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="browser-")
        if prctl: prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
        driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            preexec_fn=end_with_starter)
        for line in driver.stdout:
            port = re.search(rb"started successfully on port (\\d+)", line)
            if port:
                threading.Thread(target=driver.stdout.read, daemon=True).start()
                with open(folder + "/ports.new", "wb") as file: file.write(port[1])
                os.rename(folder + "/ports.new", folder + "/ports")
                wait_for_end(folder)
                break
        driver.terminate()
        driver.wait()
        while True:
            with open("/proc/self/task/%d/children" % os.getpid()) as file: left = file.read().split()
            if not left: break
            for process in left: os.kill(int(process), signal.SIGKILL)
            os.wait()
        shutil.rmtree(own, ignore_errors=True)
        """

    private static func start(at port: UInt16, _ settings: Settings) async throws -> WebBrowser {
        var arguments: [DocumentValue] = [
            "--headless", "--disable-gpu", .string("--window-size=\(settings.width),\(settings.height)"),
        ]
        // Root cannot use Chromium's sandbox.
        if getuid() == 0 { arguments.append("--no-sandbox") }
        guard let path else { throw PeerServer.Missing(description: "\(program) is not installed") }
        let options: DocumentValue = ["binary": .string(path), "args": .array(arguments)]
        let wanted: DocumentValue = ["goog:chromeOptions": options, "goog:loggingPrefs": ["browser": "ALL"]]
        struct Session: Decodable, Sendable { var sessionId: String }
        let session = try await send(
            "POST", "/session", ["capabilities": ["alwaysMatch": wanted]], to: port, as: Session.self)
        return WebBrowser(port: port, session: "/session/\(session.sessionId)")
    }

    private func emulate(_ settings: Settings) async throws {
        guard !settings.media.isEmpty else { return }
        let features = settings.media.map { DocumentValue.dictionary(["name": .string($0), "value": .string($1)]) }
        try await devTools("Emulation.setEmulatedMedia", ["features": .array(features)])
    }

    /// Ends the browser, even if the test is cancelled.
    private func end() async {
        await Task { _ = try? await send("DELETE", "", as: DocumentValue.self) }.value
    }

    // MARK: Pages

    /// Opens an address, and returns once the page is loaded.
    package func open(_ address: String) async throws { try await post("/url", ["url": .string(address)]) }
    /// Goes back in the history.
    package func goBack() async throws { try await post("/back") }
    /// Goes forward in the history.
    package func goForward() async throws { try await post("/forward") }
    /// Loads the page again.
    package func reload() async throws { try await post("/refresh") }

    /// Returns the value of an expression in JavaScript.
    package func value<Value: Decodable & Sendable>(
        of expression: String, as _: Value.Type = Value.self
    ) async throws -> Value {
        try await send(
            "POST", "/execute/sync", ["script": .string("return \(expression)"), "args": []], as: Value.self)
    }

    /// Resizes pages, as turning a phone does.
    package func resize(width: Int64, height: Int64) async throws {
        let metrics: DocumentValue = [
            "width": .integer(width), "height": .integer(height), "deviceScaleFactor": 1, "mobile": false,
        ]
        try await devTools("Emulation.setDeviceMetricsOverride", metrics)
    }

    /// Waits until an expression in JavaScript is true.
    package func wait(for condition: String, _ location: SourceLocation = #_sourceLocation) async throws {
        try await eventually(location) { try await value(of: "Boolean(\(condition))") }
    }

    /// Returns the browser's reports about its pages: script errors, violations of their policy, and failed loads.
    package func complaints() async throws -> [String] {
        struct Entry: Decodable, Sendable { var level: String, message: String }
        let entries = try await send("POST", "/se/log", ["type": "browser"], as: [Entry].self)
        return entries.filter { ["SEVERE", "WARNING"].contains($0.level) }.map(\.message)
    }

    // MARK: Input

    /// Clicks the first element of a selector once it exists and is not covered.
    package func click(_ selector: String, _ location: SourceLocation = #_sourceLocation) async throws {
        let missing = [
            "no such element", "stale element reference", "element not interactable", "element click intercepted",
        ]
        try await eventually(location) {
            do {
                let found = try await send(
                    "POST", "/element", ["using": "css selector", "value": .string(selector)],
                    as: [String: String].self)
                for element in found.values { try await post("/element/\(element)/click") }
                return true
            } catch let problem as Problem where missing.contains(problem.code) {
                // A bar at an edge of the page may cover the element.
                if problem.code == "element click intercepted" { try await centre(selector) }
                return false
            }
        }
    }

    /// Scrolls the first element of a selector, if it exists, to the middle.
    private func centre(_ selector: String) async throws {
        let quoted = String(decoding: DocumentValue.string(selector).json, as: UTF8.self)
        let scroll = "document.querySelector(\(quoted))?.scrollIntoView({ block: 'center', behavior: 'instant' })"
        _ = try await value(of: "(\(scroll), true)", as: Bool.self)
    }

    /// Presses keys one after another in the focused element.
    package func type(_ keys: String) async throws {
        let actions = keys.flatMap { key in
            ["keyDown", "keyUp"].map { kind -> DocumentValue in
                ["type": .string(kind), "value": .string(String(key))]
            }
        }
        try await post(
            "/actions", ["actions": [["type": "key", "id": "keyboard", "actions": .array(actions)]]])
    }

    // MARK: Commands

    /// Sends a command of the DevTools protocol to the current tab.
    package func devTools(_ command: String, _ parameters: DocumentValue) async throws {
        try await post("/goog/cdp/execute", ["cmd": .string(command), "params": parameters])
    }

    private func post(_ path: String, _ body: DocumentValue = [:]) async throws {
        _ = try await send("POST", path, body, as: DocumentValue.self)
    }

    private func send<Value: Decodable & Sendable>(
        _ method: String, _ path: String, _ body: DocumentValue? = nil, as type: Value.Type
    ) async throws -> Value {
        try await Self.send(method, session + path, body, to: port, as: type)
    }

    private static func send<Value: Decodable & Sendable>(
        _ method: String, _ path: String, _ body: DocumentValue? = nil, to port: UInt16, as _: Value.Type
    ) async throws -> Value {
        let content = body.map { String(decoding: $0.json, as: UTF8.self) } ?? ""
        // On a separate thread, because the tested server needs the threads of Swift's pool.
        let (head, answer) = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let client = try RawClient(port: port)
                        client.send(
                            "\(method) \(path) HTTP/1.1", "Host: localhost", "Content-Type: application/json",
                            "Content-Length: \(content.utf8.count)", "", content)
                        let head = client.receive(to: "\r\n\r\n")
                        let length = head.firstMatch(of: /Content-Length: *([0-9]+)/).flatMap { Int($0.1) }
                        return (head, client.receive(count: length ?? 0))
                    })
            }
        }
        guard head.hasPrefix("HTTP/1.1 200 ") else {
            let failure = try JSONDecoder().decode(Answer<Failure>.self, from: Data(answer.utf8)).value
            throw Problem(code: failure.error, description: "\(failure.error): \(failure.message)")
        }
        return try JSONDecoder().decode(Answer<Value>.self, from: Data(answer.utf8)).value
    }

    private struct Answer<Value: Decodable>: Decodable { var value: Value }
    private struct Failure: Decodable { var error: String, message: String }
}
