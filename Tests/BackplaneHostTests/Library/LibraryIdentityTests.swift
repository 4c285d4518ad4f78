import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Identity records, byte by byte as the header documents them.
struct LibraryIdentityTests {
    private func record(
        magic: String = "BACKPLNE", size: UInt32 = 320, abi: (UInt32, UInt32) = (0, 0), swift: UInt32 = 0,
        sdk: String = "", toolchain: String = "", id: String = "", version: String = "", padding: Int = 0
    ) -> [UInt8] {
        var bytes = Array(magic.utf8)
        for number in [size, abi.0, abi.1, swift] { bytes += withUnsafeBytes(of: number.littleEndian, Array.init) }
        for (text, width) in [(sdk, 32), (toolchain, 160), (id, 72), (version, 32)] {
            bytes += Array(text.utf8) + [UInt8](repeating: 0, count: width - text.utf8.count)
        }
        return bytes + [UInt8](repeating: 0xAA, count: padding)
    }

    private func problem(_ bytes: [UInt8]) -> String? {
        do throws(IdentityRecord.Defect) {
            _ = try IdentityRecord.all(in: bytes[...])
            return nil
        } catch {
            return error.text
        }
    }

    @Test func `every field is read from its place`() throws {
        let bytes = record(
            abi: (2, 5), swift: 6003, sdk: "0.1.0", toolchain: "clang 17", id: "org.example.clock", version: "1.2.0")
        let records = try IdentityRecord.all(in: bytes[...])
        try #require(records.count == 1)
        #expect(records[0].abi == 2...5)
        #expect(records[0].swift == "6.3.0")
        #expect(records[0].sdk == "0.1.0")
        #expect(records[0].toolchain == "clang 17")
        #expect(records[0].id == "org.example.clock")
        #expect(records[0].version == "1.2.0")
    }

    @Test func `a longer record of a newer SDK is stepped over whole`() throws {
        let bytes = record(size: 332, id: "newer", padding: 16) + record(id: "older")
        #expect(try IdentityRecord.all(in: bytes[...]).map(\.id) == ["newer", "older"])
    }

    @Test func `a shorter record says nothing in the fields that it does not reach`() throws {
        let bytes =
            record(size: 24, abi: (1, 2), swift: 6003, sdk: "0.1.0").prefix(24)
            + record(size: 287, sdk: "0.2.0", id: "cut off").prefix(287) + [0]
        let records = try IdentityRecord.all(in: bytes[...])
        #expect(records.map(\.abi) == [1...2, 0...0])
        #expect(records.map(\.swift) == ["6.3.0", nil])
        #expect(records.map(\.sdk) == [nil, "0.2.0"])
        #expect(records.map(\.id) == [nil, nil])
    }

    @Test func `what is not a record is refused, saying why`() {
        #expect(problem([]) == "is empty")
        #expect(problem(record(magic: "BACKPLAN")) == "does not begin with BACKPLNE")
        #expect(problem(Array("BACKPLNE".utf8)) == "is truncated after 8 bytes")
        #expect(problem(record(size: 23)) == "declares its size as 23 bytes, but needs 24")
        #expect(problem(record(size: .max)) == "declares its size as 4294967295 bytes, but has 320")
        #expect(problem(record().dropLast()) == "declares its size as 320 bytes, but has 319")
        #expect(problem(record(abi: (5, 2))) == "declares an ABI range from 5 down to 2")
        #expect(problem(record(version: "one")) == "has the version `one`, expected one such as 1.2.0")
        #expect(problem(record() + [0, 0, 0, 0, 0, 0, 0, 0]) == "does not begin with BACKPLNE")
    }

    @Test func `a text is UTF-8 and zeros follow it`() {
        var bytes = record(id: "ab")
        bytes[216 + 5] = 0x63
        #expect(problem(bytes) == "has bytes after the end of its id")
        bytes = record(id: "ab")
        bytes[217] = 0xFF
        #expect(problem(bytes) == "does not state its id in UTF-8")
    }

    @Test func `two records that contradict each other are refused`() throws {
        for other in [record(abi: (0, 1)), record(id: "b"), record(version: "2.0.0")] {
            let image = try image(record(id: "a", version: "1.0.0") + other)
            let error = #expect(throws: BackplaneError.self) { try LibraryIdentity(of: image, at: "libA.so") }
            #expect(error?.code == .pluginNoIdentity)
            #expect(error?.message.contains("has two values") == true)
        }
    }

    /// A real library with `section` in place of its identity.
    private func image(_ section: [UInt8]) throws -> ELFImage {
        var bytes = try LoadingFixture.library()
        let start = try #require(ELFImage(bytes).range(ofSection: LibraryIdentity.section)).lowerBound,
            size = try LoadingFixture.section(LibraryIdentity.section, of: bytes).header + 32
        bytes.replaceSubrange(start..<start + section.count, with: section)
        bytes.replaceSubrange(size..<size + 8, with: withUnsafeBytes(of: section.count.littleEndian, Array.init))
        return try ELFImage(bytes)
    }

    @Test func `ABI ranges need one number in common`() throws {
        let identity = try LibraryIdentity(of: image(record(abi: (3, 5)) + record(abi: (3, 5))), at: "libA.so")
        for host in [1...3, 5...9, 4...4, 0...9] as [ClosedRange<UInt32>] {
            try identity.requireABI(in: host, at: "libA.so")
        }

        let older = #expect(throws: BackplaneError.self) { try identity.requireABI(in: 6...7, at: "libA.so") }
        #expect(
            older?.message
                == "the plugin supports ABI 3 to 5, this host ABI 6 to 7; rebuild the plugin with a newer Backplane SDK"
        )
        let newer = #expect(throws: BackplaneError.self) { try identity.requireABI(in: 2...2, at: "libA.so") }
        #expect(
            newer?.message
                == "the plugin supports ABI 3 to 5, this host ABI 2; rebuild the host with a newer Backplane, or the plugin with an older SDK"
        )
        #expect(newer?.code == .pluginABIMismatch && newer?.location == "libA.so")
    }
}
