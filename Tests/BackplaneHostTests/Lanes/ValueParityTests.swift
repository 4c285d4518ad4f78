import Backplane
import Foundation
import ParityContracts
import TestFixtures
import Testing

@testable import BackplaneHost

/// Every kind of value arrives whole and comes back equal, in either lane, from the host and from plugin to plugin.
@Suite(.timeLimit(.minutes(10)))
struct ValueParityTests {
    @Test(arguments: Route.allCases)
    func `every kind of value crosses whole`(route: Route) async throws {
        try await route.with("Values", as: Values.self) { _, values in
            for kind in [
                numbers, texts, nothings, collections, membership, foundation, declared, amending, synchronous,
            ] { try await kind(values) }
        }
    }

    /// Sends values there, and expects them there and back as they are.
    private func expect<Value: Equatable>(
        _ values: [Value], through echo: BoundAsync<Value, Seen<Value>, Never, OptionalFrame>,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for value in values {
            let seen = try await echo(value)
            #expect(seen.value == value, sourceLocation: location)
            #expect(seen.text == Seen(value).text, "as it was seen there", sourceLocation: location)
        }
    }

    private func numbers(_ values: Remote<Values>) async throws {
        try await expect([true, false], through: values.bool)
        try await expect([.smallest, .largest], through: values.integers)
        let doubles = [
            0, 0.1, 1 / 3, -.pi, 1e22, .greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude,
            123_456_789_012_345_680,
        ]
        try await expect(doubles, through: values.double)
        try await expect([0, 0.1, -1 / 3, .greatestFiniteMagnitude, .leastNonzeroMagnitude], through: values.float)
        #expect(try await values.double(-0.0).value.sign == .minus)
        #expect(try await values.float(-0.0).value.sign == .minus)
        let decimals = [
            "0", "0.1", "-12345678901234567890123456789012345678", "3.33333333333333333333333333333333333333",
        ].map { Decimal(string: $0)! }
        try await expect(decimals + [.greatestFiniteMagnitude, .leastNonzeroMagnitude], through: values.decimal)
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
        try await expect([.zero, .seconds(1) / 3, .nanoseconds(-1), longest], through: values.duration)
    }

    /// Texts, to the last scalar.
    private func texts(_ values: Remote<Values>) async throws {
        let texts = [
            "", "\0", "a\0b", "\u{FEFF}x", "\r\n\t\u{1}\u{7F}\u{2028}\"\\/", "e\u{301}", "é", "👩‍👩‍👧",
            "\u{D7FF}\u{E000}\u{FFFD}\u{FFFF}\u{10FFFF}",
            String(repeating: "long é ", count: 1_000),
        ]
        try await expect(texts, through: values.string)
        try await expect([Glyphs("e\u{301}", "\0"), Glyphs("👩‍👩‍👧", "\u{10FFFF}")], through: values.glyphs)
    }

    /// Nothing, and what may be nothing.
    private func nothings(_ values: Remote<Values>) async throws {
        try await expect([Nothing()], through: values.nothing)
        try await expect([nil, 0, .max], through: values.optional)
        try await expect([nil, 7], through: values.nested)
        try await expect([nil], through: values.perhapsNothing)
        try await expect([[], [nil], [1, nil, 2]], through: values.optionals)
        try await expect([[:], ["a": nil, "b": 1]], through: values.optionalsByName)
    }

    private func collections(_ values: Remote<Values>) async throws {
        let one = Volume(
            1, "Moby-Dick", subtitle: "", authors: ["Melville": 1819, "Nobody": nil], tags: ["whale", ""],
            shape: .circle(0.5))
        try await expect([[], [one, Volume(.min, "")], Array(repeating: one, count: 100)], through: values.array)
        try await expect([[], [1, 2, 3]], through: values.contiguous)
        try await expect([[:], ["": one, "e\u{301}": one, "\0": one]], through: values.byName)
        try await expect([[:], [.min: "a", 0: "", .max: "b"]], through: values.byNumber)
        try await expect([[:], [UUID(): 1, UUID(): -0.5]], through: values.byUUID)
        try await expect([[:], [.distantPast: [], .now: ["a"]]], through: values.byDate)
        try await expect([[], [.min, 0, .max], Set(0..<100)], through: values.set)
        try await expect([[], ["", "é", "\0"]], through: values.texts)
        try await expect(
            [
                Ranges(1..<5, "a"..."c", from: 0.5, through: -1, upTo: 7),
                Ranges(3..<3, ""..."", from: -1, through: .min, upTo: .max),
            ], through: values.ranges)
    }

    /// The set and the dictionaries that come back find what they hold.
    private func membership(_ values: Remote<Values>) async throws {
        let set = try await values.texts(["a", "e\u{301}"]).value, ids = [UUID(), UUID()]
        #expect(set.contains("a") && set.contains("é") && !set.contains("b"))
        let dictionary = try await values.byUUID([ids[0]: 1, ids[1]: 2]).value
        #expect(ids.map { dictionary[$0] } == [1, 2])
    }

    /// Dates, data, addresses and places.
    private func foundation(_ values: Remote<Values>) async throws {
        let dates: [Date] = [
            .now, .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_789),
            Date(timeIntervalSinceReferenceDate: 1e-300),
        ]
        try await expect(dates, through: values.date)
        try await expect(
            [Data(), Data((0...255).map { UInt8($0) }), Data(repeating: 7, count: 10_000)], through: values.data)
        let addresses = [
            "http://a.b/c?d=é#f", "x/y", "file:///tmp/", "data:,", "http://a/%zz b", "http://[::1]:80/%2F",
        ].map { URL(string: $0)! }
        try await expect(addresses, through: values.url)
        try await expect(
            ["", "http://u:p@h:80/a?q=1&r#f", "?#"].map { URLComponents(string: $0)! }, through: values.urlComponents)
        try await expect([UUID(), UUID(uuidString: "00000000-0000-0000-0000-000000000000")!], through: values.uuid)

        var calendar = Calendar(identifier: .hebrew)
        (calendar.firstWeekday, calendar.timeZone, calendar.locale) = (
            4, TimeZone(identifier: "Asia/Tokyo")!, Locale(identifier: "fr")
        )
        var components = DateComponents(
            calendar: calendar, timeZone: TimeZone(identifier: "GMT-0030"), era: 1, year: 2, nanosecond: 8,
            weekOfYear: 2)
        components.isLeapMonth = true
        let interval = DateInterval(start: .now, duration: 5.5)
        let places = [
            Place(
                Locale(identifier: "de_DE@currency=USD"), TimeZone(identifier: "Europe/Berlin")!, calendar, components,
                interval, [1, 2, 3]),
            Place(.current, .current, .current, DateComponents(), interval, []),
            Place(.autoupdatingCurrent, .autoupdatingCurrent, .autoupdatingCurrent, DateComponents(), interval, [0]),
        ]
        try await expect(places, through: values.place)
    }

    /// Structs and enums of a contract's own.
    private func declared(_ values: Remote<Values>) async throws {
        let shapes: [Shape] = [
            .point, .circle(-0.5), .box(width: -3, height: nil), .box(width: .max, height: .max),
            .labelled("", [.point, .labelled("x", [])]),
        ]
        try await expect(shapes, through: values.shape)
        try await expect(Suit.allCases, through: values.suit)
        try await expect(
            [.leaf, .node(.leaf, label: nil), .many([.node(.many([]), label: "x"), .leaf]), .high(100)],
            through: values.tree)
        try await expect(
            [Sourced([1, 2], from: .network), Sourced([], from: .store(age: .seconds(90)))], through: values.sourced)
        try await expect([Forgetful(kept: 1, dropped: 0)], through: values.forgetful)
        try await expect([Strict(unchecked: 100)], through: values.strict)
    }

    /// What is changed there is not changed here.
    private func amending(_ values: Remote<Values>) async throws {
        let volumes = [
            Volume(1, "Emma", tags: ["novel"]), Volume(2, "Ulysses, which is a title of more than fifteen bytes"),
        ]
        for answer in [try await values.amended(volumes), try values.amendedNow(volumes)] {
            #expect(
                answer.map(\.title) == [
                    "Emma, amended", "Ulysses, which is a title of more than fifteen bytes, amended", "one more",
                ])
            #expect(answer.map(\.tags) == [["novel", "amended"], ["amended"], ["new"]])
            #expect(answer.map(\.isLent) == [true, true, false])
            #expect(answer[2].shape == .labelled("amended", [.point]))
        }
        #expect(
            volumes == [
                Volume(1, "Emma", tags: ["novel"]), Volume(2, "Ulysses, which is a title of more than fifteen bytes"),
            ])
    }

    /// A synchronous method hands over the same.
    private func synchronous(_ values: Remote<Values>) async throws {
        let volume = Volume(
            1, "Moby-Dick", subtitle: "", authors: ["Melville": 1819, "Nobody": nil], tags: ["whale", ""],
            shape: .circle(0.5))
        let seen = try values.volumeNow(volume)
        #expect(seen.value == volume)
        #expect(seen.text == Seen(volume).text)
    }
}
