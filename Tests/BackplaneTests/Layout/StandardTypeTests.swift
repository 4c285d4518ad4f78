import Backplane
import Foundation
import Testing

@testable import Backplane

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
