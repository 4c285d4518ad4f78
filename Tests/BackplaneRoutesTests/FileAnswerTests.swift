import BackplaneNetwork
import BackplaneRoutes
import Testing

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
