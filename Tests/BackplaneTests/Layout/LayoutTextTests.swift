import Foundation
import Testing

@testable import Backplane
@testable import BackplaneHost

@Suite struct LayoutTextTests {
    @Test func `a declared type is given with its name, size, alignment, stride, spare patterns and fields`() throws {
        let text = try layout(of: Left.Order.self)
        #expect(text == "#0=struct BackplaneTests.Left.Order 24/8/24/4096{limit:Int,text:String}")
    }

    @Test func `a type met again is a number`() throws {
        let text = try layout(of: Left.RepeatedType.self)
        #expect(text.components(separatedBy: "struct BackplaneTests.Limit").count == 2)
        #expect(text.hasSuffix("again:#1}"))
    }

    @Test func `arguments stand at the type whose they are`() throws {
        let inner = try layout(of: Outer<Int>.Generic<UInt>.self)
        #expect(inner == "#0=struct BackplaneTests.Outer<Int>.Generic<UInt> 8/8/8/0{id:Int}")
        let box = try layout(of: Box<[Box<Int>]>.self)
        #expect(
            box.hasPrefix("#0=struct BackplaneTests.Box<Array<#1=struct BackplaneTests.Box<Int> 8/8/8/0{value:Int}>> "))
        #expect(box.hasSuffix("{value:Array<#1>}"))
    }

    @Test func `an enum is given with its raw type, payloads, labels and indirect cases`() throws {
        let raw = try layout(of: Left.Raw.self)
        #expect(raw == "#0=enum BackplaneTests.Left.Raw 1/1/1/254 of String{new,old}")
        let cases = try layout(of: Right.IndirectCase.self)
        #expect(cases.hasSuffix("{new:Int,indirect old:Int}"))
        let labels = try layout(of: Left.PayloadLabels.self)
        #expect(labels.hasSuffix("{new:tuple 16/8/16/0{year:Int,month:Int}}"))
    }

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
