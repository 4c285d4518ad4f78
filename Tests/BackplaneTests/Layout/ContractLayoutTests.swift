import BackplaneManagers
import Testing

@testable import Backplane
@testable import BackplaneBoundary

@Suite struct ContractLayoutTests {
    private func text<C: Contract>(_ type: C.Type) -> String { Pair.sideless(ContractLayout(of: type).text) }
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

    @Test func `a contract's text reads back`() {
        for layout in [
            ContractLayout(of: Left.Catalogue.self), ContractLayout(of: Left.Refused.self),
            ContractLayout(of: NoContract.self),
        ] {
            #expect(ContractLayout(text: layout.text) == layout)
        }
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

    @Test func `the text of a state is one line, which reads back`() throws {
        for layout in [
            ContractLayout(ofState: [String: Left.Novel].self), ContractLayout(ofState: JacketedBook.self),
            ContractLayout(ofState: Int.self),
        ] {
            #expect(!layout.text.contains("\n"))
            #expect(ContractLayout(text: layout.text) == layout)
        }
        #expect(ContractLayout(ofState: Int.self).text == "state: Int")
        #expect(
            ContractLayout(ofState: JacketedBook.self).text
                == "refused state: `JacketedBook`, where `JacketedBook.jacket` is `Jacket`, a class")
    }

    @Test func `states have no difference where they are declared alike, and say where they differ otherwise`() {
        func text(_ type: Any.Type) -> String { Pair.sideless(ContractLayout(ofState: type).text) }
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
        let contract = ContractLayout(of: Left.Catalogue.self).text
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

    @Test func `equal contracts with a refusal are no ground for the native lane`() {
        #expect(difference(Left.Refused.self, Left.Refused.self) == "`find` answers `Jacket`, a class")
        #expect(
            difference(Left.RefusedDeep.self, Left.RefusedDeep.self)
                == "`all` takes `Array<JacketedBook>`, where `JacketedBook.jacket` is `Jacket`, a class")
        #expect(
            difference(Left.RefusedElement.self, Left.RefusedElement.self)
                == "`all` answers `Array<Jacket>`, which contains `Jacket`, a class")
    }

    @Test func `a refusal on one side says on which`() {
        #expect(
            difference(Left.OneSided.self, Right.OneSided.self) == "`find` answers `Jacket`, a class, for the provider")
        #expect(difference(Right.OneSided.self, Left.OneSided.self) == "`find` answers `Jacket`, a class, for the user")
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

    @Test(
        arguments: [
            (structPairs, "a field's name", "`FieldName`, where `FieldName.limit` exists only for the user"),
            (structPairs, "one more field", "`More`, where `More.skip` exists only for the provider"),
            (
                structPairs, "two fields of one type in another order",
                "`SameOrder`, where the fields of `SameOrder` are in a different order for the user than for the provider"
            ),
            (
                structPairs, "three levels down",
                "`Shop`, where `Shop.aisles.shelves.top.price` is `Int32` for the user and `UInt32` for the provider"
            ),
            (
                structPairs, "a struct and an enum",
                "`Kind`, where `Kind` is a struct for the user and an enum for the provider"
            ),
            (
                enumPairs, "the order of cases without payload",
                "`CaseOrder`, where the cases of `CaseOrder` are in a different order for the user than for the provider"
            ),
            (
                enumPairs, "an indirect case",
                "`IndirectCase`, where `IndirectCase.old` is indirect for the provider only"
            ),
            (
                enumPairs, "the raw type",
                "`RawType`, where `RawType.rawValue` is `Int` for the user and `String` for the provider"
            ),
            (
                enumPairs, "a raw type and none",
                "`RawTypeOrNone`, where `RawTypeOrNone` has a raw type for the user only"
            ),
            (
                enumPairs, "an empty payload and none",
                "`EmptyPayload`, where `EmptyPayload.new` has a payload for the user only"
            ),
            (
                containerPairs, "the labels of a tuple",
                "`TupleLabels`, where `TupleLabels.place` is `(x: Int, y: Int)` for the user and `(row: Int, column: Int)` for the provider"
            ),
            (
                genericPairs, "an argument that no field mentions",
                "`Phantom<Int>` for the user and `Phantom<String>` for the provider"
            ),
            (
                genericPairs, "the argument of the type around it",
                "`Outer<Int>.Inner` for the user and `Outer<String>.Inner` for the provider"
            ),
            (
                hiddenPairs, "one private type twice, and two of one name",
                "`Two<Same, Same>` for the user and another `Two<Same, Same>` for the provider"
            ),
        ] as [([Pair], String, String)])
    func `differences are told in words`(pairs: [Pair], name: String, sentence: String) throws {
        let pair = try #require(pairs.first { $0.description == name })
        let texts = try pair.texts()
        let difference = ContractLayout.difference(
            consumer: "call: Int\nfailure: Int\nasync find takes: \(texts.left)\nasync find answers: Int",
            provider: "call: Int\nfailure: Int\nasync find takes: \(texts.right)\nasync find answers: Int")
        #expect(difference == "`find` takes " + sentence)
    }

    @Test func `another call frame or failure type is a difference`() {
        let own = text(NoContract.self)
        let frame = own.replacing("deadline_ns:Int64", with: "deadline_ns:UInt64")
        #expect(
            ContractLayout.difference(consumer: own, provider: frame)
                == "every call carries `Call`, where `Call.frame.deadline_ns` is `Int64` for the user and `UInt64` for the provider"
        )
        let failure = own.replacing("message:String,", with: "")
        #expect(
            ContractLayout.difference(consumer: own, provider: failure)
                == "every call throws `BackplaneError`, where `BackplaneError.message` exists only for the user")
        let size = own.replacing("struct Backplane.Call 64/8/64", with: "struct Backplane.Call 72/8/72")
        #expect(
            ContractLayout.difference(consumer: own, provider: size)
                == "every call carries `Call`, where `Call` is 64 bytes for the user and 72 for the provider")
    }

    @Test(arguments: [
        "", "\n", "call", "call: Int", "call: Int\nfailure: Int\n", "failure: Int\ncall: Int",
        "call: Int\nfailure: Int\nasync find takes: Int", "refused",
        "call: Int\nfailure: Int\nlater find takes: Int\nlater find answers: Int", "\u{0}", "🐋",
        "call: #0=struct A<#0> 1/1/1/0{}\nfailure: #0\n#1",
    ])
    func `what is no contract's text is a difference, even to itself`(text: String) {
        let own = self.text(NoContract.self)
        #expect(
            ContractLayout.difference(consumer: own, provider: text)
                == "the layouts of the provider's contract cannot be read")
        #expect(
            ContractLayout.difference(consumer: text, provider: own)
                == "the layouts of the user's contract cannot be read")
        #expect(
            ContractLayout.difference(consumer: text, provider: text)
                == "the layouts of the user's contract cannot be read")
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

    @Test func `names that refer to each other have an end`() {
        let circle = "call: #0=struct A<#0,#1> 1/1/1/0{}\nfailure: #1=struct B<#0,#1> 1/1/1/0{a:#0}"
        let other = "call: #0=struct A<#0,#1> 1/1/1/0{}\nfailure: #1=struct B<#0,#1> 1/1/1/0{a:#1}"
        #expect(ContractLayout.difference(consumer: circle, provider: other) != nil)
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
    fileprivate struct RefusedDeep: Contract {
        static let version: Version = "1.0.0"
        let all = SyncMethod<[JacketedBook], Nothing>()
    }
    fileprivate struct RefusedElement: Contract {
        static let version: Version = "1.0.0"
        let all = SyncMethod<Nothing, [Jacket]>()
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
