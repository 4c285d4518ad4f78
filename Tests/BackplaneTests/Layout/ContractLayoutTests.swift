import Backplane
import Testing

@testable import Backplane
@testable import BackplaneHost

@Suite struct ContractLayoutTests {
    private func text<C: Contract>(_ type: C.Type) -> String { Pair.sideless(LayoutReader.layouts(of: type)) }
    private func difference<A: Contract, B: Contract>(_ a: A.Type, _ b: B.Type) -> String? {
        ContractLayout.difference(consumer: text(a), provider: text(b))
    }

    @Test func `a contract's text has a line for the frame, for errors, and for what each member takes and answers`() {
        let lines = text(Left.Catalogue.self).split(separator: "\n").map { $0.prefix { $0 != ":" } }
        #expect(
            lines == [
                "call", "failure", "async search takes", "async search answers", "sync count takes",
                "sync count answers", "async `add one` takes", "async `add one` answers",
            ])
    }

    @Test func `the host reads a contract's text`() throws {
        let layout = try #require(ContractLayout(text: LayoutReader.layouts(of: Left.Catalogue.self)))
        #expect(layout.inputs.keys.sorted() == ["add one", "count", "search"])
        let refused = try #require(ContractLayout(text: LayoutReader.layouts(of: Left.Refused.self)))
        #expect(refused.inputs.keys.sorted() == ["all", "find"] && refused.outputs.isEmpty)
        #expect(ContractLayout(text: LayoutReader.layouts(of: NoContract.self))?.entries.count == 2)
    }

    @Test func `a type is described once in the text of a contract`() {
        let text = text(Left.Catalogue.self)
        #expect(text.ranges(of: "=struct BackplaneTests.Novel ").count == 1)
        #expect(text.contains("async `add one` takes: #"))
    }

    @Test func `a refusal is a line that says so and why`() {
        let lines = text(Left.Refused.self).split(separator: "\n")
        #expect(lines[3] == "refused async find answers: `Jacket`, a class")
        #expect(
            lines[5]
                == "refused sync all answers: `Array<JacketedBook>`, where `JacketedBook.jacket` is `Jacket`, a class")
    }

    @Test func `the text of a state is one line, which the host reads`() {
        for type in [[String: Left.Novel].self, JacketedBook.self, Int.self] as [Any.Type] {
            let text = LayoutReader.layout(ofState: type)
            #expect(!text.contains("\n"))
            #expect(ContractLayout(text: text)?.entries.map(\.subject) == [.state])
        }
        #expect(LayoutReader.layout(ofState: Int.self) == "state: Int")
        #expect(
            LayoutReader.layout(ofState: JacketedBook.self)
                == "refused state: `JacketedBook`, where `JacketedBook.jacket` is `Jacket`, a class")
    }

    @Test func `states have no difference where they are declared alike, and say where they differ otherwise`() {
        func text(_ type: Any.Type) -> String { Pair.sideless(LayoutReader.layout(ofState: type)) }
        func difference(_ a: Any.Type, _ b: Any.Type) -> String? {
            ContractLayout.stateDifference(old: text(a), new: text(b))
        }
        #expect(difference([String: Left.Novel].self, [String: Right.Novel].self) == nil)
        #expect(
            difference(Int.self, String.self) == "the state is `Int` for the old code and `String` for the new code")
        #expect(
            difference(JacketedBook.self, JacketedBook.self)
                == "the state is `JacketedBook`, where `JacketedBook.jacket` is `Jacket`, a class")
        #expect(
            difference(JacketedBook.self, Int.self)
                == "the state is `JacketedBook`, where `JacketedBook.jacket` is `Jacket`, a class, for the old code")
        let contract = LayoutReader.layouts(of: Left.Catalogue.self)
        #expect(
            ContractLayout.stateDifference(old: "state: Int", new: contract)
                == "the layout of the new code's state cannot be read")
        #expect(ContractLayout.difference(consumer: "state: Int", provider: "state: Int") != nil)
    }

    @Test func `contracts declared alike have no difference`() {
        #expect(text(Left.Catalogue.self) == text(Right.Catalogue.self))
        #expect(difference(Left.Catalogue.self, Right.Catalogue.self) == nil)
        #expect(difference(NoContract.self, NoContract.self) == nil)
    }

    @Test func `contracts with other members say so`() {
        #expect(
            difference(Left.Names.self, Right.Names.self)
                == "the user's contract has the member `find` where the provider's has `search`")
        #expect(difference(Left.Kinds.self, Right.Kinds.self) == "`find` is synchronous for the provider only")
        #expect(difference(Left.Counts.self, Right.Counts.self) == "only the provider's contract has the member `more`")
        #expect(difference(Right.Counts.self, Left.Counts.self) == "only the user's contract has the member `more`")
    }

    @Test func `a difference names the member, the type, and the first field that differs`() {
        #expect(
            difference(FindContract<Left.Novel2>.self, FindContract<Right.Novel2>.self)
                == "`find` takes `Novel2`, where `Novel2.year` is `Int` for the user and `Int32` for the provider")
        #expect(
            difference(FindContract<Int>.self, FindContract<String>.self)
                == "`find` takes `Int` for the user and `String` for the provider")
        #expect(
            difference(FindContract<[Int]>.self, FindContract<[String]>.self)
                == "`find` takes `Array<Int>` for the user and `Array<String>` for the provider")
        #expect(
            difference(FindContract<[Left.Novel2]>.self, FindContract<[Right.Novel2]>.self)
                == "`find` takes `Array<Novel2>`, where `Novel2.year` is `Int` for the user and `Int32` for the provider"
        )
        #expect(
            difference(FindContract<GenericValue<Left.Novel2>>.self, FindContract<GenericValue<Right.Novel2>>.self)
                == "`find` takes `GenericValue<Novel2>`, where `Novel2.year` is `Int` for the user and `Int32` for the provider"
        )
        #expect(
            difference(FindContract<GenericValue<Int>>.self, FindContract<GenericValue<Int8>>.self)
                == "`find` takes `GenericValue<Int>` for the user and `GenericValue<Int8>` for the provider")
    }

    @Test func `every pair of types that do not match has a sentence of its own for it, and every control has none`()
        throws
    {
        func contract(_ layout: String) -> String {
            "call: Int\nfailure: Int\nasync find takes: \(layout)\nasync find answers: Int"
        }
        for pair in LayoutPairTests.pairs {
            let texts = try pair.texts()
            let sentence = ContractLayout.difference(consumer: contract(texts.left), provider: contract(texts.right))
            #expect(sentence?.hasPrefix("`find` takes ") == true, "\(pair): \(sentence ?? "nothing")")
        }
        for pair in equals {
            let texts = try pair.texts()
            let sentence = ContractLayout.difference(consumer: contract(texts.left), provider: contract(texts.right))
            #expect(sentence == nil, "\(pair)")
        }
    }

    @Test func `a text damaged anywhere is a difference and no crash`() {
        let own =
            "call: Int\nfailure: #0=enum M.E 8/8/8/0{one:Array<Int>,indirect two:tuple 8/8/8/0{x:#0,Int}}\nsync `a b` takes: #0\nsync `a b` answers: Int"
        let bytes = Array(own.utf8)
        #expect(ContractLayout.difference(consumer: own, provider: own) == nil)
        for index in bytes.indices {
            for byte in "\0\n#<9`}é".utf8 where bytes[index] != byte {
                var damaged = bytes
                damaged[index] = byte
                let text = String(decoding: damaged, as: UTF8.self)
                if ContractLayout.difference(consumer: own, provider: text) == nil {
                    Issue.record("byte \(index) as \(byte) made no difference")
                }
            }
            let cut = String(decoding: bytes[..<index], as: UTF8.self)
            if ContractLayout.difference(consumer: cut, provider: own) == nil {
                Issue.record("the first \(index) bytes made no difference")
            }
        }
    }
}

private final class Jacket: Codable, Sendable {}
private struct JacketedBook: Codable { var jacket: Jacket }
struct GenericValue<Value: Codable & Sendable>: Codable, Sendable { var value: Value }

private struct FindContract<Input: Codable & Sendable>: Contract {
    static var version: Version { "1.0.0" }
    let find = AsyncMethod<Input, Int>()
}

extension Left { struct Novel: Codable { var title: String, year: Int } }
extension Right { struct Novel: Codable { var title: String, year: Int } }
extension Left { struct Novel2: Codable { var title: String, year: Int } }
extension Right { struct Novel2: Codable { var title: String, year: Int32 } }

extension Left {
    struct Catalogue: Contract {
        static let version: Version = "1.0.0"
        let search = AsyncMethod<String, [Novel]>()
        let count = SyncMethod<Nothing, Int>()
        let add = AsyncMethod<Novel, Sourced<Novel>>("add one")
    }
}
extension Right {
    struct Catalogue: Contract {
        static let version: Version = "1.0.0"
        let search = AsyncMethod<String, [Novel]>()
        let count = SyncMethod<Nothing, Int>()
        let add = AsyncMethod<Novel, Sourced<Novel>>("add one")
    }
}

extension Left {
    fileprivate struct Refused: Contract {
        static let version: Version = "1.0.0"
        let find = AsyncMethod<String, Jacket>()
        let all = SyncMethod<Nothing, [JacketedBook]>()
    }
}

extension Left {
    struct OneSided: Contract {
        static let version: Version = "1.0.0"
        let find = AsyncMethod<String, Novel>()
    }
}
extension Right {
    fileprivate struct OneSided: Contract {
        static let version: Version = "1.0.0"
        let find = AsyncMethod<String, Jacket>()
    }
}

extension Left {
    struct Names: Contract {
        static let version: Version = "1.0.0"
        let find = AsyncMethod<String, Int>()
    }
    struct Kinds: Contract {
        static let version: Version = "1.0.0"
        let find = AsyncMethod<String, Int>()
    }
    struct Counts: Contract {
        static let version: Version = "1.0.0"
        let find = AsyncMethod<String, Int>()
    }
}
extension Right {
    struct Names: Contract {
        static let version: Version = "1.0.0"
        let search = AsyncMethod<String, Int>()
    }
    struct Kinds: Contract {
        static let version: Version = "1.0.0"
        let find = SyncMethod<String, Int>()
    }
    struct Counts: Contract {
        static let version: Version = "1.0.0"
        let find = AsyncMethod<String, Int>()
        let more = AsyncMethod<String, Int>()
    }
}
