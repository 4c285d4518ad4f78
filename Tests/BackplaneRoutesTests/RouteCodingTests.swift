import Backplane
import BackplaneNetwork
import BackplaneRoutes
import FoundationEssentials
import Testing

@Suite struct RouteCodingTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func decoded<Value: Decodable>(_ json: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(json.utf8))
    }

    @Test func `a request is an object with its properties`() throws {
        var request = RouteRequest(
            "GET /books/:id", method: "HEAD", path: "/books/7", query: "a=1", headers: ["Accept": "*/*"],
            parameters: ["id": "7"], body: [1, 2], remoteAddress: "127.0.0.1:1")
        request.user = "ann"
        let text = try json(request)
        #expect(
            text
                == #"{"body":"AQI=","headers":[["Accept","*/*"]],"isResumed":false,"method":"HEAD","#
                + #""parameters":{"id":"7"},"path":"/books/7","query":"a=1","remoteAddress":"127.0.0.1:1","#
                + #""route":"GET /books/:id"}"#)
        let copy: RouteRequest = try decoded(text)
        #expect(try json(copy) == text)
        #expect(copy.user == nil)
    }

    @Test func `of an answer only the status is required`() throws {
        let response: RouteResponse = try decoded(#"{"status": 204}"#)
        #expect(response.status == 204)
        #expect(response.headers.fields.isEmpty)
        #expect(try json(response) == #"{"headers":[],"status":204}"#)
        #expect(
            try json(RouteResponse.file("/a.txt"))
                == #"{"file":"/a.txt","headers":[["Content-Type","text/plain; charset=utf-8"]],"status":200}"#)
    }

    @Test(arguments: [
        #"{"head":{"headers":[["A","b"]],"status":200}}"#, #"{"body":"AQI="}"#,
        #"{"event":{"data":"x","id":"7","name":"added"}}"#,
    ])
    func `a part is an object with one key`(text: String) throws {
        let part: RoutePart = try decoded(text)
        #expect(try json(part) == text)
    }

    @Test(arguments: [
        ("page.html", "text/html; charset=utf-8"), ("a/cover.PNG", "image/png"),
        ("a.b/none", "application/octet-stream"),
        ("archive.tar.zip", "application/zip"), ("x.unknown", "application/octet-stream"),
    ])
    func `a file has the media type of its name`(path: String, type: String) {
        #expect(RouteResponse.file("/" + path).headers["Content-Type"] == type)
        #expect(RouteResponse.file("/" + path, type: "a/b").headers["Content-Type"] == "a/b")
    }

    @Test func `common answers`() throws {
        #expect(RouteResponse.redirect(to: "/books").status == 303)
        #expect(RouteResponse.redirect(to: "/books").headers["Location"] == "/books")
        #expect(RouteResponse.text("a").headers["Content-Type"] == "text/plain; charset=utf-8")
        #expect(RouteResponse.html("a").headers["Content-Type"] == "text/html; charset=utf-8")
        #expect(RouteResponse.empty().status == 204)
        let date = try RouteResponse.json(["at": Date(timeIntervalSince1970: 0)], status: 201)
        #expect(date.status == 201)
        #expect(String(decoding: date.body, as: UTF8.self) == #"{"at":"1970-01-01T00:00:00Z"}"#)
    }

    @Test(arguments: [
        (ServerEvent(data: "a"), "data: a\n\n"), (ServerEvent(), "data: \n\n"),
        (
            ServerEvent(name: "added", data: "1\r\n2\r3\n4\u{2028}5", id: "7"),
            "event: added\nid: 7\ndata: 1\ndata: 2\ndata: 3\ndata: 4\u{2028}5\n\n"
        ),
        (ServerEvent(name: "a\nb", data: "c", id: "d\re"), "data: c\n\n"),
    ])
    func `an event is written as in an event stream`(event: ServerEvent, text: String) {
        #expect(event.text == text)
    }

    @Test(
        arguments: [
            (RouteHead(), nil), (RouteHead(status: 100), "expected a status from 200 to 599, found 100"),
            (RouteHead(headers: ["a b": "c"]), "`a b` is not the name of a header field"),
            (RouteHead(headers: ["a": "b\r\nc: d"]), "the header field `a` contains a control character"),
        ] as [(RouteHead, String?)])
    func `a head that cannot be sent has a mistake`(head: RouteHead, mistake: String?) {
        #expect(head.mistake == mistake)
    }

    @Test func `an interrupted answer continues after its last event`() {
        let request = RouteRequest("GET /changes", headers: ["Last-Event-ID": "3"])
        let next = request.resuming(after: .event(ServerEvent(data: "x", id: "7")))
        #expect(next.isResumed)
        #expect(next.lastEventID == "7")
        #expect(request.resuming(after: .head(RouteHead())).lastEventID == "3")
        #expect(request.hasPosition)
        #expect(!RouteRequest("POST /export").hasPosition)
    }

    @Test func `the contract's values cross unencoded`() {
        #expect(!LayoutReader.layouts(of: HTTPRoutes.self).contains("refused"))
    }
}
