import Backplane
import BackplaneTestKit
import Foundation
import ParityContracts
import TestFixtures
import Testing

@testable import BackplaneHost

/// State that crosses from library to library as the Swift value itself, beside the same state as JSON.
@Suite(.timeLimit(.minutes(5)))
struct NativeStateTests {
    // MARK: What crosses

    /// Every kind of value that a state can have.
    private static var full: FullState {
        var full = FullState()
        full.flag = true
        full.integers = [.smallest, .largest]
        full.doubles = [0, 0.1, 1 / 3, -.pi, 1e22, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
        full.floats = [0, 0.1, -1 / 3, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
        full.decimals = [Decimal(string: "0.1")!, Decimal(string: "-12345678901234567890123456789012345678")!]
        full.durations = [.zero, .seconds(1) / 3, .nanoseconds(-1)]
        full.texts = ["", "\0", "a\0b", "\u{FEFF}x", "e\u{301}", "👩‍👩‍👧", String(repeating: "long é ", count: 1_000)]
        full.glyphs = [Glyphs("e\u{301}", "\0"), Glyphs("👩‍👩‍👧", "\u{10FFFF}")]
        full.optional = 7
        full.optionals = [1, nil, 2]
        full.contiguous = [1, 2, 3]
        for number in 0..<300 {
            let volume = Volume(
                number, "Volume \(number)", subtitle: number.isMultiple(of: 2) ? nil : "", authors: ["Melville": 1819],
                tags: ["whale", ""], shape: .circle(0.5))
            full.byName[volume.title] = volume
        }
        full.byNumber = [.min: "a", 0: "", .max: "b"]
        full.byUUID = [UUID(): 1, UUID(): -0.5]
        full.byDate = [.distantPast: [], .now: ["a"]]
        full.numbers = Set(0..<100)
        full.words = ["", "é", "\0"]
        full.ranges = [Ranges(1..<5, "a"..."c", from: 0.5, through: -1, upTo: 7)]
        full.dates = [.now, .distantFuture, Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_789)]
        full.data = [Data(), Data((0...255).map { UInt8($0) }), Data(repeating: 7, count: 10_000)]
        full.addresses = ["http://a.b/c?d=é#f", "x/y", "file:///tmp/"].map { URL(string: $0)! }
        full.parts = ["", "http://u:p@h:80/a?q=1&r#f"].map { URLComponents(string: $0)! }
        full.ids = [UUID(), UUID()]
        full.places = [
            Place(
                Locale(identifier: "de_DE@currency=USD"), TimeZone(identifier: "Europe/Berlin")!,
                Calendar(identifier: .hebrew), DateComponents(era: 1, year: 2),
                DateInterval(start: .now, duration: 5.5), [1, 2, 3])
        ]
        full.shapes = [.point, .box(width: -3, height: nil), .labelled("", [.point, .labelled("x", [])])]
        full.suits = Suit.allCases
        full.trees = [.leaf, .many([.node(.many([]), label: "x"), .leaf]), .high(100)]
        full.sourced = [Sourced([1, 2], from: .network), Sourced([], from: .store(age: .seconds(90)))]
        return full
    }

    /// Runs a host of the library with every kind of value, of which each copy is another build.
    private func with(
        lanes: LaneRule = .fastest,
        _ body: (
            TestHost, Remote<FullStateKeeping>, (ChangeOptions) async throws -> ChangeReport
        ) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        var library = try TurnstileFixture.built("_Parity")
        try folder.write(library, as: "libFullState.so")
        let test = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "FullState"}],
             "managers": {"FullState": {"className": "FullStateManager"}}}
            """#,
            linked: [], in: folder, lanes: lanes
        ) { $0.checksState = false }
        do {
            let remote: Remote<FullStateKeeping> = try await test.host.manager("FullState")
            try await body(test, remote) { options in
                library.append(0)
                return try await test.host.swap(library: try folder.write(library, as: "libFullState.so"), options)
            }
            await test.host.stop()
        } catch {
            await test.host.stop()
            throw error
        }
    }

    @Test(arguments: [false, true])
    func `every kind of value is the same after the swap, whichever way it went`(isEncoded: Bool) async throws {
        try await with { test, remote, swap in
            let full = Self.full
            _ = try await remote.keep(full)
            for _ in 0..<3 {
                let report = try await swap(ChangeOptions(stepLimit: .seconds(60), encodesState: isEncoded))
                let state = try #require(report.components.first?.state)
                #expect(state.lane == (isEncoded ? "encoded" : "native"))
                #expect(state.reason == (isEncoded ? "the swap is set to encode state" : nil))
                #expect((state.bytes > 0) == isEncoded && state.lost == nil)
                #expect(report.warnings == [])
                #expect(try await remote.kept() == full)
            }
        }
    }

    @Test func `the new code changes what it took over, and the old values are left as they were`() async throws {
        try await with { test, remote, swap in
            var full = Self.full
            _ = try await remote.keep(full)
            for number in 0..<5 {
                #expect(try await swap(ChangeOptions(stepLimit: .seconds(60))).outcome == .changed)
                let volume = Volume(1_000 + number, "Added \(number)")
                full.byName[volume.title] = volume
                #expect(try await remote.add(volume) == full.byName.count)
            }
            #expect(try await remote.kept() == full)
            #expect(Self.full.byName["Added 0"] == nil)
        }
    }
}
