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
