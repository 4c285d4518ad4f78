import Backplane
import BackplaneScreens
import Testing

@Suite(.timeLimit(.minutes(5)))
struct `Elements are data` {
    private struct Book: Identifiable {
        var id: String, title: String
    }
    private let books = [Book(id: "7", title: "Moby-Dick"), Book(id: "9", title: "Walden")]

    private func body(@ViewBuilder _ views: () -> [View]) -> [View] { views() }

    private func json(_ element: some ViewElement) throws -> String {
        String(decoding: try JSON.encodeSorted(element.view, failing: .callInvalidOutput), as: UTF8.self)
    }

    private func decoded(_ json: String) throws -> View {
        try JSON.decode(View.self, Array(json.utf8), failing: .callInvalidInput)
    }

    @Test(arguments: [true, false])
    func `a body has conditions, loops and parts`(isLong: Bool) {
        let parts = [View(.text, text: "part")]
        let body = body {
            Heading("Books")
            if isLong { Text("long") }
            if isLong { Text("a") } else { Text("b") }
            switch books.count {
            case 2: Text("two")
            default: Text("others")
            }
            for book in books { Text(book.title) }
            parts
            Text("view").view
        }
        let expected = ["Books"] + (isLong ? ["long", "a"] : ["b"])
        #expect(body.map(\.text) == expected + ["two", "Moby-Dick", "Walden", "part", "view"])
        #expect(self.body {}.isEmpty)
    }

    @Test func `a view is an object of the members that are set`() throws {
        #expect(try json(Text("Hello")) == #"{"kind":"text","text":"Hello"}"#)
        #expect(try json(Heading("Books", level: 2)) == #"{"kind":"heading","level":2,"text":"Books"}"#)
        #expect(
            try json(Button("Borrow", id: "borrow").style(.strong).busy().disabled())
                == #"{"id":"borrow","isBusy":true,"isDisabled":true,"kind":"button","style":"strong","text":"Borrow"}"#)
        #expect(
            try json(Field("Title", id: "title", value: "W", prompt: "Any", content: .search).live().problem("short"))
                == #"{"content":"search","id":"title","isLive":true,"kind":"field","problem":"short","prompt":"Any","#
                + #""text":"Title","value":"W"}"#)
        #expect(
            try json(Toggle("New", id: "new", isOn: false))
                == #"{"id":"new","kind":"toggle","text":"New","value":"false"}"#)
        #expect(
            try json(ProgressBar("Loading", fraction: 0.5)) == #"{"fraction":0.5,"kind":"progress","text":"Loading"}"#)
        #expect(try json(ProgressBar()) == #"{"kind":"progress"}"#)
        let choice = Choice(
            "Sort", id: "sort", value: "t", options: [View.Option("t", "By title"), View.Option("year")])
        #expect(
            try json(choice)
                == #"{"id":"sort","kind":"choice","options":[{"title":"By title","value":"t"},"#
                + #"{"title":"year","value":"year"}],"text":"Sort","value":"t"}"#)
    }

    @Test func `a view with all members comes back from JSON`() throws {
        for kind in View.Kind.allCases {
            var view = View(kind, id: "id", text: "text", children: [Text("child").view, Column { Text("deep") }.view])
            (view.value, view.prompt, view.problem, view.address) = (
                "value", "prompt", "problem", "https://example.org/ä"
            )
            (view.level, view.style, view.content, view.fraction) = (3, .critical, .secret, 0.25)
            (view.isLive, view.isDisabled, view.isBusy) = (true, true, true)
            view.options = [View.Option("a", "A")]
            view.destination = try Destination("books.book", ["book": "7"])
            #expect(try decoded(json(view)) == view)
            #expect(try decoded(json(View(kind))) == View(kind))
        }
    }

    @Test func `JSON without a kind, or of an unknown kind, is no view`() throws {
        for json in [#"{}"#, #"{"kind":"window"}"#, #"{"kind":"row","children":[{"text":"x"}]}"#, "[]"] {
            #expect(throws: BackplaneError.self) { try decoded(json) }
        }
    }

    @Test func `the rows of a list have the keys of its items`() {
        let list = List(books, id: \.id) { book in
            Text(book.title)
            Button("Borrow", id: "borrow")
        }
        #expect(list.view.children.map(\.id) == ["7", "9"])
        #expect(list.view.children.map(\.kind) == [.row, .row])
        #expect(list.view.children[1].children.map(\.text) == ["Walden", "Borrow"])
        // A row of one view is that view, unless it has an id of its own.
        #expect(List(books) { Text($0.title) }.view.children.map(\.kind) == [.text, .text])
        let buttons = List([1, 2], id: \.self) { Button("\($0)", id: "press") }
        #expect(buttons.view.children.map(\.id) == ["1", "2"])
        #expect(buttons.view.children.map(\.children.first?.id) == ["press", "press"])
        #expect(List { Text("a").id("x") }.view.children.map(\.id) == ["x"])
    }

    @Test func `a table has columns and records`() {
        let table = Table(["Title", "Length"]) {
            for book in books {
                Record(id: book.id) {
                    Text(book.title)
                    Text("\(book.title.count)")
                }
            }
        }
        #expect(table.view.options.map(\.title) == ["Title", "Length"])
        #expect(table.view.children.map(\.id) == ["7", "9"])
        #expect(table.view.children.map(\.children.count) == [2, 2])
    }

    @Test func `layouts contain views, and an overlay begins with what is in front`() {
        let overlay = Overlay {
            ProgressBar("Loading")
        } over: {
            Section("Books") { Row { Text("a") } }
            Image("https://example.org/cover", description: "A whale")
        }
        let children = overlay.view.children
        #expect(children.map(\.kind) == [.column, .section, .image])
        #expect(children[0].children.map(\.kind) == [.progress])
        #expect(children[1].text == "Books")
        #expect(children[1].children.map(\.kind) == [.row])
        #expect(children[2].text == "A whale")
        #expect(children[2].address == "https://example.org/cover")
    }

    @Test func `a link leads to a screen or an address`() throws {
        let destination = try Destination("books.book", ["book": "7"])
        #expect(try Destination(BookPage.self, BookPage.Input(book: "7")) == destination)
        #expect(Link("Moby-Dick", to: BookPage.self, BookPage.Input(book: "7")).view.destination == destination)
        #expect(Link("Moby-Dick", to: "books.book", ["book": "7"]).view.destination == destination)
        #expect(Link("Moby-Dick", to: destination).view.destination == destination)
        #expect(Link("Books", to: "books.list").view.destination?.input == "null")
        let external = Link("Library", address: "https://example.org/").view
        #expect(external.destination == nil)
        #expect(external.address == "https://example.org/")
    }

    @Test func `a link whose input is not JSON is disabled, and says why`() {
        let link = Link("Broken", to: "books.book", ["size": Double.nan]).view
        #expect(link.isDisabled)
        #expect(link.destination == nil)
        #expect(!link.problem.isEmpty)
    }
}

private final class BookPage: Screen {
    struct Input: Codable, Sendable {
        var book: String
    }
    static let identifier = "books.book"

    init() {}

    static func assemble(with input: Input, agent: Agent) async throws -> BookPage { BookPage() }

    var body: [View] { [] }
}

@Suite(.timeLimit(.minutes(5)))
struct `Views are found by their keys` {
    @ViewBuilder private var body: [View] {
        Heading("Books")
        Field("Filter", id: "filter")
        List(["7", "a/b c"], id: \.self) { book in
            Text(book)
            Button("Borrow", id: "borrow")
            List([1, 2], id: \.self) { Toggle("\($0)", id: "read", isOn: true) }
        }.id("books")
        Table(["Title"]) { Record(id: "r") { Button("Sort", id: "sort") } }
        Choice("Sort", id: "sort", value: "t", options: [View.Option("t"), View.Option("y")])
        Row { Text("plain") }
    }

    /// Returns all keys, in the order of the views.
    private func keys(_ views: [View], under parent: ViewKey? = nil) -> [ViewKey] {
        ViewKey.children(views, under: parent).flatMap { view, key in [key] + keys(view.children, under: key) }
    }

    @Test func `a key is the path of ids and places`() {
        #expect(
            keys(body).map(\.rawValue) == [
                ":0", "filter", "books", "books/7", "books/7/:0", "books/7/borrow", "books/7/:2", "books/7/:2/1",
                "books/7/:2/1/read", "books/7/:2/2", "books/7/:2/2/read", "books/a%2Fb%20c", "books/a%2Fb%20c/:0",
                "books/a%2Fb%20c/borrow", "books/a%2Fb%20c/:2", "books/a%2Fb%20c/:2/1", "books/a%2Fb%20c/:2/1/read",
                "books/a%2Fb%20c/:2/2", "books/a%2Fb%20c/:2/2/read", ":3", ":3/r", ":3/r/sort", "sort", ":5", ":5/:0",
            ])
    }

    @Test func `two views have different keys, whatever their ids are`() {
        let ids = [
            "", ":0", ":1", "%3A0", "a/b", "a", "a%2Fb", "b", "/", "%", " ", "ä", "a\u{301}", "\n", "<b>", "\"", "🐋",
        ]
        let children = ids.map { Text($0).id($0) }
        let views = ids.map { View(.column, id: $0, children: children) }
        let keys = keys(views)
        #expect(Set(keys).count == ids.count * (ids.count + 1))
        for key in keys {
            #expect(key.rawValue.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"<>\"'&".utf8.contains($0) })
        }
        for (view, key) in ViewKey.children(views) { #expect(views.find(key)?.view == view) }
    }

    @Test func `a view is found with the rows that contain it`() throws {
        let body = body
        for key in keys(body) { #expect(body.find(key) != nil, "\(key)") }
        let inner = try #require(body.find(ViewKey(rawValue: "books/a%2Fb%20c/:2/2/read")))
        #expect(inner.view.text == "2")
        #expect(inner.rows == ["a/b c", "2"])
        #expect(body.find(ViewKey(rawValue: ":3/r/sort"))?.rows == ["r"])
        #expect(body.find(ViewKey(rawValue: "sort"))?.rows == [])
        let unnamed = [View(.list, children: [Text("a").view, Text("b").view])]
        #expect(unnamed.find(ViewKey(rawValue: ":0/:1"))?.rows == ["1"])
    }

    @Test(arguments: [
        "", "/", ":9", ":", ":x", ":-1", ":1", "books/8", "books//7", "books/7/", "/books", "books/a/b c",
        "books/a%2fb%20c", "filter/:0", ":0\u{301}", String(repeating: ":0/", count: 10_000),
    ])
    func `no other key is found`(key: String) {
        #expect(body.find(ViewKey(rawValue: key)) == nil)
    }

    @Test func `a view has the events of its kind`() throws {
        let body = body
        func event(_ key: String, _ kind: ViewEvent.Kind, _ value: String = "") throws -> ViewEvent? {
            try #require(body.find(ViewKey(rawValue: key))).event(kind, value: value, values: ["filter": "f"])
        }
        #expect(
            try event("books/7/borrow", .press)
                == ViewEvent(.press, "borrow", rows: ["7"], values: ["filter": "f"]))
        #expect(try event("books/7/borrow", .change) == nil)
        #expect(try event("filter", .change, "w")?.value == "w")
        #expect(try event("filter", .submit, "w")?.kind == .submit)
        #expect(try event("filter", .press) == nil)
        #expect(try event("sort", .change, "y")?.value == "y")
        #expect(try event("sort", .change, "z") == nil)
        #expect(try event("books/7/:2/1/read", .change, "false")?.row == "1")
        #expect(try event("books/7/:2/1/read", .change, "on") == nil)
        #expect(try event(":0", .press) == nil)
    }

    @Test func `a disabled view has no events, and neither has a busy button`() {
        let views = [Button("Borrow", id: "borrow").disabled(), Button("Return", id: "return").busy()]
        #expect(views.map { [$0].find(ViewKey(rawValue: $0.id))?.event(.press) } == [nil, nil])
    }

    @Test func `all views of a body are found in their order, with their keys and rows`() {
        let body = body, all = Array(body.allFound)
        #expect(all.map(\.key) == keys(body))
        for view in all { #expect(body.find(view.key) == view) }
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `What a screen shows is checked` {
    private func error(title: String = "", @ViewBuilder _ views: () -> [View]) -> BackplaneError? {
        do throws(BackplaneError) { try ViewLimits.check(views(), title: title) } catch { return error }
        return nil
    }

    private func nested(_ depth: Int) -> View {
        (1..<depth).reduce(Text("deep").view) { view, _ in View(.column, children: [view]) }
    }

    @Test func `a body within the limits is valid`() {
        #expect(error {} == nil)
        #expect(error { for number in 0..<ViewLimits.count { Text("\(number)") } } == nil)
        #expect(error { nested(ViewLimits.depth) } == nil)
        #expect(error { Text(String(repeating: "x", count: ViewLimits.bytes)) } == nil)
        #expect(error { for fraction in [0, 0.5, 1] { ProgressBar(fraction: fraction) } } == nil)
        // One id in different rows.
        #expect(error { List([1, 2], id: \.self) { Button("\($0)", id: "press").disabled() } } == nil)
    }

    @Test func `a body beyond the limits is refused`() {
        #expect(error { for number in 0...ViewLimits.count { Text("\(number)") } }?.code == .screenInvalidView)
        let deep = error { nested(ViewLimits.depth + 1) }
        #expect(deep?.message == "views are more than 64 deep")
        #expect(deep?.location == Array(repeating: ":0", count: ViewLimits.depth).joined(separator: "/"))
        let long = String(repeating: "ä", count: ViewLimits.bytes / 2)
        #expect(error { Text(long) } == nil)
        #expect(error { Text(long).id("x") }?.location == "x")
        #expect(error(title: "x") { Text(long) }?.code == .screenInvalidView)
        #expect(error { Link(long, address: "x") }?.code == .screenInvalidView)
        #expect(error { Choice("", id: "c", value: "", options: [View.Option(long)]) }?.code == .screenInvalidView)
        #expect(error { Link("", to: "x", long) }?.code == .screenInvalidView)
    }

    @Test func `neighbours with one id are named`() {
        let error = error {
            Section("Books") {
                Text("a").id("x")
                Text("b").id("y")
                Text("c").id("x")
            }.id("books")
        }
        #expect(error?.code == .screenInvalidView)
        #expect(error?.message == "two views beside each other have the id `x`")
        #expect(error?.location == "books/x")
    }

    @Test(arguments: [-0.1, 1.1, Double.nan, Double.infinity])
    func `a fraction is from 0 to 1`(fraction: Double) {
        let error = error { Row { ProgressBar(fraction: fraction) } }
        #expect(error?.message == "a fraction must be from 0 to 1, but is \(fraction)")
        #expect(error?.location == ":0/:0")
    }

    @Test(arguments: [(0, false), (1, true), (3, true), (4, false)])
    func `a heading has the level 1, 2 or 3`(level: Int, isValid: Bool) {
        #expect((error { Heading("Books", level: level) } == nil) == isValid)
    }

    @Test func `a table consists of records with a cell for each column`() {
        let record = Record(id: "7") { Text("Moby-Dick") }
        #expect(error { Table(["Title"]) { record } } == nil)
        #expect(error { Table(["Title", "Year"]) { record } }?.location == ":0/7")
        #expect(error { Table(["Title"]) { Button("Borrow", id: "borrow") } }?.location == ":0/borrow")
        #expect(error { List { record } }?.message == "a record must be in a table")
    }

    @Test func `a control has an id`() {
        let controls: [any ViewElement] = [
            Button("", id: ""), Field("", id: ""), Toggle("", id: "", isOn: true),
            Choice("", id: "", value: "", options: []),
        ]
        for control in controls {
            #expect(error { control.view }?.code == .screenInvalidView)
            #expect(error { control.id("x") } == nil)
        }
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `Tables of screens` {
    private func table(_ define: (inout ScreenTable) -> Void) -> ScreenTable {
        var table = ScreenTable()
        define(&table)
        return table
    }

    @Test func `a screen has its own identifier, or another one`() {
        let table = table {
            $0.add(Lamp.self)
            $0.add(Lamp.self, as: "lamp.red")
        }
        #expect(table.entries.map(\.identifier) == ["lamp", "lamp.red"])
        #expect(table.problems.isEmpty)
        #expect(table["lamp.red"] != nil)
        #expect(table["lamp.blue"] == nil)
    }

    @Test func `the second screen with an identifier is a problem`() {
        let table = table {
            $0.add(Lamp.self)
            $0.add(Lamp.self)
        }
        #expect(table.entries.count == 1)
        #expect(table.problems == ["two screens have the identifier `lamp`"])
    }

    @Test(arguments: ["", "a b", "a/b", "a\n", String(repeating: "x", count: 201)])
    func `a text that is no identifier is a problem`(identifier: String) {
        let table = table { $0.add(Lamp.self, as: identifier) }
        #expect(table.entries.isEmpty)
        #expect(table.problems.count == 1)
    }

    @Test func `a class lists its screens and their mistakes`() throws {
        let json = try #require(LampScreens.annotation)
        #expect(
            json == #"{"problems":["two screens have the identifier `lamp`"],"screens":[{"identifier":"lamp"}]}"#)
        let annotation = try ScreenAnnotation(json: json)
        #expect(annotation.screens.map(\.identifier) == ["lamp"])
        #expect(annotation.problems?.count == 1)
        let sound = ScreenAnnotation(of: table { $0.add(Lamp.self) })
        #expect(sound.json == #"{"screens":[{"identifier":"lamp"}]}"#)
        let dimmed = ScreenAnnotation(of: table { $0.add(DimmedLamp.self) })
        #expect(try ScreenAnnotation(json: #require(dimmed.json)).screens.first?.input?.hasPrefix("state: ") == true)
        #expect(throws: BackplaneError.self) { try ScreenAnnotation(json: #"{"routes":[]}"#) }
    }
}

private final class LampScreens: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) {
        table.add(Lamp.self)
        table.add(Lamp.self)
    }
}

private final class Lamp: Screen {
    static let identifier = "lamp"

    init() {}

    static func assemble(with input: Nothing, agent: Agent) async throws -> Lamp { Lamp() }

    var body: [View] { Text("A lamp") }
}

private final class DimmedLamp: Screen {
    struct Input: Codable, Sendable {
        var brightness: Int
    }
    static let identifier = "lamp.dimmed"

    static func assemble(with input: Input, agent: Agent) async throws -> DimmedLamp { DimmedLamp() }

    var body: [View] { Text("A lamp") }
}

@Suite(.timeLimit(.minutes(5)))
struct `Flows decide from data` {
    @Test func `a decision is an object of its parts`() throws {
        let destination = try Destination("books.book", ["book": "7"])
        let decisions: [(FlowDecision, String)] = [
            (.none, #"{"action":"none"}"#), (.pop, #"{"action":"pop"}"#), (.popToRoot, #"{"action":"popToRoot"}"#),
            (.push(), #"{"action":"push"}"#), (.present(), #"{"action":"present"}"#),
            (.select(1), #"{"action":"select","tab":1}"#),
            (
                .replace(destination),
                #"{"action":"replace","destination":{"input":"{\"book\":\"7\"}","screen":"books.book"}}"#
            ),
        ]
        for (decision, json) in decisions {
            #expect(
                String(decoding: try JSON.encodeSorted(decision, failing: .callInvalidOutput), as: UTF8.self) == json)
            #expect(try JSON.decode(FlowDecision.self, Array(json.utf8), failing: .callInvalidOutput) == decision)
        }
    }

    @Test func `a request comes back from JSON`() throws {
        let request = FlowRequest(
            try Destination("books.book"), from: "books.list", tabs: ["books.list", "loans.list"], tab: 1,
            stack: ["loans.list", "books.book"], modals: ["alert"])
        for request in [request, FlowRequest()] {
            let json = try JSON.encode(request, failing: .callInvalidInput)
            #expect(try JSON.decode(FlowRequest.self, json, failing: .callInvalidInput) == request)
        }
    }
}
