import Backplane
import Glibc
import TestFixtures
import Testing

@testable import BackplaneControl
@testable import BackplaneHost

/// Clients that do what none should, and a host that does not mind.
@Suite(.timeLimit(.minutes(10)))
struct RudeClientTests {
    @Test(arguments: [
        ("", "expected"), ("fly", "expected"), ("{", "expected"), ("[]", "expected"), ("null", "expected"),
        ("{}", "`request` is missing"),
        (#"{"request": 7}"#, "expected"), (#"{"request": "fly"}"#, "unknown request `fly`; expected one of: `apply`"),
        (#"{"request": "swop"}"#, "did you mean `swap`?"),
        (#"{"request": "swap"}"#, "`libraries` is missing"),
        (#"{"request": "swap", "libraries": "Clock"}"#, "expected an array"),
        (#"{"request": "reset", "manger": "Trial"}"#, "no such key"),
        (#"{"request": "call", "manager": "Trial", "method": "path", "input": 7}"#, "expected a string"),
        (#"{"request": "hello"} {"request": "hello"}"#, "expected"),
        (#"{"request": "reset", "protocol": 2}"#, "supports protocol 1, but the request uses protocol 2"),
        ("\u{0}\u{1}\u{2}", "expected"), (String(repeating: "[", count: 500_000), "expected"),
        (#"{"request": "reset", "manager": "# + String(repeating: "[", count: 500_000), "expected"),
        (
            #"{"request": "reset", "manager": "# + String(repeating: #"{"a":"#, count: 100_000) + "1"
                + String(repeating: "}", count: 100_001), "expected"
        ),
    ])
    func `a malformed request is answered with its mistake, and has no other effect`(text: String, says: String)
        async throws
    {
        let fixture = try ControlFixture()
        let answer = try await fixture.exchange(text + "\n")
        #expect(answer.hasPrefix(#"{"error":{"#) && answer.hasSuffix("}\n"), "\(answer.prefix(300))")
        #expect(answer.contains(says), "\(answer.prefix(300))")
        #expect(answer.utf8.count < 2_000)
        await fixture.expectUnharmed()
    }

    @Test func `a hundred megabytes without a newline are not read to their end`() async throws {
        let fixture = try ControlFixture(limits: ControlLimits(reading: .seconds(60)))
        let answer = try await fixture.exchange([UInt8](repeating: UInt8(ascii: "x"), count: 100 << 20))
        #expect(answer.contains("control.malformed") && answer.contains("at most 64 MB"), "\(answer)")
        await fixture.expectUnharmed()
    }

    @Test func `half a request is answered with an error, if the client still listens`() async throws {
        let fixture = try ControlFixture()
        let answer = try await fixture.exchange(Array(#"{"request": "hello"}"#.utf8), thenShutsDown: true)
        #expect(answer.contains("expected a newline"))
        #expect(try await fixture.exchange([], thenShutsDown: true) == "", "who says nothing is told nothing")
        await fixture.expectUnharmed()
    }

    @Test func `a client that does not read its answer delays no others`() async throws {
        // A place is waited for while the answer is made, but for less than the time that is usual for writing it.
        let fixture = try ControlFixture(
            limits: ControlLimits(
                reading: .seconds(600), writing: .milliseconds(100), connections: 1, waiting: .seconds(20)))
        let deaf = try LocalSocket(connectingTo: fixture.control.path, within: .seconds(60))
        // More than a socket holds for who does not read.
        let input = "\"" + String(repeating: "a", count: 4 << 20) + "\""
        let line = try JSON.encode(
            ControlText.Line(message: CallRequest(manager: "Trial", method: "fail", input: input, timeout: nil)),
            failing: .controlFailed)
        await onThread { try? deaf.write(line + [ControlProtocol.newline], until: .now + .seconds(60)) }
        await fixture.expectUnharmed()
        _ = deaf.peerUser
    }

    @Test func `fifty at once are all answered`() async throws {
        let fixture = try ControlFixture(limits: ControlLimits(reading: .seconds(600), waiting: .seconds(60)))
        let answers = await withTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    await fixture.ask(CallRequest(manager: "Trial", method: "wait", input: "0.0", timeout: nil))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 50 && answers.allSatisfy { (try? $0.get()) != nil })
    }
}
