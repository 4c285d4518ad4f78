import Backplane
import Foundation
import Testing

@testable import BackplaneHost

/// Whether one side of a wire can read what the other one sends, found without a call.
struct ContractFitTests {
    /// One contract with another value for each test.
    private struct Finding<Input: Codable & Sendable, Output: Codable & Sendable>: Contract {
        static var name: String { "Finding" }
        static var version: Version { "1.0.0" }
        let find = AsyncMethod<Input, Output>()
    }
    private struct LaterFinding<Input: Codable & Sendable, Output: Codable & Sendable>: Contract {
        static var name: String { "Finding" }
        static var version: Version { "1.1.0" }
        let find = AsyncMethod<Input, Output>()
    }
    private struct Following<Element: Codable & Sendable>: Contract {
        static var name: String { "Following" }
        static var version: Version { "1.0.0" }
        let follow = StreamMethod<Nothing, Element>()
    }

    private func side<C: Contract>(_ plugin: String, _ contract: C.Type, toolchain: String = "Swift 6.3.1") -> LaneSide
    {
        let origin = LaneOrigin(
            name: "plugin `\(plugin)`", toolchain: toolchain, revision: LaneOrigin.program.revision)
        return LaneSide(
            origin, ContractDescription(of: C.self), LayoutText { LayoutReader.layouts(of: C.self) }
        ) { ContractSamples.rehearse($0, as: C.self) }
    }

    /// The fit where only the output differs: sent by the provider, read by the user.
    private func reading<Sent: Codable & Sendable, Read: Codable & Sendable>(_: Sent.Type, as _: Read.Type)
        -> ContractFit
    {
        ContractFit(side("a", Finding<Int, Read>.self), side("b", Finding<Int, Sent>.self))
    }

    private func words(_ fit: ContractFit) -> String? {
        if case .unreadable(let words) = fit { words } else { nil }
    }

    private func isEncoded(_ fit: ContractFit) -> Bool {
        if case .encoded = fit { true } else { false }
    }

    @Test func `equal values have no difference`() {
        #expect(reading(Old.Total.self, as: Old.Total.self) == .equal)
    }

    @Test func `a number for a text is unreadable in the direction in which it is sent, with its place and both types`()
    {
        #expect(
            words(reading(New.Total.self, as: Old.Total.self))
                == "what `find` answers cannot be read: `/count` is `String` in plugin `b` and `Int` in plugin `a`")
        #expect(
            words(ContractFit(side("a", Finding<New.Total, Int>.self), side("b", Finding<Old.Total, Int>.self)))
                == "what `find` takes cannot be read: `/count` is `String` in plugin `a` and `Int` in plugin `b`")
        #expect(
            words(ContractFit(side("a", Following<Old.Total>.self), side("b", Following<New.Total>.self)))
                == "what `follow` answers cannot be read: `/count` is `String` in plugin `b` and `Int` in plugin `a`")
        #expect(
            words(reading(String.self, as: Int.self))
                == "what `find` answers cannot be read: it is `String` in plugin `b` and `Int` in plugin `a`")
    }

    @Test func `the place may be deep, in lists, dictionaries, optionals and cases`() {
        #expect(
            words(reading([String: [Wrapped<New.Total>]].self, as: [String: [Wrapped<Old.Total>]].self))
                == "what `find` answers cannot be read: `/1/0/value/count` is `String` in plugin `b` and `Int` in plugin `a`"
        )
        #expect(
            words(reading(New.Shape.self, as: Old.Shape.self))
                == "what `find` answers cannot be read: `/square/side` is `String` in plugin `b` and `Int` in plugin `a`"
        )
    }

    @Test func `a missing field is unreadable if it is required, and readable otherwise`() {
        #expect(
            words(reading(Old.Total.self, as: Longer.self))
                == "what `find` answers cannot be read: `/note` is `String` in plugin `a` and missing in plugin `b`")
        #expect(isEncoded(reading(Old.Total.self, as: OptionallyLonger.self)))
        #expect(isEncoded(reading(Old.Total.self, as: Defaulted.self)), "its own coding fills in what is missing")
        #expect(isEncoded(reading(Longer.self, as: Old.Total.self)), "what a reader does not know is ignored")
        #expect(isEncoded(reading(Longer.self, as: OtherOrder.self)))
    }

    @Test func `an unknown case is unreadable, and one less to read is not`() {
        #expect(
            words(reading(New.Genre.self, as: Old.Genre.self))
                == "what `find` answers cannot be read: it can be `thriller` in plugin `b`, which `Old.Genre` in plugin `a` does not have"
        )
        #expect(isEncoded(reading(Old.Genre.self, as: New.Genre.self)))
        #expect(
            words(reading([New.Circular].self, as: [Old.Circular].self))
                == "what `find` answers cannot be read: `/0` can be `oval` in plugin `b`, which `Old.Circular` in plugin `a` does not have"
        )
        #expect(isEncoded(reading(Renamed.self, as: Old.Genre.self)), "the raw values are equal")
    }

    @Test func `coding of a type's own decides, and what it refuses for another reason than its shape is no error`() {
        #expect(isEncoded(reading(New.Total.self, as: Lenient.self)), "reads a text as well as a number")
        #expect(isEncoded(reading(Spelled.self, as: New.Total.self)), "writes its number as a text")
        #expect(isEncoded(reading(Int.self, as: Wrapper.self)))
        #expect(isEncoded(reading(String.self, as: UUID.self)), "some texts are")
        #expect(isEncoded(reading(String.self, as: Picky.self)), "some texts are")
        #expect(isEncoded(reading(Double.self, as: Int.self)), "some numbers are")
        #expect(words(reading(Holder<New.Total>.self, as: Holder<Old.Total>.self)) == nil, "a layout shows no classes")
    }

    @Test func `values that contain themselves have samples, too`() {
        let words = words(reading(New.Tree.self, as: Old.Tree.self))
        #expect(
            words?.hasSuffix("/total/count` is `String` in plugin `b` and `Int` in plugin `a`") == true,
            "\(words ?? "")")
    }

    @Test func `another compiler or version is compared, and another compiler is said`() {
        let user = side("a", Finding<Int, Old.Total>.self)
        #expect(
            ContractFit(user, side("b", Finding<Int, Old.Total>.self, toolchain: "Swift 6.4"))
                == .encoded(because: "plugin `a` was built by Swift 6.3.1, plugin `b` was built by Swift 6.4"))
        #expect(ContractFit(user, side("b", LaterFinding<Int, Longer>.self)) == .unknown)
        #expect(words(ContractFit(user, side("b", LaterFinding<Int, New.Total>.self))) != nil)
    }

    @Test func `a side that does not describe its values is unknown`() {
        let user = side("a", Finding<Int, Int>.self)
        var inC = user.origin
        (inC.toolchain, inC.revision) = ("", 0)
        let other = side("b", Finding<Int, String>.self)
        #expect(ContractFit(user, LaneSide(inC, user.contract, LayoutText { nil })) == .unknown)
        #expect(
            isEncoded(ContractFit(user, LaneSide(other.origin, other.contract, other.layout))),
            "nothing to rehearse with")
    }
}

private struct Wrapped<Value: Codable & Sendable>: Codable, Sendable { var value: Value? }
private struct Longer: Codable, Sendable { var count: Int, note: String }
private struct OtherOrder: Codable, Sendable { var note: String, count: Int }
private struct OptionallyLonger: Codable, Sendable { var count: Int, note: String? }
private struct Wrapper: RawRepresentable, Codable, Sendable { var rawValue: Int }
private final class Holder<Value: Codable & Sendable>: Codable, Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
private enum Renamed: String, Codable, Sendable { case drama, fun = "comedy" }

private enum Old {
    struct Total: Codable, Sendable { var count: Int }
    enum Genre: String, Codable, Sendable { case drama, comedy }
    enum Circular: Codable, Sendable { case circle(radius: Int) }
    enum Shape: Codable, Sendable { case circle(Int), square(side: Int, filled: Bool) }
    struct Tree: Codable, Sendable { var branches: [Tree], total: Total }
}
private enum New {
    struct Total: Codable, Sendable { var count: String }
    enum Genre: String, Codable, Sendable { case drama, comedy, thriller }
    enum Circular: Codable, Sendable { case circle(radius: Int), oval(Int, Int) }
    enum Shape: Codable, Sendable { case circle(Int), square(side: String, filled: Bool) }
    struct Tree: Codable, Sendable { var branches: [Tree], total: Total }
}

private struct Defaulted: Codable, Sendable {
    var count: Int, note: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        count = try container.decode(Int.self, forKey: .count)
        note = try container.decodeIfPresent(String.self, forKey: .note) ?? "none"
    }
}

private struct Lenient: Codable, Sendable {
    var count: Int

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let text = try? container.decode(String.self, forKey: .count)
        count = try text.map { Int($0) ?? 0 } ?? container.decode(Int.self, forKey: .count)
    }
}

private struct Spelled: Codable, Sendable {
    var count: Int

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("\(count)", forKey: .count)
    }
}

private struct Picky: Codable, Sendable {
    var text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard text.hasPrefix("ISBN") else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected ISBN")
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
