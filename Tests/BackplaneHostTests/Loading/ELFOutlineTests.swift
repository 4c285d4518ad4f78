@testable import BackplaneHost
import Foundation
import Testing

/// A file that is read in parts is judged as the whole is.
struct ELFOutlineTests {
    private let folder: LoadingFixture.Folder
    private let sound: [UInt8]

    init() throws {
        folder = try LoadingFixture.Folder()
        sound = try LoadingFixture.library("-DBULKY")
    }

    private func problem(_ bytes: FileExcerpt) -> ELFImage.Problem? {
        do throws(ELFImage.Problem) {
            _ = try ELFImage(bytes)
            return nil
        } catch {
            return error
        }
    }

    /// `nil`: the file has no outline.
    private func excerpt(_ bytes: [UInt8]) throws -> FileExcerpt? {
        let path = try folder.write(bytes, as: "libAny.so"), file = try FileDescriptor(opening: path, O_RDONLY)
        return try ELFOutline(of: file, size: bytes.count)?.excerpt(of: file, with: "backplane")
    }

    @Test func `the excerpt of a sound library has all that is looked for`() throws {
        let image = try ELFImage(try #require(try excerpt(sound)))
        let whole = try ELFImage(sound)
        #expect(image.section(named: "backplane") != nil)
        #expect(image.section(named: "backplane").map(Array.init) == whole.section(named: "backplane").map(Array.init))
        #expect(image.section(named: ".bulk") == nil, "nobody asked for it")
        #expect(image.defines(symbol: "backplane_plugin_entry_v1"))
        #expect(!image.defines(symbol: "fopen"))
        #expect(image.hasSwift == whole.hasSwift)
    }

    @Test func `what is unneeded is most of a bulky library and nothing of its segments`() throws {
        let file = try FileDescriptor(opening: folder.write(sound, as: "libAny.so"), O_RDONLY)
        let outline = ELFOutline(of: file, size: sound.count)
        let unneeded = try #require(outline).unneeded
        #expect(unneeded.reduce(0) { $0 + $1.count } > 650_000)
        for section in try ELFImage(sound).sections where [".text", ".data", ".dynsym", ".dynstr", ".shstrtab", "backplane"].contains(section.name) {
            #expect(!unneeded.contains { $0.overlaps(section.range) }, "\(section.name)")
        }
    }

    @Test func `a damaged file is judged as it is when it is read whole`() throws {
        let table = sound.count - 64 * 40
        for place in Array(0..<64 + 56 * 12) + Array(stride(from: table, to: sound.count, by: 5)) {
            for value: UInt8 in [0, 0xFF] {
                var bytes = sound
                bytes[place] = value
                guard let excerpt = try excerpt(bytes) else { continue }
                #expect(problem(excerpt) == problem(FileExcerpt(bytes)), "byte \(place) is \(value)")
            }
        }
    }

    @Test func `a file that is cut off has no outline that says it is whole`() throws {
        for length in stride(from: 0, to: sound.count, by: 9_973) {
            guard let excerpt = try excerpt(Array(sound.prefix(length))) else { continue }
            #expect(problem(excerpt) != nil, "the first \(length) bytes")
        }
    }

    @Test(arguments: [
        ([], [0..<100]), ([0..<100], []), ([0..<10, 90..<100], [10..<90]), ([50..<60], [0..<50, 60..<100]),
        ([60..<80, 0..<30, 20..<40, 40..<50], [50..<60, 80..<100]), ([0..<100, 10..<20, 30..<30], []),
    ] as [([Range<Int>], [Range<Int>])])
    func `gaps are what no range covers`(ranges: [Range<Int>], gaps: [Range<Int>]) {
        #expect(ranges.gaps(upTo: 100) == gaps)
        #expect((ranges + gaps).gaps(upTo: 100).isEmpty)
    }
}
