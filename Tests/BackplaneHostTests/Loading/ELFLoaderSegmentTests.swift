import Backplane
import Foundation
import Testing

@testable import BackplaneHost

/// Segments and texts with which the loader works, and libraries with which it works well.
@Suite(.timeLimit(.minutes(10)))
struct ELFLoaderSegmentTests {
    typealias Tag = LoaderImage.Tag
    typealias Segment = LoaderImage.Segment

    private static func number(_ entry: Int, _ image: LoaderImage) -> Int {
        (entry - Int(image.number(at: 32, as: UInt64.self))) / 56
    }

    static let damages: [LoaderDamage] = [
        LoaderDamage("a segment that would replace another") { image in
            let entry = try image.segment(Segment.load) + 56
            image.put(0 as UInt64, at: entry + 16)
            return "segment \(number(entry, image)) at 0x0 does not follow the previous one"
        },
        LoaderDamage("a segment outside any process's memory") { image in
            let entry = try image.segment(Segment.load)
            image.put(UInt64.max, at: entry + 40)
            return "segment \(number(entry, image)) lies at 0x0, outside any process's memory"
        },
        LoaderDamage("read-only memory that is another's") { image in
            let entry = try image.segment(Segment.constants), address: UInt64 = image.number(at: entry + 16)
            image.put(UInt64(64 << 20), at: entry + 40)
            return "segment \(number(entry, image)) refers to address \(hex(address)), outside its memory"
        },
        LoaderDamage("tables for unwinding that are another's") { image in
            let entry = try image.segment(Segment.unwinding), end = try image.end()
            image.put(end, at: entry + 16)
            return "segment \(number(entry, image)) refers to address \(hex(end)), outside its memory"
        },
        LoaderDamage("thread-local variables of another's") { image in
            let entry = try image.segment(Segment.threadLocal), end = try image.end()
            image.put(end, at: entry + 16)
            return "segment \(number(entry, image)) refers to address \(hex(end)), outside its memory"
        },
        LoaderDamage("thread-local variables for which no process has memory") { image in
            let entry = try image.segment(Segment.threadLocal), alignment: UInt64 = image.number(at: entry + 48)
            image.put(UInt64(1) << 40, at: entry + 40)
            return "its thread-local variables occupy 1099511627776 bytes with an alignment of \(alignment)"
        },
        LoaderDamage("a dynamic section in read-only memory") { image in
            let entry = try image.segment(Segment.dynamic)
            // The same bytes, at the end of the code.
            let range = try #require(image.tables().dynamic.segment).range
            let code = try #require(image.tables().memory.parts.first { $0.flags & Segment.executable != 0 })
            let start = code.bytes.upperBound - range.count
            let address = code.addresses.lowerBound + UInt64(start - code.bytes.lowerBound)
            try #require(range.count < code.bytes.count)
            for (index, offset) in range.enumerated() {
                image.put(image.number(at: offset, as: UInt8.self), at: start + index)
            }
            image.put(UInt64(start), at: entry + 8)
            image.put(address, at: entry + 16)
            return "segment \(number(entry, image)) refers to address \(hex(address)), outside its memory"
        },
        LoaderDamage("a dynamic section without an end") { image in
            let segment = try #require(image.tables().dynamic.segment), entry = try image.segment(Segment.dynamic)
            image.put(UInt64(32), at: entry + 32)
            image.put(UInt64(32), at: entry + 40)
            try #require(segment.range.count > 32)
            return "the dynamic section has no end"
        },
        LoaderDamage("no dynamic section") { image in
            image.put(0x6FFF_FFFF as UInt32, at: try image.segment(Segment.dynamic))
            return "it has no dynamic section"
        },
        LoaderDamage("no table of names") { image in
            let tables = try image.tables(), segment = try #require(tables.dynamic.segment)
            let index = try #require(tables.dynamic.entries.firstIndex { $0.tag == Tag.texts })
            image.put(0x6FFF_0000 as UInt64, at: segment.range.lowerBound + index * 16)
            return "it has no table of names"
        },
        LoaderDamage("a table of names without an end") { image in
            try image.set(Tag.textsSize, to: 2)
            return "the table of names has no end"
        },
        LoaderDamage("a needed library whose name lies elsewhere") { image in
            try image.set(Tag.needed, to: 1 << 40)
            return "a library's name lies outside the table of names"
        },
    ]

    @Test(arguments: damages) func `a library is refused for`(_ damage: LoaderDamage) throws {
        try damage.requireRefusal()
    }

    @Test func `a library's path and the reason are in the error, and nothing of it runs`() throws {
        let folder = try LoadingFixture.Folder(), loads = try LoadFolder(in: folder.path + "/loads")
        var image = LoaderImage(try LoadingFixture.library())
        let it = try image.relocation(.relative)
        image.put(it.addend + 32 << 20, at: it.entry + 16)
        let path = try folder.write(image.bytes, as: "libAstray.so")
        let error = #expect(throws: BackplaneError.self) { try LibraryFile.prepare(path, in: loads) }
        #expect(error?.code == .pluginDamaged && error?.location == path)
        #expect(
            error?.message
                == "the library is damaged: relocation \(it.number) refers to address \(hex(it.addend + 32 << 20)), outside its memory; rebuild it"
        )
        #expect(try FileTree.names(in: loads.path) == ["lock"], "its copy stayed")
    }

    // MARK: Sound libraries

    static let flags: [[String]] = [
        ["-fuse-ld=bfd"], ["-fuse-ld=gold"], ["-fuse-ld=lld"], ["-fuse-ld=bfd", "-s"], ["-fuse-ld=lld", "-s"],
        ["-fuse-ld=bfd", "-Wl,--hash-style=both"], ["-fuse-ld=lld", "-Wl,--hash-style=sysv"],
        ["-fuse-ld=lld", "-Wl,--pack-dyn-relocs=relr"], ["-fuse-ld=bfd", "-Wl,-z,norelro"],
        ["-fuse-ld=bfd", "-Wl,-z,noseparate-code"], ["-fuse-ld=lld", "-Wl,-z,separate-loadable-segments"],
        ["-ftls-model=initial-exec"], ["-mtls-dialect=gnu2"], ["-Wl,-z,now"], ["-g", "-O2"],
    ]

    @Test(arguments: flags) func `a library is accepted however it is linked, with and without sections`(
        _ flags: [String]
    ) throws {
        let image = try LoaderImage(flags)
        #expect(image.problem == nil)
        #expect(image.withoutSections.problem == nil)
    }

    @Test func `every library that this process has loaded, and every one built with it, is accepted`() throws {
        let maps = try FileDescriptor(opening: "/proc/self/maps", O_RDONLY).bytes(count: 1 << 22)
        let names = maps.split(separator: UInt8(ascii: "\n")).compactMap { $0.split(separator: UInt8(ascii: " ")).last }
        let loaded = names.map { String(decoding: $0, as: UTF8.self) }.filter {
            $0.hasSuffix(".so") || $0.contains(".so.")
        }
        let folder = TestHost.libraries
        let built = try FileTree.names(in: folder).filter { $0.hasPrefix("lib") && $0.hasSuffix(".so") }
        #expect(built.contains("libClock.so") && loaded.contains { $0.contains("/libc.so") })
        for path in Set(loaded + built.map { "\(folder)/\($0)" }) {
            // Another test's library may be gone from the disk.
            guard let data = FileManager.default.contents(atPath: path) else { continue }
            #expect(LoaderImage(Array(data)).problem == nil, "\(path)")
        }
    }
}
