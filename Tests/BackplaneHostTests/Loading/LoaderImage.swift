import Testing

@testable import BackplaneHost

/// The bytes of a real library, whose tables for the loader a test changes.
struct LoaderImage {
    typealias Tag = ELFDynamicSection.Tag
    typealias Segment = ELFImage.Segment

    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Compiles a library with everything that the loader works with: relocations of each common kind, a constructor,
    /// a chosen function, thread-local variables, and versions of symbols.
    init(_ flags: [String] = []) throws {
        bytes = try LoadingFixture.library(of: Self.source, ["-lm"] + flags)
    }

    private static let source = """
        #include <math.h>
        #include <stdio.h>
        int shown = 3;
        static int kept = 4;
        int *pointers[] = {&shown, &kept, &kept, &shown};
        __thread int own = 5;
        static __thread int mine[4] = {1, 2, 3, 4};
        int use(int index) { own++; return printf("%d %f", mine[index & 3]++, cos(index)) + *pointers[index & 3]; }
        __attribute__((constructor)) static void greet(void) { kept++; }
        __attribute__((destructor)) static void leave(void) { kept--; }
        static int one(void) { return 1; }
        static int (*choose(void))(void) { return one; }
        int chosen(void) __attribute__((ifunc("choose")));
        __attribute__((visibility("hidden"))) int inner(void) __attribute__((ifunc("choose")));
        int call(void) { return chosen() + inner() + use(1); }
        """

    /// The first thing that leads the loader astray, as a message says it.
    var problem: String? {
        do throws(ELFImage.Defect) {
            try ELFImage(bytes).requireLoadable()
            return nil
        } catch {
            switch error {
            case .misleading(let what), .damaged(let what): return what
            default: return "\(error)"
            }
        }
    }

    /// The same library without its table of sections.
    var withoutSections: LoaderImage {
        var image = self
        image.put(0 as UInt64, at: 40)
        image.put(0 as UInt16, at: 60)
        image.put(0 as UInt16, at: 62)
        return image
    }
}

/// The places of tables in the file.
extension LoaderImage {
    func tables() throws -> ELFLoaderTables { try ELFLoaderTables(ELFImage(bytes)) }

    func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number {
        bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
    }

    mutating func put<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
        withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(offset..<offset + $0.count, with: $0) }
    }

    /// The offset of the table whose address a tag gives.
    func offset(of tag: UInt64) throws -> Int {
        let tables = try tables(), address = try #require(tables.dynamic[tag])
        return Int(try #require(tables.segments.offset(of: address)))
    }

    func value(of tag: UInt64) throws -> UInt64 { try #require(tables().dynamic[tag]) }

    /// Gives a tag of the dynamic section another value.
    mutating func set(_ tag: UInt64, to value: UInt64) throws {
        let tables = try tables(), segment = try #require(tables.dynamic.segment)
        let index = try #require(tables.dynamic.entries.lastIndex { $0.tag == tag })
        put(value, at: segment.range.lowerBound + index * 16 + 8)
    }

    /// The offset of the entry of the first segment of a type.
    func segment(_ type: UInt32) throws -> Int {
        let table = Int(number(at: 32, as: UInt64.self))
        let index = try #require(ELFImage(bytes).segments().firstIndex { $0.type == type })
        return table + index * 56
    }

    struct Relocation {
        let number: Int
        /// The offset of its entry in the file.
        let entry: Int
        let place, addend: UInt64
        let kind, symbol: UInt32
    }

    /// The relocations of a table, those of calls included if `tag` is theirs.
    func relocations(_ tag: UInt64 = Tag.relocations, _ size: UInt64 = Tag.relocationsSize) throws -> [Relocation] {
        let start = try offset(of: tag)
        return try (0..<Int(value(of: size)) / 24).map { index in
            let entry = start + index * 24
            return Relocation(
                number: index, entry: entry, place: number(at: entry), addend: number(at: entry + 16),
                kind: number(at: entry + 8), symbol: number(at: entry + 12))
        }
    }

    /// The first relocation of a kind, outside the arrays of functions.
    func relocation(_ kind: ELFRelocationKind) throws -> Relocation {
        let arrays = try [(Tag.initialisers, Tag.initialisersSize), (Tag.finalisers, Tag.finalisersSize)].map {
            let start = try value(of: $0)
            return try start..<start + value(of: $1)
        }
        return try #require(
            relocations().first { it in
                ELFRelocationKind(it.kind) == kind && !arrays.contains { $0.contains(it.place) }
            })
    }

    /// The offset of the entry of the first symbol for which `body` is true.
    func symbol(where body: (ELFLoaderTables.Symbol) -> Bool) throws -> (number: Int, entry: Int) {
        let range = try tables().symbols().range
        let found = bytes.withUnsafeBytes { bytes in
            stride(from: range.lowerBound, to: range.upperBound, by: 24).first {
                body(ELFLoaderTables.Symbol(bytes, at: $0))
            }
        }
        let entry = try #require(found)
        return ((entry - range.lowerBound) / 24, entry)
    }

    /// The address behind the last page of the image.
    func end() throws -> UInt64 { try tables().memory.pages.upperBound }
}
