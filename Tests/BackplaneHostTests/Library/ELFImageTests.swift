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
