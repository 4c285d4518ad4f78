import Testing

@testable import BackplaneHost

/// What `/proc/self/maps` says, read.
struct MemoryMapTests {
    private let map = MemoryMap(
        Array(
            """
            7f0000002000-7f0000003000 r-xp 00001000 fe:01 77                         /lib/with space.so
            7f0000000000-7f0000001000 r--p 00000000 fe:01 77                         /lib/with space.so
            55d000000000-55d000001000 r-xp 00000000 fe:01 78                         /bin/program (deleted)
            7f0000005000-7f0000006000 r-xp 00000000 00:00 0
            7ffc00000000-7ffc00001000 r-xp 00000000 00:00 0                          [vdso]
            nonsense
            7f0000009000-7f0000008000 r-xp 00000000 fe:01 79                         /lib/backwards.so
            """.utf8))

    @Test func `only code of files is kept, by address`() {
        #expect(map.code.map(\.path) == ["/bin/program (deleted)", "/lib/with space.so"])
        #expect(map.code[1].offset == 0x1000)
    }

    @Test func `an address is found in its region and nowhere else`() {
        #expect(map.region(at: 0x7F00_0000_2000)?.path == "/lib/with space.so")
        #expect(map.region(at: 0x7F00_0000_2FFF)?.path == "/lib/with space.so")
        for address: UInt in [0, 0x7F00_0000_1FFF, 0x7F00_0000_3000, 0x7F00_0000_5000, .max] { #expect(map.region(at: address) == nil) }
        #expect(MemoryMap([]).region(at: 0) == nil)
    }

    @Test func `this process's own code is in its own map`() throws {
        let paths = try Set(MemoryMap.current().code.map { FilePath.name(of: $0.path) })
        #expect(paths.contains("libswift_Concurrency.so"))
    }
}
