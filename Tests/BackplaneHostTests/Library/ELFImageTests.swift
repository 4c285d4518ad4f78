import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// The parser against images that are damaged in every way: it refuses or reads them, and never reads outside.
@Suite(.timeLimit(.minutes(10)))
struct ELFImageTests {
    private let sound: [UInt8]

    init() throws {
        sound = try LoadingFixture.library()
    }

    private func problem(_ bytes: [UInt8]) -> ELFImage.Defect? {
        do throws(ELFImage.Defect) {
            _ = try ELFImage(bytes)
            return nil
        } catch {
            return error
        }
    }

    private func patched(_ offset: Int, _ bytes: UInt8...) -> [UInt8] {
        var image = sound
        image.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        return image
    }

    @Test func `a sound image gives its sections and symbols`() throws {
        let image = try ELFImage(sound)
        #expect(image.section(named: "backplane")?.starts(with: "BACKPLNE".utf8) == true)
        #expect(image.section(named: "backplan") == nil)
        #expect(image.section(named: ".bss") == nil, "a section without bytes in the file has none to give")
        #expect(image.defines(symbol: "backplane_plugin_entry_v1"))
        #expect(!image.defines(symbol: "backplane_plugin_entry_v"))
        #expect(!image.defines(symbol: "backplane_plugin_entry_v10"))
        #expect(!image.defines(symbol: "fopen"), "a function that is merely needed is not defined")
        #expect(!image.defines(symbol: ""))
    }

    @Test(arguments: [("libc.so.6", 0), ("libz.so.1", 0), ("libd.so.6", 1)])
    func `libraries of the toolchain and the system are no strangers`(name: String, count: Int) throws {
        var bytes = sound
        let needed = try #require(bytes.firstRange(of: Array("libc.so.6\0".utf8)))
        bytes.replaceSubrange(needed, with: Array("\(name)\0".utf8))
        let image = try ELFImage(bytes)
        #expect(image.strangers == Array(repeating: .init(name: name, path: nil), count: count))
        #expect(image.lasting == [], "where the environment decides, nothing is known of it")
    }

    @Test func `a static that the process has once is part of no swap`() throws {
        let image = try ELFImage(sound)
        let table = try #require(image.range(ofSection: ".dynsym")),
            names = try #require(image.section(named: ".dynstr"))
        let symbol = try #require(
            stride(from: table.lowerBound, to: table.upperBound, by: 24).first { offset in
                let name = sound[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
                return names[name...].starts(with: Array("backplane_plugin_entry_v1\0".utf8))
            })
        // STB_GNU_UNIQUE, STT_OBJECT
        let lasting = try ELFImage(patched(symbol + 4, 0xA1)).lasting
        #expect(image.lasting == [])
        #expect(lasting.count == 1 && lasting[0].contains("the C++ static `backplane_plugin_entry_v1`, which"))
    }

    @Test func `every library that this process has loaded reads as whole`() throws {
        let maps = try FileDescriptor(opening: "/proc/self/maps", O_RDONLY).bytes(count: 1 << 22)
        let names = maps.split(separator: UInt8(ascii: "\n")).compactMap { $0.split(separator: UInt8(ascii: " ")).last }
        let paths = Set(
            names.map { String(decoding: $0, as: UTF8.self) }.filter { $0.hasSuffix(".so") || $0.contains(".so.") })
        #expect(paths.contains { $0.contains("/libc.so") })
        for path in paths {
            // Another test's library may be gone from the disk.
            guard let data = FileManager.default.contents(atPath: path) else { continue }
            #expect(problem(Array(data)) == nil, "\(path)")
        }
    }

    @Test func `no shorter file is taken for whole`() {
        let lengths = Set(stride(from: 0, to: sound.count, by: 37)).union(max(0, sound.count - 200)..<sound.count)
            .union(0..<70)
        for length in lengths.sorted() {
            switch problem(Array(sound.prefix(length))) {
            case .damaged where length >= 4: break
            case .notELF where length < 4: break
            case let other: Issue.record("the first \(length) of \(sound.count) bytes: \(String(describing: other))")
            }
        }
    }

    @Test func `a file that a linker has sized but not filled is not taken for whole`() {
        for length in stride(from: 0, to: sound.count - 64 * 3, by: 509) {
            let bytes = sound.prefix(length) + [UInt8](repeating: 0, count: sound.count - length)
            #expect(problem(Array(bytes)) != nil, "filled up to \(length)")
        }
    }

    @Test func `machine, word size, byte order and type are told apart`() {
        #expect(problem(patched(0, 0)) == .notELF)
        #expect(problem(patched(4, 1)) == .wrongMachine(found: "32-bit"))
        #expect(problem(patched(5, 2)) == .wrongMachine(found: "big-endian"))
        #expect(problem(patched(18, 243, 0)) == .wrongMachine(found: "RISC-V"))
        #expect(problem(patched(18, 0x34, 0x12)) == .wrongMachine(found: "machine number 4660"))
        #expect(problem(patched(16, 2, 0)) == .notLibrary(type: 2))
    }

    @Test(arguments: [32, 40]) func `a table beyond the end is noticed, however far`(field: Int) {
        for value in [UInt64.max, .max - 63, .max / 2, UInt64(sound.count), UInt64(sound.count) - 55] as [UInt64] {
            var bytes = sound
            bytes.replaceSubrange(field..<field + 8, with: withUnsafeBytes(of: value.littleEndian, Array.init))
            guard case .damaged = problem(bytes) else {
                Issue.record("a table at \(value) was accepted")
                continue
            }
        }
    }

    @Test func `no flipped byte of the headers makes the parser read outside`() throws {
        let sections = sound.count - sound.count % 8 - 64 * 40
        for offset in Array(0..<1024) + Array(max(0, sections)..<sound.count) {
            for value in [0x00, 0x7F, 0x80, 0xFF] as [UInt8] {
                var bytes = sound
                bytes[offset] = value
                // Whatever it says, it says it without trapping; what it accepts can be asked.
                guard let image = try? ELFImage(bytes) else { continue }
                _ = image.section(named: "backplane")
                _ = image.defines(symbol: "backplane_plugin_entry_v1")
            }
        }
    }
}

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
        do throws(LibraryIdentity.Defect) {
            _ = try LibraryIdentity.records(in: bytes[...])
            return nil
        } catch {
            return error.text
        }
    }

    @Test func `every field is read from its place`() throws {
        let bytes = record(
            abi: (2, 5), swift: 6003, sdk: "0.1.0", toolchain: "clang 17", id: "org.example.clock", version: "1.2.0")
        let records = try LibraryIdentity.records(in: bytes[...])
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
        #expect(try LibraryIdentity.records(in: bytes[...]).map(\.id) == ["newer", "older"])
    }

    @Test func `a shorter record says nothing in the fields that it does not reach`() throws {
        let bytes =
            record(size: 24, abi: (1, 2), swift: 6003, sdk: "0.1.0").prefix(24)
            + record(size: 287, sdk: "0.2.0", id: "cut off").prefix(287) + [0]
        let records = try LibraryIdentity.records(in: bytes[...])
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

/// One process, one Swift runtime: libraries built by another minor version of Swift are refused before they are
/// loaded.
struct SwiftRuntimeTests {
    private static let swift = "libTurnstile1.so"
    private static let c = "libClock.so"

    /// A library of this package, which says that another Swift built it; `nil`: as it is.
    private func library(_ name: String, saying swift: Int? = nil) throws -> [UInt8] {
        var bytes = Array(try Data(contentsOf: URL(filePath: BuiltProducts.folder + "/" + name)))
        guard let swift else { return bytes }
        var section = bytes[try #require(ELFImage(bytes).range(ofSection: "backplane"))]
        // In every record that says one, or else in the first.
        var (places, first) = ([Int](), section.startIndex + 20)
        while !section.isEmpty {
            let size = Int(section[section.startIndex + 8]) | Int(section[section.startIndex + 9]) << 8
            let place = section.startIndex + 20
            if section[place] != 0 || section[place + 1] != 0 { places.append(place) }
            section = section.dropFirst((size + 7) / 8 * 8)
        }
        first = places.first ?? first
        for place in places + [first] {
            for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: swift >> (8 * byte)) }
        }
        return bytes
    }

    private func prepare(_ bytes: [UInt8], _ runtime: SwiftRuntime = .ofThisProcess) throws -> LibraryIdentity {
        let folder = try TestFolder(), loads = try LoadFolder(in: folder.path + "/loads")
        let path = try folder.write(bytes, as: "libX.so")
        do throws(BackplaneError) {
            return try LibraryFile.prepare(path, in: loads, runtime: runtime).identity
        } catch {
            let left = try FileTree.names(in: loads.path)
            #expect(left == ["lock"], "a copy of a refused library stayed")
            #expect(error.location == path)
            throw error
        }
    }

    private func refusal(_ bytes: [UInt8], _ runtime: SwiftRuntime = .ofThisProcess) throws -> BackplaneError? {
        #expect(throws: BackplaneError.self) { try prepare(bytes, runtime) }
    }

    private var own: Version { SwiftCompiler.version }
    private func number(_ version: Version) -> Int { version.major * 1_000 + version.minor }

    @Test func `a Swift plugin says which Swift built it, without its author doing anything`() throws {
        let names = ["_Challenge", "Almanac", "Bookshelf", "BooksAPIv1", "BooksAPIv2"]
        for name in names {
            let identity = try prepare(library("lib\(name).so"))
            #expect(identity.hasSwift && identity.swift == own && identity.sdk == HostVersion.text, "\(name)")
        }
        #expect(own >= "6.3.0")
    }

    @Test func `a plugin in C has no Swift in it, though SwiftPM built it`() throws {
        for name in ["Clock", "FixturesInC"] {
            let identity = try prepare(library("lib\(name).so"))
            #expect(!identity.hasSwift && identity.swift == nil && identity.sdk == nil, "\(name)")
        }
    }

    @Test func `a Swift plugin of another minor version is refused before it is loaded`() throws {
        for other in [
            Version(own.major, own.minor - 1), Version(own.major, own.minor + 1), Version(own.major - 1, own.minor),
            Version(own.major + 1, own.minor),
        ] {
            let error = try refusal(library(Self.swift, saying: number(other)))
            #expect(error?.code == .pluginToolchainMismatch)
            let (host, found) = (SwiftRuntime.minor(own), SwiftRuntime.minor(other))
            #expect(
                error?.message
                    == "a process has only one Swift runtime: this host uses Swift \(host), but the library was built with Swift \(found); rebuild it with Swift \(host)"
            )
        }
    }

    @Test func `a Swift plugin that does not say its Swift is refused with advice`() throws {
        let error = try refusal(library(Self.swift, saying: 0))
        #expect(error?.code == .pluginToolchainMismatch)
        #expect(
            error?.message.contains("does not record the version of Swift that built it; link the Backplane SDK")
                == true)
    }

    // MARK: Static runtimes

    @Test func `a host with the runtime linked into itself loads no library`() throws {
        let host = SwiftRuntime(
            version: own, loaded: ["/usr/bin/server", "/lib/x86_64-linux-gnu/libc.so.6", "/opt/swiftCore/libm.so"])
        #expect(!host.isShared)
        for name in [Self.swift, Self.c] {
            let error = try refusal(library(name), host)
            #expect(error?.code == .hostStaticRuntime)
            #expect(error?.message.contains("-static-stdlib") == true)
        }
    }

    @Test func `a host with the runtime as a library loads them, and so does one that cannot tell`() {
        #expect(
            SwiftRuntime(version: own, loaded: ["/usr/bin/server", "/usr/lib/swift/linux/libswiftCore.so"]).isShared)
        #expect(SwiftRuntime(version: own, loaded: nil).isShared)
    }
}

/// What `/proc/self/smaps` says of copies.
struct MappedMemoryTests {
    @Test func `a loaded copy is in the table of this process, also when its file is gone`() throws {
        let folder = try TestFolder(), loads = try LoadFolder(in: folder.path + "/loads")
        let path = try folder.write(LoadingFixture.library(), as: "libSound.so")
        let file = try LibraryFile.prepare(path, in: loads)
        #expect(try MappedMemory.of([file.copy]).isEmpty)

        _ = try file.load()
        let memory = try #require(try MappedMemory.of([file.copy])[file.copy])
        unlink(file.copy)
        let unlinked = try #require(try MappedMemory.of([file.copy])[file.copy])

        #expect(memory.mapped >= 8_192)
        #expect(memory.dirty > 0, "what the loader has relocated is this process's own")
        #expect(memory.dirty <= memory.mapped)
        #expect(unlinked.mapped == memory.mapped)
    }
}
