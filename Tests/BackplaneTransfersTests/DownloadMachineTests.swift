import Backplane
import BackplaneNetwork
import Foundation
import Testing

@testable import BackplaneTransfers

/// The decisions of a download, without a server.
struct DownloadMachineTests {
    private static let request = HTTPRequest("GET", "http://books.test/whale.epub")
    private static let tag = "\"1\""

    private static func origin(_ validator: String? = tag, length: Int64? = 100) -> PartRecord {
        PartRecord(url: request.url, validator: validator, length: length)
    }

    private static func machine(
        _ count: Int64 = 40, _ origin: PartRecord? = origin(), attempts: Int = 5
    ) -> DownloadMachine {
        DownloadMachine(request, RetryPolicy(attempts: attempts), origin: origin, count: count, hadBytes: count > 0)
    }

    private static func text(_ action: DownloadMachine.Action) -> String {
        switch action {
        case .ask(let asked): asked.map { "ask \($0.from) \($0.validator)" } ?? "ask"
        case .begin(let origin): "begin \(origin.validator ?? "-") \(origin.length ?? -1)"
        case .append: "append"
        case .again: "again"
        case .finish: "finish"
        case .fail(let error): "fail \(error.code)"
        }
    }

    private static func answered(
        _ machine: inout DownloadMachine, _ status: Int, _ headers: HTTPHeaders
    ) -> String {
        text(machine.answered(status, headers, now: Date(timeIntervalSince1970: 0), random: 0))
    }

    @Test(
        arguments: [
            // What is there, and what is asked for.
            (nil, 0, "ask", nil), (origin(), 40, "ask 40 \"1\"", nil), (origin(), 100, "finish", nil),
            (origin(nil), 40, "ask", .noValidator), (origin(length: nil), 40, "ask 40 \"1\"", nil),
            (PartRecord(url: "http://books.test/other", validator: tag, length: 100), 40, "ask", .partUnusable),
            (origin(), 101, "ask", .partUnusable),
        ] as [(PartRecord?, Int64, String, RestartReason?)])
    func `a part is asked for only if it is of this URL and of a version that can be named`(
        origin: PartRecord?, count: Int64, expected: String, restart: RestartReason?
    ) {
        var machine = Self.machine(count, origin)
        #expect(Self.text(machine.next()) == expected)
        #expect(machine.takeRestart() == restart)
    }

    @Test(
        arguments: [
            // An answer to a request for what follows byte 40 of 100.
            (206, ["ETag": tag, "Content-Range": "bytes 40-99/100"], "append", nil),
            (206, ["ETag": tag, "Content-Range": "bytes 40-99/100", "Content-Length": "60"], "append", nil),
            (206, ["Content-Range": "bytes 40-99/*"], "append", nil),
            (206, ["ETag": tag, "Content-Range": "bytes 40-59/100"], "append", nil),
            (206, ["ETag": tag, "Content-Range": "bytes 39-99/100"], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Range": "bytes 41-99/100"], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Range": "bytes 40-100/100"], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Range": "bytes 40-99/100", "Content-Length": "61"], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Range": "bytes 40-98/99"], "again", .changed),
            (206, ["ETag": "\"2\"", "Content-Range": "bytes 40-99/100"], "again", .changed),
            (206, ["ETag": tag], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Range": "lines 40-99/100"], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Type": "multipart/byteranges; boundary=a"], "again", .wrongRange),
            (200, ["ETag": "\"2\"", "Content-Length": "90"], "begin \"2\" 90", .changed),
            (200, ["ETag": tag, "Content-Length": "90"], "begin \"1\" 90", .changed),
            (200, ["ETag": tag, "Content-Length": "100"], "begin \"1\" 100", .noRanges),
            (200, [:], "begin - -1", .changed),
            // White space at the end is no part of a value.
            (206, ["ETag": "\(tag) ", "Content-Range": "bytes 40-99/100\t", "Content-Length": "60 "], "append", nil),
            // A range is a range, whatever the status says.
            (200, ["ETag": tag, "Content-Range": "bytes 40-99/100"], "append", nil),
            (203, ["ETag": tag, "Content-Range": "bytes 41-99/100"], "again", .wrongRange),
            (200, ["ETag": "\"2\"", "Content-Range": "bytes 40-99/100"], "again", .changed),
            // The whole, although a part was asked for.
            (206, ["ETag": tag, "Content-Range": "bytes 0-99/100"], "begin \"1\" 100", .noRanges),
            (206, ["ETag": "\"2\"", "Content-Range": "bytes 0-89/90"], "begin \"2\" 90", .changed),
            (416, ["Content-Range": "bytes */40"], "again", .wrongRange),
            (416, ["Content-Range": "bytes */100"], "again", .wrongRange), (204, [:], "fail network.status", nil),
            (404, [:], "fail network.status", nil), (503, [:], "again", nil), (304, [:], "fail network.status", nil),
        ] as [(Int, HTTPHeaders, String, RestartReason?)])
    func `an answer to a part is appended only if it is that part of that version`(
        status: Int, headers: HTTPHeaders, expected: String, restart: RestartReason?
    ) {
        var machine = Self.machine()
        _ = machine.next()
        #expect(Self.answered(&machine, status, headers) == expected)
        #expect(machine.takeRestart() == restart)
        #expect(machine.count == (restart == nil ? 40 : 0))
    }

    @Test func `after a wrong answer to a part, the whole file is asked for, and wrong answers end`() {
        var machine = Self.machine(attempts: 3), steps: [String] = []
        for _ in 0..<3 {
            steps.append(Self.text(machine.next()))
            steps.append(Self.answered(&machine, 206, ["Content-Range": "bytes 0-1/100"]))
        }
        // A part that nobody asked for is no answer.
        #expect(steps.prefix(4) == ["ask 40 \"1\"", "again", "ask", "fail network.malformed"])
    }

    @Test func `the whole file may come as a range, but no other range for the whole file`() {
        for status in [200, 206] {
            for (range, expected) in [
                ("bytes 0-99/100", "begin \"1\" 100"), ("bytes 0-99/*", "fail network.malformed"),
                ("bytes 0-98/100", "fail network.malformed"), ("bytes */100", "fail network.malformed"),
            ] {
                var machine = Self.machine(0, nil)
                _ = machine.next()
                let headers: HTTPHeaders = ["ETag": "\(Self.tag) ", "Content-Range": range]
                #expect(Self.answered(&machine, status, headers) == expected, "\(status) \(range)")
            }
        }
    }

    @Test func `a part of unknown length is complete if nothing follows it`() {
        for (headers, expected) in [
            (["Content-Range": "bytes */40"], "finish"), (["Content-Range": "bytes */41"], "again"),
            (["Content-Range": "bytes */40", "ETag": "\"2\""], "again"), ([:], "again"),
        ] as [(HTTPHeaders, String)] {
            var machine = Self.machine(40, Self.origin(length: nil))
            _ = machine.next()
            #expect(Self.answered(&machine, 416, headers) == expected, "\(headers)")
        }
    }

    @Test func `a weak tag and a date of the same second are no validators`() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT", later = "Sun, 06 Nov 1994 08:49:38 GMT"
        let cases: [(HTTPHeaders, String?)] = [
            (["ETag": "\"a\""], "\"a\""), (["ETag": " \"a\"\t "], "\"a\""), (["ETag": "W/\"a\""], nil),
            (["ETag": "a"], nil), (["ETag": "\""], nil),
            (["ETag": "\"a\"b\""], nil), (["ETag": "\"\(String(repeating: "a", count: 2_000))\""], nil),
            (["ETag": "\"a\"", "etag": "\"b\""], nil),
            (["Last-Modified": date, "Date": later], date), (["Last-Modified": date, "Date": date], nil),
            (["Last-Modified": later, "Date": date], nil), (["Last-Modified": date], nil),
            (["ETag": "W/\"a\"", "Last-Modified": date, "Date": later], nil),
        ]
        for (headers, expected) in cases { #expect(PartRecord.strongValidator(headers) == expected, "\(headers)") }
    }

    @Test func `what breaks off is asked for where it ended, and attempts without an advance end`() throws {
        var machine = Self.machine(0, nil, attempts: 3)
        _ = machine.next()
        #expect(Self.answered(&machine, 200, ["ETag": Self.tag, "Content-Length": "300000"]) == "begin \"1\" 300000")
        var steps: [String] = []
        for bytes in [70_000, 1, 1, 1] {
            try machine.arrived(bytes)
            steps.append(Self.text(machine.ended(BackplaneError(.networkFailed, ""), random: 0)))
            steps.append(Self.text(machine.next()))
            let end = "bytes \(machine.count)-299999/300000"
            _ = Self.answered(&machine, 206, ["Content-Range": end])
        }
        #expect(
            steps == [
                "again", "ask 70000 \"1\"", "again", "ask 70001 \"1\"", "fail network.failed", "ask 70002 \"1\"",
                "fail network.failed", "ask 70003 \"1\"",
            ])
    }

    @Test func `more bytes than were announced are an error, and nothing of them is kept`() throws {
        var machine = Self.machine()
        _ = machine.next()
        #expect(Self.answered(&machine, 206, ["Content-Range": "bytes 40-99/100"]) == "append")
        try machine.arrived(60)
        let error = #expect(throws: BackplaneError.self) { try machine.arrived(1) }
        #expect(error?.code == .networkMalformed)
        #expect(machine.count == 0)
        #expect(Self.text(machine.next()) == "ask")
    }

    @Test func `a wrong digest of a file from several responses begins anew once, of one response never`() throws {
        var machine = Self.machine()
        _ = machine.next()
        _ = Self.answered(&machine, 206, ["Content-Range": "bytes 40-99/100"])
        try machine.arrived(60)
        #expect(Self.text(machine.ended(nil, random: 0)) == "finish")
        #expect(Self.text(machine.hadWrongDigest()) == "again")
        #expect(machine.takeRestart() == .wrongDigest)
        #expect(Self.text(machine.next()) == "ask")
        _ = Self.answered(&machine, 200, ["ETag": Self.tag, "Content-Length": "100"])
        #expect(Self.text(machine.hadWrongDigest()) == "fail transfer.digest")
    }

    @Test(
        arguments: [
            ("bytes 0-0/1", 0, 0, 1), ("BYTES 1-2/3", 1, 2, 3), ("bytes 1-2/*", 1, 2, nil),
        ] as [(String, Int64, Int64, Int64?)])
    func `a content range`(text: String, first: Int64, last: Int64, total: Int64?) {
        let range = ContentRange(text)
        #expect(range?.first == first && range?.last == last && range?.total == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes */10", "bytes 2-1/10", "bytes 0-10/10", "bytes -1-2/10", "bytes 0-1", "bytes 0-1/",
        "bytes +0-1/10", "bytes 0-99999999999999999999/*", "bytes 0-9223372036854775807/*", "bytes 0-1/10 more",
        "bytes a-b/c", "items 0-1/10",
    ])
    func `what is no content range`(text: String) { #expect(ContentRange(text) == nil) }
}
