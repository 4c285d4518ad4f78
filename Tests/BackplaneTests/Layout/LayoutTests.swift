import Foundation
import Testing

@testable import Backplane
@testable import BackplaneHost

@Suite struct ContractLayoutTests {
    private func text<C: Contract>(_ type: C.Type) -> String { Pair.sideless(LayoutReader.layouts(of: type)) }
    private func difference<A: Contract, B: Contract>(_ a: A.Type, _ b: B.Type) -> String? {
        ContractLayout.difference(consumer: text(a), provider: text(b))
    }

    @Test func `the host reads a contract's text`() throws {
        let layout = try #require(ContractLayout(text: LayoutReader.layouts(of: Left.Catalogue.self)))
        #expect(layout.inputs.keys.sorted() == ["add one", "count", "search"])
        let refused = try #require(ContractLayout(text: LayoutReader.layouts(of: Left.Refused.self)))
        #expect(refused.inputs.keys.sorted() == ["all", "find"] && refused.outputs.isEmpty)
        #expect(ContractLayout(text: LayoutReader.layouts(of: NoContract.self))?.entries.count == 2)
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
        for pair in pairs {
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

@Suite struct LayoutTextTests {
    @Test func `private and local types and those in other modules' extensions say so, and hold no address`() throws {
        let hidden = try layout(of: sameHere)
        #expect(hidden == "#0=struct BackplaneTests.(private).Same 8/8/8/0{code:Int}")
        let local = try layout(of: Left.local)
        #expect(local.contains("(private).Local 8/8/8/0{limit:Int}"))
        let inString = try layout(of: String.InString.self)
        #expect(inString == "#0=struct Swift.SS.(in BackplaneTests).InString 8/8/8/0{id:Int}")
        let inDate = try layout(of: Date.InDate.self)
        #expect(inDate == "#0=struct FoundationEssentials.Date.(in BackplaneTests).InDate 8/8/8/0{id:Int}")
        let inArray = try layout(of: [Int8].InArray.self)
        #expect(inArray.contains("(in BackplaneTests)<Int8>.InArray 8/8/8/0{id:Int}"))
    }

    @Test(arguments: pairs + equals)
    func `a layout is one line, which the host reads`(pair: Pair) throws {
        for type in [pair.left, pair.right] {
            let text = try layout(of: type)
            #expect(ContractLayout(text: "state: \(text)") != nil)
            #expect(!text.contains { $0.isNewline })
            #expect(try layout(of: type) == text, "the same each time it is read")
        }
    }

    @Test(
        arguments: [
            Left.Nested.self, Left.PrivateField.self, Left.Cases.self, Left.DeepPayload.self, Right.TupleOrStruct.self,
            BackplaneError.self,
        ] as [any Sendable.Type])
    func `the compiler refers to declared types, so that no other library's of that name is found`(
        type: any Sendable.Type
    ) throws {
        let metadata = TypeMetadata(type)
        let records = try #require(metadata.descriptor.fields?.records)
        for mangled in records.compactMap(\.type) {
            let field = TypeMetadata(try #require(mangled.type(in: metadata)))
            switch field.kind {
            case .tuple, .other: continue
            case .structure, .enumeration:
                if StandardType.declared(by: field.descriptor) == nil {
                    #expect(mangled.declaration?.address == field.descriptor.address)
                }
            }
        }
    }

    @Test(arguments: [
        "", "#", "#1=", "struct ", "Int<", "Int<>", "Int<Int", "tuple ", "tuple 1/2{}", "tuple 1/1/1/1{Int,}",
        "#99999999999999999999", "`",
        "#0", "#0=struct A 1/1/1/0{a:#1}", "#0=struct A<#0=struct B 1/1/1/0{}> 1/1/1/0{}", "#0=struct A 1/1/1/0{",
        "#0=class A 1/1/1/0{}", "#0=struct `\\zz` 1/1/1/0{}", "#0=struct A 1/1/1/0{a:}",
        "(private)", "\u{0}",
    ])
    func `what is no layout's text is refused`(text: String) {
        #expect(ContractLayout(text: "state: \(text)") == nil)
    }
}

extension String { struct InString { var id: Int } }
extension Date { struct InDate { var id: Int } }
extension Array { struct InArray { var id: Int } }
struct `Raw: {name}` { var `one,two`: Int, tuple: (`a b`: Int, c: Int) }

@Suite struct StandardTypeTests {
    @Test(
        arguments: [
            (Int.self, "Int"), (Int8.self, "Int8"), (UInt.self, "UInt"), (UInt64.self, "UInt64"),
            (Int128.self, "Int128"), (Float.self, "Float"), (Double.self, "Double"),
            (Bool.self, "Bool"), (String.self, "String"), (Character.self, "Character"), (Substring.self, "Substring"),
            (Duration.self, "Duration"), (Never.self, "Never"),
            (Date.self, "Date"), (Data.self, "Data"), (UUID.self, "UUID"), (URL.self, "URL"), (Decimal.self, "Decimal"),
            (Locale.self, "Locale"), (TimeZone.self, "TimeZone"),
            (DateComponents.self, "DateComponents"), (IndexPath.self, "IndexPath"),
            (Int?.self, "Optional<Int>"), ([Int].self, "Array<Int>"), ([String: Int].self, "Dictionary<String,Int>"),
            (Set<Int>.self, "Set<Int>"),
            (Result<Int, Never>.self, "Result<Int,Never>"), (ClosedRange<Int>.self, "ClosedRange<Int>"),
            (PartialRangeFrom<Int>.self, "PartialRangeFrom<Int>"),
            ([[Int?]].self, "Array<Array<Optional<Int>>>"),
        ] as [(any Sendable.Type, String)])
    func `types of the standard library and Foundation go by name`(type: any Sendable.Type, name: String) throws {
        let text = try layout(of: type)
        #expect(text == name)
    }

    @Test func `somebody's own type of such a name is somebody's own`() throws {
        let own = try layout(of: Left.Data.self)
        #expect(own.hasPrefix("#0=struct BackplaneTests.Left.Data "))
        let optional = try layout(of: Own.Optional<Int>.self)
        #expect(optional.contains(".Optional<Int> "))
        #expect(optional.hasPrefix("#0=enum BackplaneTests."))
    }

    @Test(
        arguments: [Call.self, BackplaneError.self, Nothing.self, Version.self, Sourced<Int>.self, Kept<[String]>.self]
            as [any Sendable.Type])
    func `the SDK's own types are described like anybody's`(type: any Sendable.Type) throws {
        let text = try layout(of: type)
        #expect(text.hasPrefix("#0=struct Backplane."))
    }

    @Test func `the call frame is described to its bytes`() throws {
        let text = try layout(of: Call.self)
        #expect(
            text.hasPrefix(
                "#0=struct Backplane.Call 64/8/64/0{frame:#1=struct __C.bp_call 64/8/64/0{size:UInt32,flags:UInt32,deadline_ns:Int64,path:tuple 16/2/16/0{UInt16,"
            ))
    }

    /// Fields of which the compiler wrote the types as text, in all its short forms.
    struct Shelf {
        var flag: Bool, letter: Character, part: Substring, count: UInt, ratio: Double, share: Float
        var title: String?, twice: String??, numbers: [Int], rows: [[Double]], ids: Set<Int>, notes: [String: String],
            counts: [String: Int]
        var optional: [String?]?, nested: [Int: [String: [Bool]]], sets: Set<Set<String>>,
            strings: [String: [String: String]]
    }

    @Test func `what is read of a name without the runtime is what the runtime says`() throws {
        let metadata = TypeMetadata(Shelf.self), records = try #require(metadata.descriptor.fields?.records)
        for record in records {
            let mangled = try #require(record.type), type = try #require(mangled.type(in: metadata))
            let read = try #require(mangled.standardLayout, "\(record.name): \(mangled.text)")
            let told = try layout(of: type)
            #expect(read == told)
        }
    }
}

private enum Own {
    enum Optional<Value: Sendable>: Sendable { case some(Value), none }
}
