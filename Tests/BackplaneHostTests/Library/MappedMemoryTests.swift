import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// What `/proc/self/smaps` says of copies, read.
struct MappedMemoryTests {
    private static let text = """
        55d000000000-55d000001000 r-xp 00000000 fe:01 78                         /bin/program
        Size:                  4 kB
        Anonymous:             4 kB
        7f0000000000-7f0000005000 r-xp 00000000 fe:01 77                         /loads/host-1/1-libA.so
        Size:                 20 kB
        KernelPageSize:        4 kB
        Rss:                  16 kB
        Private_Clean:         4 kB
        Private_Dirty:        12 kB
        Anonymous:             4 kB
        AnonHugePages:         0 kB
        VmFlags: rd ex mr mw me
        7f0000005000-7f0000007000 rw-p 00005000 fe:01 77                         /loads/host-1/1-libA.so (deleted)
        Size:                  8 kB
        Anonymous:             8 kB
        7f0000007000-7f0000008000 rw-p 00000000 00:00 0
        Size:                  4 kB
        Anonymous:             4 kB
        7f0000008800-7f0000009000 rw-p 00000000 00:00 0                          [anon:elsewhere]
        Size:                  4 kB
        Anonymous:             4 kB
        7f0000009000-7f000000a000 r--p 00000000 fe:01 79                         /loads/host-1/2-lib with space.so (deleted)
        Size:                  4 kB
        Anonymous:             0 kB
        7f000000b000-7f000000c000 r--p 00000000 fe:01 79                         /loads/host-10/1-libB.so
        Size:                  4 kB
        Anonymous:             4 kB

        """

    @Test func `each copy's mappings are added up, whether it is still there or not`() {
        var reading = MappedMemory.Reading(of: [
            "/loads/host-1/1-libA.so", "/loads/host-1/2-lib with space.so", "/loads/host-1/3-libC.so",
        ])
        reading.read(Array(Self.text.utf8)[...])
        #expect(
            reading.memory == [
                "/loads/host-1/1-libA.so": MappedMemory(dirty: 16_384, mapped: 32_768),
                "/loads/host-1/2-lib with space.so": MappedMemory(dirty: 0, mapped: 4_096),
            ])
    }

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
