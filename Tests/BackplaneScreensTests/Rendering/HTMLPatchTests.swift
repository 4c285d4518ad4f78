import BackplaneScreens
import Testing

@testable import BackplaneApp

@Suite(.timeLimit(.minutes(5)))
struct `Pages are patched` {
    private func patches(_ old: WindowDrawing, _ new: WindowDrawing) -> [HTMLPatch] {
        HTMLRendering.plain.patches(from: old, to: new)
    }

    private func books(_ titles: [String], busy: String = "") -> WindowDrawing {
        .of {
            List(titles, id: \.self) { title in
                Link(title, to: .to("book"))
                Button("Borrow", id: "borrow").busy(title == busy)
            }.id("books")
        }
    }

    @Test func `a changed row in a thousand is one small patch`() throws {
        let titles = (0..<1_000).map { "Book \($0)" }
        let patch = patches(books(titles), books(titles, busy: "Book 500"))
        #expect(patch.map(\.kind) == [.replace] && patch.first?.id == "1/books/Book%20500/borrow")
        #expect((patch.first?.html?.utf8.count ?? .max) < 500)
    }

    @Test func `patches name the element that contains the neighbours`() {
        let inserted = patches(books(["a", "c"]), books(["a", "b", "c"]))
        #expect(inserted.map(\.parent) == ["1/books"] && inserted.map(\.before) == ["1/books/c"])
        #expect(inserted.first?.html?.hasPrefix(#"<li id="1/books/b"><div id="1/books/b~" class="row">"#) == true)
        func row(_ texts: [String]) -> WindowDrawing {
            .of { List { Row { for text in texts { Text(text).id(text) } }.id("r") }.id("l") }
        }
        #expect(patches(row(["a"]), row(["a", "b"])).map(\.parent) == ["1/l/r~"])
        func table(_ ids: [String]) -> WindowDrawing {
            .of { Table(["Title"]) { for id in ids { Record(id: id) { Text(id) } } }.id("t") }
        }
        #expect(patches(table(["a"]), table(["a", "b"])).map(\.parent) == ["1/t~rows"])
        #expect(patches(.of { Text("a").id("a") }, .of {}).map(\.id) == ["1/a"])
        #expect(patches(.of {}, .of { Text("a").id("a") }).map(\.parent) == ["1"])
    }

    @Test func `a title changes with the heading of the page`() {
        let new = patches(.of("A", back: "X") { Text("x") }, .of("B", back: "Y") { Text("x") })
        #expect(new.map(\.kind) == [.title, .fill])
        #expect(new[0].html == "B" && new[1].id == "1~head")
    }

    @Test func `a modal screen covers the page, and an alert covers both`() {
        let modal = WindowDrawing.Shown.of("Borrowed", number: 2) { Text("Until June") }
        let opened = patches(.of { Text("x") }, .of(modal: modal) { Text("x") })
        #expect(opened.map(\.kind) == [.title, .fill, .cover, .cover])
        #expect(opened.map(\.id) == ["", "modal", "bar", "screen"])
        let alert = WindowDrawing.Alert(title: "No", message: "a reason")
        let alerted = patches(.of(modal: modal) { Text("x") }, .of(modal: modal, alert: alert) { Text("x") })
        #expect(alerted.map(\.id) == ["alert", "modal"])
    }

    @Test func `equal drawings have no patches`() {
        #expect(patches(books(["a", "b"]), books(["a", "b"])) == [])
    }

    @Test(arguments: 0..<20)
    func `the patches make the one page of the other`(seed: Int) throws {
        var random = RandomBody(seed: seed)
        var old = drawing(&random)
        let page = try Page(HTMLRendering.plain.content(of: old))
        for _ in 0..<50 {
            let new = drawing(&random)
            for patch in patches(old, new) { try page.apply(patch) }
            #expect(page.outline == (try Page(HTMLRendering.plain.content(of: new)).outline))
            old = new
        }
    }

    private func drawing(_ random: inout RandomBody) -> WindowDrawing {
        let body = random.body(), modalBody = random.body(depth: 1)
        var drawing = WindowDrawing.of(
            ["A", "B"].randomElement(using: &random)!, tabs: ["x", "y"],
            selected: Int.random(in: 0...1, using: &random), back: [nil, "Back"].randomElement(using: &random)!,
            isLoading: Bool.random(using: &random)
        ) { body }
        if Bool.random(using: &random) {
            drawing.modal = .of(["M", "N"].randomElement(using: &random)!, number: 2) { modalBody }
        }
        if Bool.random(using: &random) { drawing.alert = WindowDrawing.Alert(title: "No", message: "a reason") }
        if Bool.random(using: &random) { drawing.screen?.number = 3 }
        return drawing
    }
}
