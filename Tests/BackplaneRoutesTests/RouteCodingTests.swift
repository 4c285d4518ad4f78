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

@Suite struct FileAnswerTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let tag = "\"v1\""

    private func answer(
        _ request: HTTPHeaders, method: String = "GET", size: Int64 = 100, status: Int = 200, own: HTTPHeaders? = nil
    ) -> FileAnswer {
        var response = RouteResponse(
            status: status, headers: own ?? ["Content-Type": "text/plain", "ETag": Self.tag])
        response.file = "/a"
        return FileAnswer(
            response, size: size, modified: (seconds: 784_111_777, nanoseconds: 5), method: method, request)
    }

    @Test func `a file is sent with what later conditions need`() {
        let answer = answer([:], own: ["Content-Length": "5", "Content-Type": "text/plain"])
        #expect(answer.status == 200)
        #expect(answer.range == 0..<100)
        #expect(answer.headers["Last-Modified"] == Self.date)
        #expect(answer.headers["Accept-Ranges"] == "bytes")
        #expect(answer.headers["Content-Length"] == nil)
        let tag = answer.headers["ETag"]
        #expect(tag?.hasPrefix("\"") == true)
        let other = FileAnswer(
            RouteResponse(), size: 100, modified: (seconds: 784_111_777, nanoseconds: 6), method: "GET", [:])
        #expect(other.headers["ETag"] != tag)
    }

    @Test(
        arguments: [
            (["If-None-Match": tag], 304), (["If-None-Match": "W/\(tag)"], 304), (["If-None-Match": "*"], 304),
            (["If-None-Match": "\"a,b\", \(tag)"], 304), (["If-None-Match": "\"v2\""], 200),
            (["If-None-Match": "v1"], 200), (["If-None-Match": "\"v2\"", "If-Modified-Since": date], 200),
            (["If-Modified-Since": date], 304), (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
            (["If-Modified-Since": "Mon, 07 Nov 1994 08:49:37 GMT"], 304), (["If-Modified-Since": "yesterday"], 200),
        ] as [(HTTPHeaders, Int)])
    func `a client that has the file is told so`(request: HTTPHeaders, status: Int) {
        for method in ["GET", "HEAD"] {
            let answer = answer(request, method: method)
            #expect(answer.status == status)
            #expect(answer.range.isEmpty == (status == 304))
            #expect((answer.headers["Content-Type"] == nil) == (status == 304))
            #expect(answer.headers["ETag"] == Self.tag)
        }
    }

    @Test(
        arguments: [
            ("bytes=0-9", 0..<10), ("bytes=90-", 90..<100), ("bytes=-10", 90..<100), ("bytes=-1000", 0..<100),
            ("bytes=99-99", 99..<100), ("bytes=50-5000", 50..<100), ("Bytes=1-2", 1..<3),
            ("bytes=0-99999999999999999999", 0..<100),
        ] as [(String, Range<Int64>)])
    func `a range of the file is sent`(field: String, range: Range<Int64>) {
        let answer = answer(["Range": field])
        #expect(answer.status == 206)
        #expect(answer.range == range)
        #expect(answer.headers["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/100")
    }

    @Test(arguments: ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"])
    func `a range beyond the file is refused`(field: String) {
        let answer = answer(["Range": field])
        #expect(answer.status == 416)
        #expect(answer.range.isEmpty)
        #expect(answer.headers["Content-Range"] == "bytes */100")
    }

    @Test(arguments: ["bytes=5-4", "bytes=0-1,3-4", "bytes=-", "bytes=a-b", "lines=0-1", "0-1", "bytes=+1-2"])
    func `the whole file is sent for any other range`(field: String) {
        let answer = answer(["Range": field])
        #expect(answer.status == 200)
        #expect(answer.range == 0..<100)
    }

    @Test func `an empty file has no ranges`() {
        #expect(answer(["Range": "bytes=0-"], size: 0).status == 416)
        #expect(answer([:], size: 0).range == 0..<0)
    }

    @Test(arguments: [
        (tag, 206), (date, 206), ("W/\(tag)", 200), ("\"v2\"", 200), ("Sun, 06 Nov 1994 08:49:36 GMT", 200),
    ])
    func `a range of another state of the file is not sent`(condition: String, status: Int) {
        #expect(answer(["Range": "bytes=0-9", "If-Range": condition]).status == status)
    }

    @Test func `a weak tag does not hold a range together`() {
        let answer = answer(["Range": "bytes=0-9", "If-Range": "W/\"v1\""], own: ["ETag": "W/\"v1\""])
        #expect(answer.status == 200)
    }

    @Test func `only a GET with the status 200 has conditions and ranges`() {
        #expect(answer(["Range": "bytes=0-9"], method: "HEAD").status == 200)
        #expect(answer(["Range": "bytes=0-9", "If-None-Match": "*"], method: "POST").status == 200)
        #expect(answer(["Range": "bytes=0-9", "If-None-Match": "*"], status: 404).status == 404)
        #expect(answer(["Range": "bytes=0-9", "If-None-Match": Self.tag]).status == 304)
    }
}

@Suite struct RouteProblemTests {
    private func json(_ problem: RouteProblem) -> String { String(decoding: problem.response.body, as: UTF8.self) }

    @Test func `a problem is answered as JSON`() {
        let problem = RouteProblem(404, "there is no book 7")
        let response = problem.response
        #expect(response.status == 404)
        #expect(response.headers["Content-Type"] == "application/problem+json")
        #expect(json(problem) == #"{"detail":"there is no book 7","status":404,"title":"Not Found"}"#)
    }

    @Test func `a problem has a title, fields and header fields of its own`() {
        let problem = RouteProblem(
            422, title: "Not a Book", fields: ["title": "missing"], headers: ["Retry-After": "5"])
        #expect(problem.response.headers["Retry-After"] == "5")
        #expect(json(problem) == #"{"fields":{"title":"missing"},"status":422,"title":"Not a Book"}"#)
        #expect(RouteProblem(418).title == "Bad Request")
        #expect(RouteProblem(599).title == "Internal Server Error")
    }

    @Test(arguments: [
        (BackplaneError.Code.callDeadline, 504), (.callOverloaded, 503), (.hostStopped, 503), (.callRetired, 503),
        (.callCancelled, 503), (.streamInterrupted, 503), (.routeUnknown, 503), (.componentFailed, 500),
        (.networkFailed, 500),
    ])
    func `an error of a call has the status of its code, and says nothing else`(
        code: BackplaneError.Code, status: Int
    ) {
        let problem = RouteProblem(answering: BackplaneError(code, "the password is 1234"))
        #expect(problem.status == status)
        #expect(problem.detail == nil)
        #expect((problem.headers["Retry-After"] != nil) == (status == 503))
    }
}
