import Backplane
import BackplaneScreens
import Testing

@testable import BackplaneApp

extension HTMLRendering {
    /// A rendering with short addresses.
    static let plain = HTMLRendering(
        Addresses(
            screen: { "/\($0.screen)" }, image: { "/images?\($0)" }, tab: { "/tabs/\($0)" }, back: "/back",
            form: "/act"),
        token: "t0")
}

@Suite(.timeLimit(.minutes(5)))
struct `Views and windows as HTML` {
    private func html(_ element: some ViewElement) -> String {
        HTMLRendering.plain.html(of: element.view, id: "1/v", ViewPlace())
    }

    // MARK: Views

    @Test func `texts and headings`() {
        #expect(
            html(Text("a <b> & \"c\" 'd'\u{0}")) == #"<p id="1/v">a &lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;�</p>"#)
        #expect(html(Text("x").style(.code)) == #"<p id="1/v"><code>x</code></p>"#)
        #expect(html(Text("no").style(.critical)) == #"<p id="1/v" class="critical" role="alert">no</p>"#)
        #expect(html(Heading("T", level: 2)) == #"<h2 id="1/v">T</h2>"#)
        #expect(html(Heading("T")) == #"<h1 id="1/v" tabindex="-1">T</h1>"#)
    }

    @Test func `buttons with their states`() {
        #expect(
            html(Button("Borrow", id: "borrow"))
                == #"<button id="1/v" name="press" value="1/v"><span>Borrow</span></button>"#)
        #expect(
            html(Button("Borrow", id: "borrow").disabled())
                == #"<button id="1/v" name="press" value="1/v" disabled><span>Borrow</span></button>"#)
        // A busy button keeps the focus.
        #expect(
            html(Button("Borrow", id: "borrow").style(.strong).disabled().busy())
                == """
                <button id="1/v" class="strong" name="press" value="1/v" aria-disabled="true" aria-busy="true">\
                <span>Borrow</span></button>
                """)
    }

    @Test func `a field has a label, its problem, and a button for pages without script if it is live`() {
        let field = Field("Search", id: "q", value: "mo\"by", prompt: "Title", content: .search).live()
        #expect(
            html(field.problem("none")) == """
                <div id="1/v" class="field"><label for="1/v~control">Search</label>\
                <input id="1/v~control" name="1/v" aria-invalid="true" aria-describedby="1/v~problem" data-live \
                placeholder="Title" type="search" value="mo&quot;by">\
                <p class="problem" aria-live="polite" id="1/v~problem">none</p>\
                <noscript><button name="change" value="1/v"><span>Apply</span></button></noscript></div>
                """)
        #expect(
            html(Field("", id: "note", value: "\nx", content: .multiline).disabled()) == """
                <div id="1/v" class="field"><textarea id="1/v~control" name="1/v" aria-label="note" disabled>

                x</textarea><p class="problem" aria-live="polite" id="1/v~problem"></p></div>
                """)
    }

    @Test func `a secret is not in the page`() {
        let filled = html(Field("Key", id: "key", value: "hunter2", content: .secret))
        #expect(!filled.contains("hunter2") && filled.contains(#" type="password" autocomplete="off" data-filled>"#))
        #expect(!html(Field("Key", id: "key", content: .secret)).contains("data-filled"))
    }

    @Test func `choices and switches`() {
        let apply = #"<noscript><button name="change" value="1/v"><span>Apply</span></button></noscript></div>"#
        let problem = #"<p class="problem" aria-live="polite" id="1/v~problem"></p>"#
        let options = [View.Option("t", "Title"), View.Option("y", "Year")]
        #expect(
            html(Choice("Sort", id: "sort", value: "y", options: options)) == """
                <div id="1/v" class="choice"><label for="1/v~control">Sort</label>\
                <select id="1/v~control" name="1/v"><option value="t">Title</option>\
                <option value="y" selected>Year</option></select>\(problem)\(apply)
                """)
        #expect(
            html(Toggle("Free", id: "free", isOn: true)) == """
                <div id="1/v" class="toggle"><input type="hidden" value="false" name="1/v">\
                <label><input type="checkbox" role="switch" value="true" id="1/v~control" name="1/v" checked> Free\
                </label>\(problem)\(apply)
                """)
    }

    @Test func `links lead to screens and to the web, and to nothing else`() {
        #expect(html(Link("Book", to: .to("book"))) == #"<a id="1/v" href="/book">Book</a>"#)
        #expect(
            html(Link("Web", address: "HTTPS://example.org/?a&b"))
                == #"<a id="1/v" rel="noopener noreferrer" href="HTTPS://example.org/?a&amp;b">Web</a>"#)
        for address in ["javascript:alert(1)", " javascript:alert(1)", "data:text/html,x", "//example.org", "/etc"] {
            #expect(html(Link("Web", address: address)) == #"<a id="1/v">Web</a>"#)
        }
        #expect(
            html(Link("Book", to: .to("book")).disabled())
                == #"<a id="1/v" role="link" aria-disabled="true">Book</a>"#)
    }

    @Test func `images and progress`() {
        #expect(
            html(Image("https://example.org/c.png", description: "Cover"))
                == #"<img id="1/v" class="image" src="/images?https://example.org/c.png" alt="Cover" loading="lazy">"#)
        #expect(
            html(ProgressBar("Reading", fraction: 0.5)) == """
                <div id="1/v" class="progress" role="status"><label for="1/v~control">Reading</label>\
                <progress id="1/v~control" value="0.5">50 %</progress></div>
                """)
        #expect(
            html(ProgressBar()) == """
                <div id="1/v" class="progress" role="status">\
                <progress id="1/v~control" aria-label="Progress"></progress></div>
                """)
    }

    @Test func `an image that is not there is a placeholder, which says why if it never comes`() {
        func html(_ address: LoadState<String>, _ description: String = "Cover") -> String {
            self.html(RemoteImage(address, description: description))
        }
        #expect(html(.idle) == #"<div id="1/v" class="image" role="img" aria-label="Cover">Cover</div>"#)
        #expect(
            html(.loading(progress: nil, former: nil))
                == #"<div id="1/v" class="image" role="img" aria-label="Cover" aria-busy="true">Cover</div>"#)
        #expect(
            html(.loading(progress: nil, former: nil), "") == #"<div id="1/v" class="image" aria-busy="true"></div>"#)
        let image = #"<img id="1/v" class="image" src="/images?/c.png" alt="Cover" loading="lazy">"#
        #expect(html(.loaded("/c.png")) == image)
        #expect(html(.loading(progress: 0.5, former: "/c.png")) == image)
        let failure = LoadFailure(key: "cover", error: BackplaneError(.componentFailed, "the shelf is <down>"))
        // A reader of the screen reads the label of an image, and not its content.
        let reason = "the shelf is &lt;down&gt;"
        #expect(
            html(.failed(failure, former: nil))
                == #"<div id="1/v" class="image" role="img" aria-label="Cover: \#(reason)">\#(reason)</div>"#)
        #expect(
            html(.failed(failure, former: "/c.png"), "")
                == #"<div id="1/v" class="image" role="img" aria-label="\#(reason)">\#(reason)</div>"#)
    }

    @Test func `a row of a list is an element around its view`() {
        let list = List(["7"], id: \.self) { title in
            Text(title)
            Button("Borrow", id: "borrow")
        }
        #expect(
            html(list) == """
                <ul id="1/v" class="list" role="list"><li id="1/v/7"><div id="1/v/7~" class="row">\
                <p id="1/v/7/:0">7</p>\
                <button id="1/v/7/borrow" name="press" value="1/v/7/borrow"><span>Borrow</span></button>\
                </div></li></ul>
                """)
    }

    @Test func `a table has headings and cells`() {
        let table = Table(["Title"]) { Record(id: "r") { Text("x") } }
        #expect(
            html(table) == """
                <table id="1/v" tabindex="0"><thead><tr><th scope="col">Title</th></tr></thead><tbody id="1/v~rows">\
                <tr id="1/v/r"><td id="1/v/r/:0"><p id="1/v/r/:0~">x</p></td></tr></tbody></table>
                """)
    }

    @Test func `headings in sections are below the titles of the sections`() {
        let section = Section("A") {
            Heading("B")
            Section("C") {}
        }
        #expect(
            html(section) == """
                <section id="1/v" class="section" aria-labelledby="1/v~title"><h2 id="1/v~title">A</h2>\
                <h3 id="1/v/:0">B</h3>\
                <section id="1/v/:1" class="section" aria-labelledby="1/v/:1~title"><h3 id="1/v/:1~title">C</h3>\
                </section></section>
                """)
    }

    @Test func `what an overlay covers is inert`() {
        #expect(
            html(
                Overlay {
                    Text("wait")
                } over: {
                    Text("x")
                }) == """
                    <div id="1/v" class="overlay"><div id="1/v/:0" class="column"><p id="1/v/:0/:0">wait</p></div>\
                    <p id="1/v/:1" inert>x</p></div>
                    """)
        #expect(
            !html(
                Overlay {
                } over: {
                    Text("x")
                }
            ).contains("inert"))
    }

    // MARK: Windows

    @Test func `a window has tabs, a title and a form`() {
        let drawing = WindowDrawing.of("A & B", tabs: ["Books", "Loans"], isLoading: true) { Text("x") }
        #expect(
            HTMLRendering.plain.content(of: drawing) == """
                <header id="bar"><div id="activity" role="status"><span>Loading</span></div><div id="tabs">\
                <nav aria-label="Tabs"><ul><li><a href="/tabs/0" aria-current="page">Books</a></li>\
                <li><a href="/tabs/1">Loans</a></li></ul></nav></div></header>\
                <main id="screen"><div class="title" id="1~head"><h1 tabindex="-1">A &amp; B</h1></div>\
                <form method="post" novalidate action="/act"><input type="hidden" name="token" value="t0">\
                <input type="hidden" name="screen" value="1"><button name="submit" value="" hidden></button>\
                <div class="body" id="1"><p id="1/:0">x</p></div></form></main>\
                <div id="modal"></div><div id="alert"></div>
                """)
    }

    @Test func `a screen without a title has its identifier for one`() {
        var drawing = WindowDrawing.of("", back: "", modal: .of("", number: 2) {}) {}
        drawing.screen?.identifier = "books"
        drawing.modal?.identifier = "question"
        let html = HTMLRendering.plain.content(of: drawing)
        #expect(html.contains(#"<a class="back" href="/back">Back</a><h1 tabindex="-1">books</h1>"#))
        #expect(html.contains(#"aria-label="question""#) && html.contains(#"<h1 tabindex="-1">question</h1>"#))
        var closed = drawing
        closed.modal = nil
        let titles = HTMLRendering.plain.patches(from: drawing, to: closed).filter { $0.kind == .title }
        #expect(titles.map(\.html) == ["books"])
    }

    @Test func `a modal screen and an alert are dialogs, below which nothing can be used`() {
        let drawing = WindowDrawing.of(
            modal: .of("Borrowed", number: 2) { Text("Until June") },
            alert: WindowDrawing.Alert(title: "No", message: "a reason")
        ) { Heading("Books") }
        let html = HTMLRendering.plain.content(of: drawing)
        #expect(html.contains(#"<header id="bar" inert>"#))
        #expect(html.contains(#"<main id="screen" inert><div class="title" id="1~head"></div>"#))
        #expect(
            html.contains(
                """
                <div id="modal" inert><dialog open aria-modal="true" aria-label="Borrowed">\
                <div class="title" id="2~head"><a class="back" href="/back" autofocus>Close</a>\
                <h1 tabindex="-1">Borrowed</h1>
                """))
        #expect(
            html.contains(
                """
                <h2 id="alert-title">No</h2><p id="alert-message">a reason</p>\
                <button class="strong" name="alert" value="dismiss" autofocus>
                """))
    }

    @Test func `the id of an element names the screen and the view`() {
        let target = HTMLRendering.target(of: "12/books/7")
        #expect(target?.screen == 12 && target?.key == ViewKey(rawValue: "books/7"))
        for id in ["", "12", "books/7", "/x", "token"] { #expect(HTMLRendering.target(of: id)?.screen == nil) }
    }

    // MARK: Everything

    @Test(arguments: 0..<20)
    func `tags are balanced, ids are unique, and references lead to elements`(seed: Int) throws {
        var random = RandomBody(seed: seed)
        for _ in 0..<30 {
            let body = random.body()
            let page = try Page(HTMLRendering.plain.content(of: .of { body }))
            let ids = page.values(of: "id")
            #expect(Set(ids).count == ids.count)
            for name in ["for", "aria-labelledby", "aria-describedby"] {
                #expect(Set(page.values(of: name)).isSubset(of: ids))
            }
        }
    }

    @Test(arguments: 0..<20)
    func `elements are where HTML permits them, and headings skip no level`(seed: Int) throws {
        var random = RandomBody(seed: seed)
        for _ in 0..<30 {
            let body = random.body(), modal = random.body(depth: 1)
            let drawing = WindowDrawing.of(
                tabs: ["Books"], back: "Home", modal: .of("Sure?", number: 2) { modal },
                alert: WindowDrawing.Alert(title: "No", message: "why"), isLoading: true
            ) { body }
            #expect(try Page(HTMLRendering.plain.content(of: drawing)).misplaced == [])
            // Those that an author has written may skip one.
            let levels = try Page(HTMLRendering.plain.content(of: .of { Self.withoutHeadings(body) })).headings
            #expect(levels.first == 1 && zip(levels, levels.dropFirst()).allSatisfy { 2...$0 + 1 ~= $1 })
        }
    }

    @Test func `an element in a wrong place is found`() throws {
        for (html, misplaced) in [
            ("<p><div></div></p>", ["div in p"]), ("<button><span><h1></h1></span></button>", ["h1 in span"]),
            (#"<a href="/x"><span><button></button></span></a>"#, ["button in a"]),
            ("<ul><div></div></ul>", ["div in ul"]), ("<form><div><form></form></div></form>", ["form in form"]),
            (#"<ul><li><p>x</p></li></ul><label><input type="checkbox"></label>"#, []),
        ] { #expect(try Page(html).misplaced == misplaced, "\(html)") }
    }

    private static func withoutHeadings(_ views: [View]) -> [View] {
        views.filter { $0.kind != .heading }.map { view in
            var view = view
            view.children = withoutHeadings(view.children)
            return view
        }
    }

    @Test(arguments: View.Kind.allCases)
    func `no text of a view becomes markup`(kind: View.Kind) throws {
        let hostile = "\"'><script>alert(1)</script>&lt;\u{0}\u{1B}"
        var view = View(kind, id: hostile, text: hostile)
        (view.value, view.prompt, view.problem, view.address) = (hostile, hostile, hostile, "https://\(hostile)")
        (view.isLive, view.destination) = (true, .to(hostile))
        view.options = [View.Option(hostile)]
        let tab = WindowDrawing.of(
            hostile, tabs: [hostile], back: hostile, modal: .of(hostile, number: 2) { view },
            alert: WindowDrawing.Alert(title: hostile, message: hostile)
        ) { view }
        let html = HTMLRendering.plain.content(of: tab)
        #expect(!html.contains("<script") && !html.contains("\u{0}") && !html.contains("\u{1B}"))
        _ = try Page(html)
    }

    @Test func `the stylesheet is whole, and has no addresses`() {
        let css = StyleSheet.css
        #expect(css.count { $0 == "{" } == css.count { $0 == "}" })
        #expect(!css.contains("url("))
        for feature in ["prefers-color-scheme: dark", "prefers-reduced-motion", ":focus-visible", "0.3s"] {
            #expect(css.contains(feature))
        }
    }
}
