import Backplane
import FoundationEssentials
import Testing
import TimepieceModule

@testable import BackplaneHost

/// One contract, provided once in C and once in Swift: the caller cannot tell which.
@Suite(.timeLimit(.minutes(10)))
struct ClockTwinsTests {
    static let twins = ["InC", "InSwift"]
    private let test: TestHost

    init() throws {
        test = try TestHost(
            """
            {"manifestVersion": 1, "plugins": [{"library": "Clock"}, {"library": "_Timepiece"}],
             "managers": {"InC": {"className": "ClockManager"}, "InSwift": {"className": "Timepiece"}}}
            """)
    }

    @Test(arguments: twins)
    func `now is now`(twin: String) async throws {
        let clock: Remote<WallTime> = try await test.host.manager(twin)
        let before = Date.now
        let now = try clock.now()
        // Both read the same clock; JSON keeps more digits than the microseconds that C prints.
        #expect((before.addingTimeInterval(-1)...Date.now.addingTimeInterval(1)).contains(now))
        await test.host.stop()
    }

    @Test(arguments: twins)
    func `any JSON comes back as it went`(twin: String) async throws {
        let clock: Remote<WallTime> = try await test.host.manager(twin)
        let deep = (0..<200).reduce(JSONValue.array([])) { inner, _ in .array([inner]) }
        let values: [JSONValue] = [
            .null, .bool(true), .number(-0.125), .number(1e300), .string(""),
            .string("é 漢字 👩‍👩‍👧 \u{0} \" \\ / \u{2028} \u{10FFFF}"), .array([]), .object([:]),
            .object([
                "a": .array([.object(["": .null, "é": .array([.bool(false), .number(7)])])]), "b\n": .string("\t"),
            ]), deep,
            .array((0..<5_000).map { .number(Double($0)) }), .string(String(repeating: "long ", count: 100_000)),
        ]
        for value in values { #expect(try await clock.echo(value) == value) }
        await test.host.stop()
    }

    @Test(arguments: twins)
    func `what is not JSON is refused by every method`(twin: String) async throws {
        for input in [
            "", " ", "{", "[1 2]", "nul", "'a'", "\"\u{1}\"", "1 2", "01", "{\"a\" 1}", "\"\\x\"", "\"open",
            String(repeating: "[", count: 100_000),
        ] {
            for method in ["now", "echo"] {
                let error = await error { try await test.call(twin, method, input) }
                #expect(error?.code == .callInvalidInput, "\(method) of \(input.prefix(20))")
                #expect(error?.message.isEmpty == false)
            }
        }
        await test.host.stop()
    }

    @Test(arguments: twins)
    func `a method that takes nothing refuses something`(twin: String) async throws {
        for input in ["1", "\"now\"", "{}", "[null]", "true"] {
            #expect(await error { try await test.call(twin, "now", input) }?.code == .callInvalidInput, "\(input)")
        }
        #expect(Double(try await test.call(twin, "now")) != nil)
        await test.host.stop()
    }

    @Test(arguments: twins)
    func `bytes that are not UTF-8 are refused`(twin: String) async throws {
        let host = test.host
        // A stray byte, an overlong NUL, a surrogate, one beyond U+10FFFF, one that is cut off.
        let texts: [[UInt8]] = [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]]
        for bytes in texts {
            let error = await error { try await host.call(twin, "echo", [0x22] + bytes + [0x22], host.begin()) }
            #expect(error?.code == .callInvalidInput, "\(bytes)")
        }
        await host.stop()
    }

    @Test(arguments: twins)
    func `a method that does not exist is an error that lists those that do`(twin: String) async throws {
        let error = await error { try await test.call(twin, "tomorrow") }
        #expect(error?.code == .callUnimplemented)
        #expect(error?.message == "\(twin) has no method `tomorrow`; it has `now`, `echo`")
        await test.host.stop()
    }

    @Test(arguments: twins)
    func `a call that is too late does not begin`(twin: String) async throws {
        let clock: Remote<WallTime> = try await test.host.manager(twin)
        let late = test.host.begin(within: .zero)
        #expect(throws: BackplaneError.self) { try clock.now(late) }
        #expect(await error { try await clock.echo(.null, late) }?.code == .callDeadline)
        #expect(await error { try await test.call(twin, "now", within: .seconds(-1)) }?.code == .callDeadline)
        await test.host.stop()
    }

    @Test(arguments: twins)
    func `two hundred calls at once are all answered`(twin: String) async throws {
        let clock: Remote<WallTime> = try await test.host.manager(twin)
        let answers = try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for number in 0..<200 { group.addTask { @concurrent in try await clock.echo(.number(Double(number))) } }
            return try await group.reduce(into: Set<JSONValue>()) { $0.insert($1) }
        }
        #expect(answers == Set((0..<200).map { .number(Double($0)) }))
        await test.host.stop()
    }
}
