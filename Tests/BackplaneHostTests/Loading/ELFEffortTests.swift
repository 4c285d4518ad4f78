import Testing

@testable import BackplaneHost

/// Libraries whose tables name the same bytes over and over: what is looked at, and what is made of it, grows as the
/// file does.
@Suite(.timeLimit(.minutes(5)))
struct ELFEffortTests {
    /// Libraries of one kind, with `count` of what the kind is about.
    struct Family: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (_ count: Int) -> GeneratedImage

        init(_ name: String, _ make: @escaping @Sendable (_ image: inout GeneratedImage, _ count: Int) -> Void) {
            testDescription = name
            self.make = { count in
                var image = GeneratedImage()
                make(&image, count)
                return image
            }
        }
    }

    private static func text(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "x"), count: count) }

    private static func entries(_ count: Int, _ symbol: (Int) -> (name: Int, address: Int)) -> [UInt64] {
        var entries: [UInt64] = []
        for index in 0..<count {
            let (name, address) = symbol(index)
            entries += GeneratedImage.symbol(named: name, at: UInt64(address))
        }
        return entries
    }

    static let families: [Family] = [
        Family("sections with one long name") { image, count in
            let name = image.name(text(count * 64))
            for _ in 0..<count { image.section(named: name, 0..<64) }
        },
        Family("sections whose names overlap") { image, count in
            let name = image.name(text(count))
            for index in 0..<count { image.section(named: name + UInt32(index), 0..<64) }
        },
        Family("tables of the same symbols") { image, count in
            let texts = image.append(text(count) + [0])
            let symbols = image.append(numbers: entries(count) { ($0, 0x1000) })
            let names = image.section("names", type: 3, texts)
            for _ in 0..<count { image.section("symbols", type: 11, symbols, link: names) }
        },
        Family("symbols with one long name") { image, count in
            let texts = image.append(text(count * 24) + [0])
            let symbols = image.append(numbers: entries(count) { (0, $0) })
            let names = image.section("names", type: 3, texts)
            for type: UInt32 in [2, 11] { image.section("symbols", type: type, symbols, link: names) }
        },
        Family("symbols whose names overlap") { image, count in
            let texts = image.append(text(count * 24) + [0])
            let symbols = image.append(numbers: entries(count) { ($0, $0) })
            let names = image.section("names", type: 3, texts)
            for type: UInt32 in [2, 11] { image.section("symbols", type: type, symbols, link: names) }
        },
        Family("needed libraries with one long name") { image, count in
            let texts = image.append(text(count * 16) + [0])
            var entries: [UInt64] = []
            for _ in 0..<count { entries += [1, 0] }
            entries += [5, UInt64(texts.lowerBound), 10, UInt64(texts.count), 0, 0]
            image.segment(type: 2, image.append(numbers: entries))
        },
        Family("initialisers, and functions that choose") { image, count in
            let table = image.append(numbers: [UInt64](repeating: 0x1000, count: count))
            var numbers: [UInt64] = []
            for index in 0..<count { numbers += [UInt64(table.lowerBound + index * 8), 37, UInt64(index)] }
            let relocations = image.append(numbers: numbers)
            var entries: [UInt64] = [25, UInt64(table.lowerBound), 27, UInt64(table.count)]
            entries += [7, UInt64(relocations.lowerBound), 8, UInt64(relocations.count), 0, 0]
            image.segment(type: 2, image.append(numbers: entries))
        },
        Family("notes that lie in one another") { image, count in
            let notes = image.append(text(count * 64))
            for _ in 0..<count { image.section("note", type: 7, notes) }
            for _ in 0..<100 { image.segment(type: 4, notes) }
        },
        Family("conformances of one descriptor") { image, count in
            let texts = image.append(Array("$s".utf8) + text(4_000) + [0])
            let descriptor = image.append(numbers: [0, 1 << 38])
            let symbols = image.append(numbers: GeneratedImage.symbol(named: 0, at: UInt64(descriptor.lowerBound)))
            let names = image.section("names", type: 3, texts)
            image.section("symbols", type: 2, symbols, link: names)
            let start = image.append(numbers: []).lowerBound
            var records: [UInt64] = []
            for index in 0..<count {
                let distance = descriptor.lowerBound - start - index * 8
                records.append(UInt64(UInt32(truncatingIfNeeded: distance)))
            }
            image.section("swift5_protocol_conformances", image.append(numbers: records))
        },
        Family("functions for Bundle.module") { image, count in
            let texts = image.append(Array("$s10Foundation6BundleC3AppE6module".utf8) + text(count) + [0])
            let symbols = image.append(numbers: entries(count) { (0, $0 + 1) })
            let names = image.section("names", type: 3, texts)
            image.section("symbols", type: 2, symbols, link: names)
            image.section(".text", image.append([UInt8](repeating: 0xE8, count: count * 8)))
        },
        Family("records of an identity") { image, count in
            var records: [UInt64] = []
            for _ in 0..<count { records += [0x454E_4C50_4B43_4142, 24, 0] }
            image.section("backplane", image.append(numbers: records))
        },
    ]

    /// Libraries with tables for the loader, and what is said of them.
    static let loaderFamilies: [(family: Family, problem: ELFImage.Defect?)] = [
        (
            Family("relocations of one place") { image, count in
                let place = UInt64(image.append(numbers: [0]).lowerBound)
                let kind: UInt64 = ELFImage.machine.number == 62 ? 8 : 1_027
                var numbers: [UInt64] = []
                for _ in 0..<count { numbers += [place, kind, place] }
                let relocations = image.append(numbers: numbers)
                let entries = [7, UInt64(relocations.lowerBound), 8, UInt64(relocations.count), 9, 24]
                image.loaderTables(symbols: [0, 0, 0], hash: [1 | 1 << 32, 1, 0, 0], entries)
            }, nil
        ),
        (
            Family("packed relocations of all words") { image, count in
                let place = UInt64(image.append(numbers: [UInt64](repeating: 0, count: count * 63 + 1)).lowerBound)
                let relocations = image.append(numbers: [place] + [UInt64](repeating: .max, count: count))
                let entries = [36, UInt64(relocations.lowerBound), 35, UInt64(relocations.count), 37, 8]
                image.loaderTables(symbols: [0, 0, 0], hash: [1 | 1 << 32, 1, 0, 0], entries)
            }, nil
        ),
        (
            Family("symbols of one name in one chain") { image, count in
                let symbols = [0, 0, 0] + entries(count - 1) { _ in (0, 64) }
                // As many buckets as symbols, which all begin at the first, and an odd hash for the last alone.
                let buckets = UInt64(count / 2), first = 1 | 1 << 32 as UInt64
                var hash = [buckets * 2 | 1 << 32, 1, 0] + [UInt64](repeating: first, count: Int(buckets))
                hash += [UInt64](repeating: 0, count: Int(buckets) - 1) + [1]
                image.loaderTables(symbols: symbols, hash: hash, [])
            }, nil
        ),
        (
            Family("versions that lie in one another") { image, count in
                // Each of many libraries needs all of many versions.
                var numbers: [UInt64] = []
                for index in 0..<count {
                    let next: UInt64 = index == count - 1 ? 0 : 16
                    numbers += [1 | 1 << 16, UInt64((count - index) * 16) | next << 32]
                }
                for index in 0..<count { numbers += [2 << 48, index == count - 1 ? 0 : 16 << 32] }
                let versions = image.append(numbers: numbers)
                let entries = [0x6FFF_FFFE, UInt64(versions.lowerBound)]
                image.loaderTables(symbols: [0, 0, 0], hash: [1 | 1 << 32, 1, 0, 0], entries)
            }, .misleading("the versions of its symbols have no end")
        ),
    ]

    /// The bytes that were looked at for everything a host and `validate` read, and the bytes of text they made of it.
    private func effort(_ file: [UInt8]) throws -> (looked: Int, said: Int) {
        let count = MappedBytes.ByteCount()
        let image = try ELFImage(MappedBytes(copying: file, looked: count))
        var texts: [String] = []
        _ = image.defines(symbol: LibraryFile.entry)
        _ = try? LibraryIdentity(of: image, at: "library")
        _ = try image.unmapped()
        _ = try? image.requireLoadable()
        let demands = try image.demands()
        texts += demands.needed + demands.initialisers + demands.choosers + image.interposable
        texts += try image.retroactiveConformances() + image.usersOfResourceBundles()
        return (count.value, texts.reduce(0) { $0 + $1.utf8.count })
    }

    @Test(arguments: loaderFamilies)
    func `tables for the loader are looked at to their ends`(_ family: Family, _ problem: ELFImage.Defect?) throws {
        let image = try ELFImage(family.make(2_000).file())
        if let problem {
            #expect(throws: problem) { try image.requireLoadable() }
        } else {
            try image.requireLoadable()
        }
    }

    @Test(arguments: families + loaderFamilies.map(\.family))
    func `twice the library is twice the work`(_ family: Family) throws {
        let small = family.make(2_000).file(), large = family.make(8_000).file()
        let (few, many) = (try effort(small), try effort(large))
        let growth = Double(large.count) / Double(small.count)
        #expect(Double(many.looked) < 1.5 * growth * Double(few.looked) + 100_000)
        #expect(many.looked < 60 * large.count + 8_000_000, "\(many.looked) of \(large.count) bytes")
        #expect(many.said < large.count + 5_000_000, "\(many.said) of \(large.count) bytes")
    }

    @Test func `a library of more segments than linkers make is refused`() throws {
        var image = GeneratedImage()
        for _ in 0..<1_000 { image.segment(type: 4, 0..<64) }
        #expect(throws: ELFImage.Defect.damaged("it has 1001 segments, and a library has at most 256")) {
            try ELFImage(image.file())
        }
    }

    @Test func `names are told apart to the last byte`() throws {
        var image = GeneratedImage()
        let range = image.append([1, 2, 3])
        for name in ["backplan", "backplane2", "xbackplane"] { image.section(name, 0..<1) }
        #expect(try ELFImage(image.file()).section(named: "backplane") == nil)
        image.section("backplane", range)
        #expect(try ELFImage(image.file()).section(named: "backplane") == [1, 2, 3])
    }
}
