import Testing

@testable import BackplaneHost

/// Relocations that lead outside the library, or where nothing may be written.
@Suite(.timeLimit(.minutes(5)))
struct ELFRelocationTests {
    typealias Tag = LoaderImage.Tag

    static let damages: [LoaderDamage] = [
        LoaderDamage("an addend far behind the image") { image in
            let it = try image.relocation(.relative)
            image.put(it.addend + 32 << 20, at: it.entry + 16)
            return "relocation \(it.number) refers to address \(hex(it.addend + 32 << 20)), outside its memory"
        },
        LoaderDamage("an addend before the image") { image in
            let it = try image.relocation(.relative)
            image.put(UInt64.max, at: it.entry + 16)
            return "relocation \(it.number) refers to address 0xffffffffffffffff, outside its memory"
        },
        LoaderDamage("a place behind the image") { image in
            let it = try image.relocation(.relative), end = try image.end()
            image.put(end, at: it.entry)
            return "relocation \(it.number) writes to address \(hex(end)), outside its writable memory"
        },
        LoaderDamage("a place in code") { image in
            let it = try image.relocation(.relative), start = try image.value(of: Tag.texts)
            image.put(start, at: it.entry)
            return "relocation \(it.number) writes to address \(hex(start)), outside its writable memory"
        },
        LoaderDamage("a place of which the last bytes are missing") { image in
            let it = try image.relocation(.relative)
            let end = try #require(image.tables().memory.parts.last).addresses.upperBound - 7
            image.put(end, at: it.entry)
            return "relocation \(it.number) writes to address \(hex(end)), outside its writable memory"
        },
        LoaderDamage("a place in the dynamic section") { image in
            let it = try image.relocation(.relative)
            let place = try #require(image.tables().dynamic.segment).address + 8
            image.put(place, at: it.entry)
            return "relocation \(it.number) writes to address \(hex(place)), in its dynamic section"
        },
        LoaderDamage("a symbol that there is not") { image in
            let it = try image.relocation(.address(bytes: 8)), count = try image.tables().symbols().count
            image.put(UInt32(count), at: it.entry + 12)
            return "relocation \(it.number) refers to symbol \(count), and there are \(count)"
        },
        LoaderDamage("a symbol's address and an addend behind the image") { image in
            let it = try #require(image.relocations().first { [1, 257].contains($0.kind) })
            image.put(UInt64(64 << 20), at: it.entry + 16)
            let symbols = try image.tables().symbols().range
            let address = image.number(at: symbols.lowerBound + Int(it.symbol) * 24 + 8, as: UInt64.self)
            return "relocation \(it.number) refers to address \(hex(address + 64 << 20)), outside its memory"
        },
        LoaderDamage("another library's symbol and an addend beyond any library") { image in
            let symbols = try image.tables().symbols().range
            let it = try #require(
                image.relocations().first {
                    ELFRelocationKind($0.kind) == .address(bytes: 8)
                        && image.number(at: symbols.lowerBound + Int($0.symbol) * 24 + 6, as: UInt16.self) == 0
                })
            image.put(UInt64(1) << 63, at: it.entry + 16)
            return "relocation \(it.number) adds -9223372036854775808 to the address of a symbol"
        },
        LoaderDamage("a kind that there is not") { image in
            let it = try #require(image.relocations().last)
            image.put(99 as UInt32, at: it.entry + 8)
            return "relocation \(it.number) has kind 99, which is not one of a library for this machine"
        },
        LoaderDamage("a copy of a program's variable") { image in
            let it = try #require(image.relocations().last)
            let copy: UInt32 = ELFImage.machine.number == 62 ? 5 : 1_024
            image.put(copy, at: it.entry + 8)
            return "relocation \(it.number) has kind \(copy), which is not one of a library for this machine"
        },
        LoaderDamage("more relative ones than there are") { image in
            let count = try image.relocations().count
            try image.set(Tag.relativeCount, to: UInt64(count + 1))
            return "\(count + 1) of its \(count) relocations are declared relative"
        },
        LoaderDamage("another kind among the relative ones") { image in
            let it = try #require(image.relocations().first { ELFRelocationKind($0.kind) != .relative })
            try image.set(Tag.relativeCount, to: UInt64(it.number + 1))
            return "relocation \(it.number) has kind \(it.kind), but is declared relative"
        },
        LoaderDamage("a constructor in data") { image in
            let array = try image.value(of: Tag.initialisers)
            let it = try #require(image.relocations().first { $0.place == array })
            image.put(array, at: it.entry + 16)
            return "relocation \(it.number) refers to address \(hex(array)), outside its code"
        },
        LoaderDamage("a constructor without a relocation") { image in
            let array = try image.value(of: Tag.initialisers)
            let it = try #require(image.relocations().first { $0.place == array })
            image.put(try image.relocation(.relative).place, at: it.entry)
            return "no relocation provides the address of function 0 of its initialisers"
        },
        LoaderDamage("an array of destructors that is too long") { image in
            let size = try image.value(of: Tag.finalisersSize)
            try image.set(Tag.finalisersSize, to: size + 4)
            return "the table of its finalisers has \(size + 4) bytes"
        },
        LoaderDamage("an initialiser outside the code") { image in
            let end = try image.end()
            try image.set(Tag.initialiser, to: end)
            return "its initialiser is at \(hex(end)), outside its code"
        },
        LoaderDamage("a function that chooses, in data") { image in
            let calls = try image.relocations(Tag.lazyRelocations, Tag.lazyRelocationsSize)
            let (what, it): (String, LoaderImage.Relocation) =
                if let it = calls.first(where: { ELFRelocationKind($0.kind) == .chooser }) {
                    ("relocation of calls", it)
                } else { ("relocation", try image.relocation(.chooser)) }
            image.put(it.place, at: it.entry + 16)
            return "\(what) \(it.number) refers to address \(hex(it.place)), outside its code"
        },
        LoaderDamage("a call's place behind the image") { image in
            let end = try image.end()
            let it = try #require(image.relocations(Tag.lazyRelocations, Tag.lazyRelocationsSize).first)
            image.put(end, at: it.entry)
            return "relocation of calls \(it.number) writes to address \(hex(end)), outside its writable memory"
        },
        LoaderDamage("calls of another kind") { image in
            try image.set(Tag.lazyRelocationKind, to: 17)
            return "the kind of its relocations of calls is 17, and the loader knows only 7"
        },
        LoaderDamage("entries of another size") { image in
            try image.set(Tag.relocationSize, to: 16)
            return "the size of a relocation is 16, and the loader knows only 24"
        },
        LoaderDamage("a table that ends within an entry") { image in
            let size = try image.value(of: Tag.relocationsSize)
            try image.set(Tag.relocationsSize, to: size - 8)
            return "the table of relocations has \(size - 8) bytes"
        },
        LoaderDamage("a table outside the image") { image in
            let end = try image.end()
            try image.set(Tag.relocations, to: end)
            return "the table of relocations lies at \(hex(end)), outside its memory"
        },
        LoaderDamage("a thread-local variable behind the last") { image in
            let range = try image.tables().symbols().range, size = try #require(image.tables().threadLocalSize)
            let it = try #require(
                image.relocations().first {
                    if case .threadLocalOffset = ELFRelocationKind($0.kind) { return true }
                    return false
                })
            let value = image.number(at: range.lowerBound + Int(it.symbol) * 24 + 8, as: UInt64.self)
            image.put(size + 1, at: it.entry + 16)
            return
                "relocation \(it.number) refers to byte \(value + size + 1) of the \(size) of its thread-local variables"
        },
    ]

    @Test(arguments: damages) func `a library is refused for`(_ damage: LoaderDamage) throws {
        try damage.requireRefusal()
    }

    @Test func `the bit by which Swift marks a text that lives as long as the process is no part of its address`()
        throws
    {
        var image = try LoaderImage()
        let it = try image.relocation(.relative)
        image.put(it.addend | 1 << 63, at: it.entry + 16)
        #expect(image.problem == nil)
        let end = try image.end() + 1
        image.put(end | 1 << 63, at: it.entry + 16)
        #expect(image.problem == "relocation \(it.number) refers to address \(hex(end | 1 << 63)), outside its memory")
    }

    // MARK: Packed relocations

    private static let packed = ["-fuse-ld=lld", "-Wl,--pack-dyn-relocs=relr"]

    static let packedDamages: [LoaderDamage] = [
        LoaderDamage("a place in code", packed) { image in
            let start = try image.value(of: Tag.texts) & ~1
            image.put(start, at: try image.offset(of: Tag.packedRelocations))
            return "packed relocation 0 writes to address \(hex(start)), outside its writable memory"
        },
        LoaderDamage("no first place", packed) { image in
            image.put(UInt64.max, at: try image.offset(of: Tag.packedRelocations))
            return "its packed relocations do not begin with a place"
        },
        LoaderDamage("an addend outside the image", packed) { image in
            let place: UInt64 = image.number(at: try image.offset(of: Tag.packedRelocations))
            let offset = try #require(image.tables().segments.offset(of: place)), end = try image.end() + 1
            image.put(end, at: Int(offset))
            let isFunction = try [Tag.initialisers, Tag.finalisers].map { try image.value(of: $0) }.contains(place)
            return
                "packed relocation 0 refers to address \(hex(end)), outside its \(isFunction ? "code" : "memory")"
        },
        LoaderDamage("a table that ends within an entry", packed) { image in
            let size = try image.value(of: Tag.packedRelocationsSize)
            try image.set(Tag.packedRelocationsSize, to: size - 4)
            return "the table of packed relocations has \(size - 4) bytes"
        },
        LoaderDamage("entries of another size", packed) { image in
            try image.set(Tag.packedRelocationSize, to: 4)
            return "the size of a packed relocation is 4, and the loader knows only 8"
        },
    ]

    @Test(arguments: packedDamages) func `one with packed relocations is refused for`(_ damage: LoaderDamage) throws {
        try damage.requireRefusal()
    }

    // MARK: Kinds

    @Test func `the kinds of both processors are known, and those of programs and of neither are not`() {
        for (machine, copy) in [(62, 5), (183, 1_024)] as [(UInt16, UInt32)] {
            let known = (0..<2_000).filter { ELFRelocationKind($0, machine: machine) != nil }
            #expect(known.count == (machine == 62 ? 15 : 11))
            #expect(!known.contains(copy))
        }
        #expect(ELFRelocationKind(8, machine: 62) == .relative)
        #expect(ELFRelocationKind(1_027, machine: 183) == .relative)
        #expect(ELFRelocationKind(8, machine: 243) == nil)
    }
}
