#if Engines
import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHummingbird

// MARK: Screens

/// What the screens of the program have been told, and what they show: a service of the program.
final class Desk: Sendable {
    /// The events of the screen `desk`.
    let events = Recording<ViewEvent>()
    /// The gate that a press of `wait` passes.
    let gate = TestGate()
    /// The address of the image.
    let image = Mutex("")
    /// Text that the screen shows besides, with which `busy` makes a button busy; set it and let the screen redraw.
    let remark = Mutex("nothing")
    let agents = Recording<Agent>()
}

/// A screen of the program with a control of each kind.
actor DeskScreen: Screen {
    static let identifier = "desk"
    private let desk: Desk, agent: Agent
    private var notes: [String] = [], query = "", isUrgent = false

    init(_ desk: Desk, _ agent: Agent) { (self.desk, self.agent) = (desk, agent) }

    static func assemble(with input: Nothing, agent: Agent) async throws -> DeskScreen {
        let desk = try agent.resolve(service: Desk.self)
        desk.agents.add(agent)
        return DeskScreen(desk, agent)
    }

    var title: String { "Desk" }

    var body: [View] {
        let remark = desk.remark.withLock(\.self)
        Text(remark).id("remark")
        Field("Search", id: "query", value: query).live()
        Field("Note", id: "note")
        Toggle("Urgent", id: "urgent", isOn: isUrgent)
        Button("Add", id: "add")
        Button("Never", id: "never").disabled()
        Button("Wait", id: "wait")
        Button("Fill", id: "fill").busy(remark == "busy")
        List(notes, id: \.self) { note in
            Text(note)
            Field("Remark", id: "note")
            Button("Remove", id: "remove")
        }.id("notes")
        Link("Page 1", to: "page", ["number": 1])
        if !desk.image.withLock(\.isEmpty) { Image(desk.image.withLock(\.self), description: "A cover").id("image") }
    }

    func handle(_ event: ViewEvent) async throws {
        desk.events.add(event)
        switch event.id {
        case "add": notes.append(event.values["note"] ?? "")
        case "remove": notes.removeAll { $0 == event.row }
        case "query": query = event.value
        case "urgent": isUrgent = event.value == "true"
        case "fill": notes = (0..<500).map { "note \($0)" }
        case "wait": try await desk.gate.pass()
        default: break
        }
    }
}

/// A page with a number.
final class NumberedPage: Screen {
    struct Input: Codable, Sendable { var number: Int }
    static let identifier = "page"
    private let number: Int, agent: Agent

    init(_ number: Int, _ agent: Agent) { (self.number, self.agent) = (number, agent) }

    static func assemble(with input: Input, agent: Agent) async throws -> NumberedPage {
        guard input.number < 1_000 else { throw BackplaneError(.screenUnknown, "there are <1,000> pages") }
        return NumberedPage(input.number, agent)
    }

    var title: String { "Page \(number)" }

    var body: [View] {
        Text("This is page \(number)")
        Link("Next", to: "page", ["number": number + 1])
        Button("Leave", id: "leave")
    }

    func handle(_ event: ViewEvent) async throws { try await agent.dismiss() }
}

/// An application of the program whose windows begin with the screen `desk`.
final class DeskApp: AppManager, @unchecked Sendable {  // without variables of its own
    let desk = Desk()

    init(of host: PluginHost) throws(BackplaneError) {
        super.init(host)
        register(service: desk)
        try register(screen: DeskScreen.self)
        try register(screen: NumberedPage.self)
    }

    override func setup(in window: Window) async throws {
        window.setRoot(try await screen(for: "desk", in: window))
    }
}

// MARK: Browsers

/// A browser without a display: it keeps cookies, reads pages, and sends forms and what a script would send.
final class ScreenBrowser: Sendable {
    private let port: UInt16
    private let cookies = Mutex<[String: String]>([:])

    init(port: UInt16, cookies: [String: String] = [:]) {
        self.port = port
        self.cookies.withLock { $0 = cookies }
    }

    var allCookies: [String: String] { cookies.withLock(\.self) }

    /// Returns the browser as it loads a tab again: the script of the tab's page has named it in a cookie.
    func tab(_ name: String, of page: ScreenPageText) throws -> ScreenBrowser {
        let cookie = try #require(page.text.firstMatch(of: #/data-cookie="([^"]+)"/#)).1
        return ScreenBrowser(port: port, cookies: allCookies.merging([String(cookie): name]) { $1 })
    }

    /// Signs in with a new token.
    func signIn(to screens: WebScreens) async throws {
        let address = screens.signInAddress(at: "")
        let answer = try await get(address)
        #expect(answer.status == 303 && answer["location"] == "/")
    }

    /// The head of a request with the cookies.
    func head(_ method: String, _ path: String, _ fields: [String: String] = [:]) -> String {
        var fields = fields
        let pairs = allCookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        if !pairs.isEmpty { fields["Cookie"] = pairs.joined(separator: "; ") }
        if fields["Host"] == nil { fields["Host"] = "127.0.0.1:\(port)" }
        let lines = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        return "\(method) \(path) HTTP/1.1\r\n\(lines)\r\n"
    }

    /// Sends a request on a connection of its own, and keeps the cookies of the answer.
    func send(
        _ method: String, _ path: String, _ fields: [String: String] = [:], body: String = ""
    ) async throws -> ServerConnection.Answer {
        var fields = fields
        if !body.isEmpty { fields["Content-Length"] = "\(body.utf8.count)" }
        let bytes = Array((head(method, path, fields) + body).utf8)
        let answer = try await ServerConnection(port: port).wait { socket in
            socket.send(bytes)
            guard let answer = socket.answer(to: method) else { throw ServerConnection.NoAnswer() }
            return answer
        }
        if let pair = answer["set-cookie"]?.split(separator: ";").first?.split(separator: "=", maxSplits: 1) {
            cookies.withLock { $0[String(pair[0])] = String(pair[1]) }
        }
        return answer
    }

    func get(_ path: String, _ fields: [String: String] = [:]) async throws -> ServerConnection.Answer {
        try await send("GET", path, fields)
    }

    /// Reads a page.
    func page(_ path: String = "/") async throws -> ScreenPageText {
        let answer = try await get(path)
        #expect(answer.status == 200, "\(path): \(answer.text)")
        return try ScreenPageText(answer)
    }

    /// Sends a form, and reads the page to which the answer leads.
    func submit(_ page: ScreenPageText, _ fields: KeyValuePairs<String, String>) async throws -> ScreenPageText {
        let form = [("token", page.token), ("screen", "\(page.screen)")] + fields.map { ($0.key, $0.value) }
        let answer = try await post(form: form)
        #expect(answer.status == 303, "\(answer.text)")
        return try await self.page(try #require(answer["location"]))
    }

    func post(
        form fields: [(String, String)], _ headers: [String: String] = [:]
    ) async throws -> ServerConnection.Answer {
        func encoded(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)! }
        let form = fields.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
        let headers = headers.merging(["Content-Type": "application/x-www-form-urlencoded"]) { own, _ in own }
        return try await send("POST", "/event", headers, body: form)
    }

    /// Sends what a person has done, as the script of a tab does.
    func post(
        _ page: ScreenPageText, tab: String = "a", _ event: [String: String], values: [String: String] = [:],
        _ headers: [String: String] = [:]
    ) async throws -> ServerConnection.Answer {
        var object: [String: Any] = event
        (object["tab"], object["values"]) = (tab, values)
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        let headers = headers.merging(["Content-Type": "application/json", "X-Screen-Token": page.token]) { own, _ in
            own
        }
        return try await send("POST", "/event", headers, body: body)
    }

    /// Opens the stream of a tab, as the script of a page does.
    func events(of page: ScreenPageText, tab: String = "a", at address: String = "/") async throws -> ScreenEvents {
        let address = address.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
        let query = "tab=\(tab)&window=\(page.window)&revision=\(page.revision)&address=\(address)"
        return try await events(query)
    }

    /// Opens the stream of a tab, which the page shows then: what comes is changes of this page.
    func changes(of page: ScreenPageText, tab: String = "a", at address: String = "/") async throws -> ScreenEvents {
        let events = try await events(of: page, tab: tab, at: address)
        let first = try #require(try await events.next())
        #expect(first.revision == page.revision && first.content == nil)
        return events
    }

    func events(_ query: String) async throws -> ScreenEvents {
        let connection = try ServerConnection(port: port), bytes = Array(head("GET", "/events?\(query)").utf8)
        let head = try await connection.wait { socket in
            socket.send(bytes)
            guard let head = socket.head() else { throw ServerConnection.NoAnswer() }
            return head
        }
        #expect(head.status == 200)
        #expect(head["content-type"] == "text/event-stream" && head["cache-control"] == "no-store")
        return ScreenEvents(connection)
    }
}

/// A page as a browser receives it.
struct ScreenPageText: Sendable {
    let text: String
    let token: String, window: Int, revision: Int
    /// The number of the screen.
    let screen: Int

    init(_ answer: ServerConnection.Answer) throws {
        text = answer.text
        token = String(try #require(text.firstMatch(of: #/data-token="([0-9a-f]+)"/#)).1)
        window = try #require(text.firstMatch(of: #/data-window="([0-9]+)"/#).flatMap { Int($0.1) })
        revision = try #require(text.firstMatch(of: #/data-revision="([0-9]+)"/#).flatMap { Int($0.1) })
        screen = try #require(text.firstMatch(of: #/name="screen" value="([0-9]+)"/#).flatMap { Int($0.1) })
    }

    /// Returns the id of the element of a view.
    func id(_ key: String) -> String { "\(screen)/\(key)" }
}

/// The messages that a script receives.
final class ScreenEvents: Sendable {
    struct Message: Decodable, Sendable {
        struct Patch: Decodable, Sendable {
            var kind, id: String
            var html: String?
        }
        var revision: Int
        var address, title, content: String?
        var patches: [Patch]?
        var moves: Bool?

        /// All HTML of the message.
        var html: String { (content ?? "") + (patches ?? []).compactMap(\.html).joined() }
    }
    private let connection: ServerConnection
    private let rest = Mutex("")

    init(_ connection: ServerConnection) { self.connection = connection }

    /// Reads the next message; `nil` at the end of the stream.
    func next() async throws -> Message? {
        while true {
            let event = rest.withLock { rest -> String? in
                guard let end = rest.firstRange(of: "\n\n") else { return nil }
                defer { rest.removeSubrange(..<end.upperBound) }
                return String(rest[..<end.lowerBound])
            }
            guard let event else {
                guard let piece = try await connection.piece() else { return nil }
                rest.withLock { $0 += String(decoding: piece, as: UTF8.self) }
                continue
            }
            guard event.hasPrefix("data: ") else { continue }
            return try JSONDecoder().decode(Message.self, from: Data(event.dropFirst(6).utf8))
        }
    }

    /// Reads messages up to one that meets a condition.
    @discardableResult
    func first(where isWanted: (Message) -> Bool) async throws -> Message {
        while true {
            let message = try #require(try await next(), "the stream has ended")
            if isWanted(message) { return message }
        }
    }

    func close() async throws { try await connection.close() }
}

// MARK: Servers

extension WebScreens {
    /// Runs a server of an application's screens, and stops it when `body` has ended.
    static func running(
        _ app: AppManager, limit: Int = 200, isSecure: Bool = false, key: [UInt8]? = nil,
        _ body: (_ screens: WebScreens, _ port: UInt16, _ server: HostServer) async throws -> Void
    ) async throws {
        let screens = WebScreens(app, isSecure: isSecure, key: key, limit: limit)
        let server = HostServer(screens, ServerSettings(listen: "127.0.0.1:0"))
        let run = Task { try await server.run() }
        do {
            let address = try await server.listening()
            try await body(screens, try #require(address.split(separator: ":").last.flatMap { UInt16($0) }), server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
        try await run.value
    }
}

/// A host with the screens of the program, its server, and a browser that is signed in.
struct ShownDesk: Sendable {
    let host: TestHost
    let app: DeskApp
    let screens: WebScreens
    let server: HostServer
    let port: UInt16
    let browser: ScreenBrowser
    var desk: Desk { app.desk }

    static func run(limit: Int = 200, _ body: (ShownDesk) async throws -> Void) async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            let app = try DeskApp(of: host.host)
            try await WebScreens.running(app, limit: limit) { screens, port, server in
                let browser = ScreenBrowser(port: port)
                try await browser.signIn(to: screens)
                try await body(
                    ShownDesk(host: host, app: app, screens: screens, server: server, port: port, browser: browser))
            }
        }
    }

    /// Returns whether the screen of an agent is closed.
    func isClosed(_ agent: Agent) -> Bool {
        do throws(BackplaneError) {
            _ = try agent.resolve(service: Desk.self)
            return false
        } catch { return error.code == .screenClosed }
    }

    /// Returns another browser that is signed in.
    func otherBrowser() async throws -> ScreenBrowser {
        let browser = ScreenBrowser(port: port)
        try await browser.signIn(to: screens)
        return browser
    }
}
#endif
