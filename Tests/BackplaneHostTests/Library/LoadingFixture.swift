import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// What the loading tests work on: real folders, real files, real libraries.
enum LoadingFixture {
    /// The bytes of a small plugin. When code of it runs it leaves a file beside itself, called like it with `.ran` at
    /// the end.
    static func library(abi: ClosedRange<UInt32>? = nil) throws -> [UInt8] {
        try FixtureLibrary.bytes(id: "org.example.test", version: "1.2.3", abi: abi, settings: ["marks": "1"])
    }

    /// The same without an identity.
    static func anonymousLibrary() throws -> [UInt8] {
        var bytes = try library()
        bytes[try section("backplane", of: bytes).name] = UInt8(ascii: "x")
        return bytes
    }

    /// Returns where a library has the header of a section, and its name.
    static func section(_ name: String, of bytes: [UInt8]) throws -> (header: Int, name: Int) {
        let first = number(at: 40, as: UInt64.self, of: bytes), count = number(at: 60, as: UInt16.self, of: bytes)
        return try place(of: name, in: ".shstrtab", (0..<count).map { first + $0 * 64 }, of: bytes)
    }

    /// Returns where a library has a symbol, exported or needed, and its name.
    static func symbol(_ name: String, of bytes: [UInt8]) throws -> (record: Int, name: Int) {
        let symbols = try #require(ELFImage(bytes).range(ofSection: ".dynsym"))
        return try place(
            of: name, in: ".dynstr", Array(stride(from: symbols.lowerBound, to: symbols.upperBound, by: 24)), of: bytes)
    }

    /// Looks through records, each of which begins with the place of its name.
    private static func place(of name: String, in names: String, _ records: [Int], of bytes: [UInt8]) throws -> (
        Int, Int
    ) {
        let names = try #require(ELFImage(bytes).range(ofSection: names)).lowerBound, name = Array(name.utf8) + [0]
        let places = records.map { ($0, names + number(at: $0, as: UInt32.self, of: bytes)) }
        return try #require(places.first { bytes[$0.1...].starts(with: name) })
    }

    private static func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type, of bytes: [UInt8])
        -> Int
    {
        bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: offset, as: type)) }
    }
}
