import FoundationEssentials
import Testing

@testable import Backplane

@Suite struct BackplaneErrorTests {
    private let error = BackplaneError(
        .componentFailed, "no shelf", at: "/managers/Library",
        failure: .init(code: "library.no-shelf", details: ["shelf": "B7", "floor": "2"]),
        causes: [
            BackplaneError(.networkish, "gone"),
            BackplaneError(.callDeadline, "late", causes: [BackplaneError(.callRetired, "over")]),
        ])

    @Test func `it crosses whole`() throws {
        for error in [
            error.of(call: "Shelf.find (b)"), BackplaneError(.callDeadline, "late").of(call: "Shelf.find (b)"),
        ] {
            let arrived = EncodedAnswer(error).error
            #expect(arrived == error && arrived.calls == error.calls)
        }
        let cancelled = BackplaneError(.callCancelled, "over").of(call: "Shelf.find (b)").of(call: "Library.open (a)")
        #expect(cancelled.calls == ["Library.open (a)"])
        #expect(EncodedAnswer(cancelled).status == 4)
    }

    @Test func `it begins with the calls that it has ended, of which it keeps the first and the last`() {
        var error = BackplaneError(.callRetired, "over", at: "/a")
        for number in (1...100).reversed() { error = error.of(call: "\(number)") }
        #expect(
            error.description
                == "1 → 2 → 3 → 4 → 5 → 6 → 7 → 8 → … → 94 → 95 → 96 → 97 → 98 → 99 → 100: /a: call.retired: over")
        #expect(error == BackplaneError(.callRetired, "over", at: "/a"))
    }

    @Test func `a code that only the other side knows survives`() throws {
        let json = Array(#"{"code":"future.thing","message":"new"}"#.utf8)
        let arrived = #expect(throws: BackplaneError.self) { try EncodedAnswer(status: 8, payload: json).get() }
        #expect(arrived?.code.rawValue == "future.thing")
    }

    @Test(arguments: [
        (Int32(1), "component.failed"), (2, "call.invalid-input"), (3, "call.unimplemented"), (4, "call.cancelled"),
        (5, "call.deadline"),
        (6, "role.forbidden"), (7, "call.retired"), (99, "component.failed"), (-1, "component.failed"),
    ])
    func `every status of a plugin in C has its code, with the plugin's text or one of ours`(
        status: Int32, code: String
    ) {
        let spoken = #expect(throws: BackplaneError.self) {
            try EncodedAnswer(status: status, payload: Array("because".utf8)).get()
        }
        #expect(spoken?.code.rawValue == code)
        #expect(spoken?.message == "because")
        let silent = #expect(throws: BackplaneError.self) { try EncodedAnswer(status: status, payload: []).get() }
        #expect(silent?.code.rawValue == code)
        #expect(silent?.message.isEmpty == false)
    }

    @Test func `an error that is not JSON, or not UTF-8, is text`() {
        let broken = #expect(throws: BackplaneError.self) { try EncodedAnswer(status: 8, payload: [0x7B, 0xFF]).get() }
        #expect(broken?.code == .componentFailed)
        #expect(broken?.message == "{\u{FFFD}")
    }

    @Test func `it is one line, and a tree on request`() {
        #expect(error.description == "/managers/Library: component.failed (library.no-shelf): no shelf")
        #expect(
            error.detailedDescription == """
                /managers/Library: component.failed (library.no-shelf): no shelf
                  floor: 2
                  shelf: B7
                  network.ish: gone
                  call.deadline: late
                    call.retired: over
                """)
    }

    /// `fatalError` and the end of `main` print an error by its debug description.
    @Test func `an error that nobody catches prints its causes, and nothing confidential`() {
        var error = self.error
        error.failure?.details[".token"] = "secret"
        #expect(String(reflecting: error) == error.detailedDescription)
        #expect("\(error as any Error)" == error.description)
        #expect(String(reflecting: error).contains("call.retired: over"))
        #expect(!String(reflecting: error).contains("secret"))
    }

    @Test func `a component's own error keeps its code, message and details`() {
        struct NoShelf: ComponentError {
            var code: String { "library.no-shelf" }
            var message: String { "no shelf" }
            var details: [String: String] { ["shelf": "B7"] }
        }
        #expect(
            BackplaneError(thrown: NoShelf())
                == BackplaneError(
                    .componentFailed, "no shelf", failure: .init(code: "library.no-shelf", details: ["shelf": "B7"])))
    }

    @Test func `a contract's error crosses as a value, which only its type and code take out`() throws {
        struct NoBook: ContractError, Equatable {
            var title: String
            var pages: Double = 1
            var code: String { "library.no-book" }
            var message: String { "no book" }
        }
        struct NoTitle: ContractError {
            var title: String
            var code: String { "library.no-title" }
            var message: String { "no title" }
        }
        let error = BackplaneError(thrown: NoBook(title: "Emma"))
        #expect(error.code == .componentFailed && error.message == "no book")
        #expect(error.failure?.code == "library.no-book" && error.failure?.details == [:])
        let arrived = EncodedAnswer(error).error
        #expect(arrived == error && arrived.failure(as: NoBook.self) == NoBook(title: "Emma"))
        #expect(arrived.failure(as: NoTitle.self) == nil, "which has another code")
        #expect(NoBook.thrown(arrived) as? NoBook == NoBook(title: "Emma"))
        #expect(NoTitle.thrown(arrived) as? BackplaneError == error)
        let unwritable = BackplaneError(thrown: NoBook(title: "Emma", pages: .infinity))
        #expect(unwritable.failure == .init(code: "library.no-book"), "which JSON cannot hold")
    }

    @Test func `what passes through stays what it is`() {
        #expect(BackplaneError(thrown: error) == error)
        #expect(BackplaneError(thrown: CancellationError()).code == .callCancelled)
    }
}

extension BackplaneError.Code {
    fileprivate static let networkish = Self(rawValue: "network.ish")
}
