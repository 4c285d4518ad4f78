import Testing

@testable import BackplaneHost

/// Symbols, their hash tables and their versions with values outside the library.
@Suite(.timeLimit(.minutes(5)))
struct ELFSymbolTableTests {
    typealias Tag = LoaderImage.Tag
    typealias Symbol = ELFLoaderTables.Symbol

    static let symbols: [LoaderDamage] = [
        LoaderDamage("a variable outside the image") { image in
            let it = try image.symbol { $0.kind == 1 && $0.isAddress }, end = try image.end()
            image.put(end + 8, at: it.entry + 8)
            let size: UInt64 = image.number(at: it.entry + 16)
            return "symbol \(it.number) has \(size) bytes at \(hex(end + 8)), outside its memory"
        },
        LoaderDamage("a variable that ends outside the image") { image in
            let it = try image.symbol { $0.kind == 1 && $0.isAddress }
            image.put(UInt64.max, at: it.entry + 16)
            let address: UInt64 = image.number(at: it.entry + 8)
            return "symbol \(it.number) has \(UInt64.max) bytes at \(hex(address)), outside its memory"
        },
        LoaderDamage("a function in data") { image in
            let it = try image.symbol { $0.kind == Symbol.function && $0.isAddress }
            let data = try image.value(of: Tag.initialisers), size: UInt64 = image.number(at: it.entry + 16)
            image.put(data, at: it.entry + 8)
            return "symbol \(it.number) has \(size) bytes at \(hex(data)), outside its code"
        },
        LoaderDamage("a function that chooses, in data") { image in
            let it = try image.symbol { $0.kind == Symbol.chooser && $0.isAddress }
            let data = try image.value(of: Tag.initialisers), size: UInt64 = image.number(at: it.entry + 16)
            image.put(data, at: it.entry + 8)
            return "symbol \(it.number) has \(size) bytes at \(hex(data)), outside its code"
        },
        LoaderDamage("a thread-local variable behind the last") { image in
            let it = try image.symbol { $0.kind == Symbol.threadLocal && $0.section != 0 }
            image.put(4_096 as UInt64, at: it.entry + 8)
            return "symbol \(it.number) has 4 bytes at 0x1000, outside its thread-local variables"
        },
        LoaderDamage("a name outside the table of names") { image in
            let it = try image.symbol { $0.section == 0 && $0.name != 0 }, size = try image.value(of: Tag.textsSize)
            image.put(UInt32(size), at: it.entry)
            return "the name of symbol \(it.number) lies outside the table of names"
        },
        LoaderDamage("a table of symbols outside the image") { image in
            let end = try image.end()
            try image.set(Tag.symbols, to: end)
            return "the table of symbols lies at \(hex(end)), outside its memory"
        },
        LoaderDamage("symbols of another size") { image in
            try image.set(Tag.symbolSize, to: 16)
            return "the size of a symbol is 16, and the loader knows only 24"
        },
    ]

    private static let gnu = ["-Wl,--hash-style=gnu"], plain = ["-Wl,--hash-style=sysv"]

    static let hashTables: [LoaderDamage] = [
        LoaderDamage("no buckets", gnu) { image in
            image.put(0 as UInt32, at: try image.offset(of: Tag.gnuHash))
            return "the hash table of its symbols has no buckets"
        },
        LoaderDamage("a filter of three words", gnu) { image in
            let start = try image.offset(of: Tag.gnuHash), shift: UInt32 = image.number(at: start + 12)
            image.put(3 as UInt32, at: start + 8)
            return "the filter of the hash table of its symbols has 3 words and a shift of \(shift)"
        },
        LoaderDamage("no filter", gnu) { image in
            let start = try image.offset(of: Tag.gnuHash), shift: UInt32 = image.number(at: start + 12)
            image.put(0 as UInt32, at: start + 8)
            return "the filter of the hash table of its symbols has 0 words and a shift of \(shift)"
        },
        LoaderDamage("a bucket before the first symbol with a hash", gnu) { image in
            let start = try image.offset(of: Tag.gnuHash), first: UInt32 = image.number(at: start + 4)
            let buckets = start + 16 + Int(image.number(at: start + 8, as: UInt32.self)) * 8
            image.put(first - 1, at: buckets)
            return "bucket 0 of the hash table of its symbols begins at symbol \(first - 1), before \(first)"
        },
        LoaderDamage("a bucket behind the last symbol", gnu) { image in
            let start = try image.offset(of: Tag.gnuHash), first: UInt32 = image.number(at: start + 4)
            let filter = Int(image.number(at: start + 8, as: UInt32.self)) * 8
            let buckets = Int(image.number(at: start, as: UInt32.self)) * 4
            image.put(UInt32(1) << 30, at: start + 16 + filter)
            let address = try image.value(of: Tag.gnuHash) + UInt64(16 + filter + buckets)
            let chain = address + (UInt64(1) << 30 - UInt64(first)) * 4
            return "the last chain of the hash table of its symbols lies at \(hex(chain)), outside its memory"
        },
        LoaderDamage("more buckets than there is room for", gnu) { image in
            let start = try image.offset(of: Tag.gnuHash)
            let filter = UInt64(image.number(at: start + 8, as: UInt32.self)) * 8
            image.put(UInt32.max, at: start)
            let address = try image.value(of: Tag.gnuHash) + 16, tables = try image.tables()
            let loaded = try tables.memory.bytes(from: address, "it").count
            return
                "the hash table of its symbols at \(hex(address)) has \(filter + UInt64(UInt32.max) * 4) bytes, of which only \(loaded) are loaded"
        },
        LoaderDamage("a chain without an end", gnu) { image in
            // From the chains to the end of the segment, nothing is odd any longer.
            let tables = try image.tables()
            let range = try tables.memory.bytes(from: image.value(of: Tag.gnuHash), "it")
            let start = range.lowerBound
            let filter = Int(image.number(at: start + 8, as: UInt32.self)) * 8
            let buckets = Int(image.number(at: start, as: UInt32.self)) * 4
            for offset in stride(from: start + 16 + filter + buckets, to: range.upperBound, by: 4) {
                image.put(image.number(at: offset, as: UInt8.self) & 0xFE, at: offset)
            }
            // What lies there has been changed too: names, but not what is looked at first.
            return "the last chain of the hash table of its symbols has no end"
        },
        LoaderDamage("a plain one without buckets", plain) { image in
            image.put(0 as UInt32, at: try image.offset(of: Tag.hash))
            return "the plain hash table of its symbols has no buckets"
        },
        LoaderDamage("a plain one whose chain never ends", plain) { image in
            let start = try image.offset(of: Tag.hash), buckets: UInt32 = image.number(at: start)
            let bucket = try #require((0..<Int(buckets)).first { image.number(at: start + 8 + $0 * 4) != 0 as UInt32 })
            let symbol: UInt32 = image.number(at: start + 8 + bucket * 4)
            image.put(symbol, at: start + 8 + (Int(buckets) + Int(symbol)) * 4)
            return "the plain hash table of its symbols has symbol \(symbol) twice"
        },
        LoaderDamage("a plain one with a symbol that there is not", plain) { image in
            let start = try image.offset(of: Tag.hash), count: UInt32 = image.number(at: start + 4)
            image.put(count, at: start + 8)
            return "the plain hash table of its symbols refers to symbol \(count), and there are \(count)"
        },
    ]

    static let versions: [LoaderDamage] = [
        LoaderDamage("a version that there is not") { image in
            image.put(0x7FFF as UInt16, at: try image.offset(of: Tag.versions) + 2)
            let needed = try image.offset(of: Tag.neededVersions)
            var highest: UInt16 = 0, entry = needed
            while true {
                var version = entry + Int(image.number(at: entry + 8, as: UInt32.self))
                while true {
                    highest = max(highest, image.number(at: version + 6, as: UInt16.self) & 0x7FFF)
                    let next: UInt32 = image.number(at: version + 12)
                    if next == 0 { break }
                    version += Int(next)
                }
                let next: UInt32 = image.number(at: entry + 12)
                if next == 0 { break }
                entry += Int(next)
            }
            return "symbol 1 has version 32767, and the last one is \(highest)"
        },
        LoaderDamage("a table of versions outside the image") { image in
            let end = try image.end()
            try image.set(Tag.versions, to: end)
            return "the table of its symbols' versions lies at \(hex(end)), outside its memory"
        },
        LoaderDamage("needed versions of an unknown form") { image in
            image.put(2 as UInt16, at: try image.offset(of: Tag.neededVersions))
            return "a version of its symbols has an unknown form"
        },
        LoaderDamage("a needed version outside the image") { image in
            image.put(UInt32.max, at: try image.offset(of: Tag.neededVersions) + 8)
            let address = try image.value(of: Tag.neededVersions) + UInt64(UInt32.max)
            return "a version of its symbols lies at \(hex(address)), outside its memory"
        },
        LoaderDamage("a library with versions whose name lies elsewhere") { image in
            image.put(UInt32.max, at: try image.offset(of: Tag.neededVersions) + 4)
            return "the name of a library with versions lies outside the table of names"
        },
    ]

    @Test(arguments: symbols) func `a library is refused for`(_ damage: LoaderDamage) throws {
        try damage.requireRefusal()
    }

    @Test(arguments: hashTables) func `a library is refused for a hash table with`(_ damage: LoaderDamage) throws {
        try damage.requireRefusal()
    }

    @Test(arguments: versions) func `a library is refused for, among versions,`(_ damage: LoaderDamage) throws {
        try damage.requireRefusal()
    }

    @Test func `a symbol that is a number may have any value`() throws {
        let image = try LoaderImage(["-Wl,--defsym=number=0xfedcba9876543210"])
        _ = try image.symbol { $0.section == 0xFFF1 && $0.value == 0xFEDC_BA98_7654_3210 }
        #expect(image.problem == nil)
    }
}
