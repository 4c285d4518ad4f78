import Backplane
import Testing

@testable import BackplaneHost

/// Whose code threads are in, from made-up stacks in a made-up process.
struct PoolOccupationTests {
    private static let map = MemoryMap(
        Array(
            """
            1000-2000 r-xp 00000000 fe:01 1   /app/server
            2000-3000 rw-p 00001000 fe:01 1   /app/server
            3000-4000 r-xp 00001000 fe:01 2   /loads/1-libA.so
            5000-6000 r-xp 00000000 fe:01 3   /loads/2-libB.so
            7000-8000 r-xp 00000000 fe:01 4   /usr/lib/swift/libswift_Concurrency.so
            9000-a000 r-xp 00000000 fe:01 5   /usr/lib/swift/libdispatch.so
            b000-c000 r-xp 00000000 fe:01 6   /lib/libc.so.6
            """.utf8))
    private static let a = PluginImage(id: "a", version: "1.0.0", library: "libA.so", copy: "/loads/1-libA.so")
    private static let b = PluginImage(id: "b", version: "2.0.0", library: "libB.so", copy: "/loads/2-libB.so")

    /// A thread whose functions all keep frame records, the innermost first, `base` being the pool's.
    private func thread(_ program: UInt, _ callers: UInt..., base: [UInt] = [0x7100, 0x9100, 0xB100], isWaiting: Bool = false) -> ThreadSample {
        let top: UInt = 0x10_0000
        var stack: [UInt] = []
        let chain = callers + base
        for (depth, address) in chain.enumerated() {
            // One local variable, then the record; Swift's async frames are marked.
            let outer = depth == chain.count - 1 ? 0 : top + UInt(depth + 1) * 24 + 8
            stack += [0x2100, depth == 0 && outer != 0 ? outer | 1 << 60 : outer, address]
        }
        return ThreadSample(programCounter: program, stackPointer: top, framePointer: isWaiting ? nil : top + 8, stack: stack)
    }

    private func occupation(_ samples: ThreadSample..., unreachable: Int = 0) -> PoolOccupation {
        PoolOccupation(samples, unreachable: unreachable, in: Self.map, plugins: [Self.a, Self.b])
    }

    private func occupant(_ image: PluginImage, _ threads: Int, _ offsets: UInt...) -> PoolOccupation.Occupant {
        .init(owner: .plugin(image), threads: threads, places: offsets.map { .init(path: image.copy, offset: $0) })
    }

    @Test func `a thread in a plugin's code is the plugin's, at the place in its file`() {
        #expect(occupation(thread(0x3010)).occupants == [occupant(Self.a, 1, 0x1010)])
    }

    @Test func `a thread in code that a plugin called is the plugin's, where it called`() {
        #expect(occupation(thread(0xB010, 0x3020)).occupants == [occupant(Self.a, 1, 0x101F)])
        #expect(occupation(thread(0xB010, 0x1010, 0x3020)).occupants == [occupant(Self.a, 1, 0x101F)], "through the program")
    }

    @Test func `of two plugins the inner one has the thread`() {
        #expect(occupation(thread(0xB010, 0x5020, 0x1010, 0x3020)).occupants == [occupant(Self.b, 1, 0x1F)])
    }

    @Test func `threads are counted by plugin, and the greediest comes first`() {
        let found = occupation(thread(0x3010), thread(0x5010), thread(0xB010, 0x5080), thread(0x1010))
        #expect(found.occupants.map(\.threads) == [2, 1, 1])
        #expect(found.occupants.map(\.owner) == [.plugin(Self.b), .plugin(Self.a), .other("/app/server")])
        #expect(found.occupants[0].places.map(\.offset) == [0x10], "of the thread seen first")
    }

    @Test func `the program's own code is said to be that`() {
        #expect(
            occupation(thread(0xB010, 0x1020)).occupants
                == [.init(owner: .other("/app/server"), threads: 1, places: [.init(path: "/app/server", offset: 0x1F)])])
    }

    @Test func `a thread that is not of the pool does not count`() {
        #expect(occupation(thread(0x3010, base: [0xB100])).isEmpty, "one of the plugin's own")
        #expect(occupation(thread(0x3010, base: [0x9100, 0xB100])).isEmpty, "a dispatch queue's")
        #expect(occupation(thread(0x3010, base: [0x7100, 0x1100, 0xB100])).isEmpty, "an actor's executor")
    }

    @Test func `a thread that waits for work is nobody's, whatever is left over on its stack`() {
        #expect(occupation(thread(0xB010)).isEmpty)
        // A record and loose words from before.
        let stale = ThreadSample(
            programCounter: 0xB010, stackPointer: 0x10_0000,
            stack: [0x7100, 0x10_0018, 0x1010, 0, 0x3050, 0x10_0040, 0x9200, 0x10_0050, 0x10_0050, 0x9210, 0, 0xB100])
        #expect(occupation(stale).isEmpty)
    }

    @Test func `a thread that blocks in the kernel is read without its frame pointer`() {
        #expect(occupation(thread(0xB010, 0x3020, isWaiting: true)).occupants == [occupant(Self.a, 1, 0x101F)])
        #expect(occupation(thread(0xB010, 0x1020, isWaiting: true)).occupants.map(\.owner) == [.other("/app/server")])
    }

    @Test func `a plugin whose functions keep no frame records is found among the words of the stack`() {
        var sample = thread(0xB010, 0x1020)
        sample.stack.insert(contentsOf: [0x5055, 0x2222], at: 0)
        sample.framePointer! += 16
        // The inserted words moved every record by as much.
        for index in sample.stack.indices where sample.stack[index] & ~(1 << 60) >= 0x10_0000 { sample.stack[index] += 16 }
        #expect(occupation(sample).occupants == [occupant(Self.b, 1, 0x54)])
        sample.framePointer = 0xDEAD
        #expect(occupation(sample).occupants == [occupant(Self.b, 1, 0x54)], "whatever they use the register for")
    }

    @Test func `a stack too deep to be read to its end may be the pool's`() {
        var sample = thread(0x3010, base: [])
        #expect(occupation(sample).isEmpty)
        sample.isCut = true
        #expect(occupation(sample).occupants == [occupant(Self.a, 1, 0x1010)])
    }

    @Test func `no stack is read beyond its ends or for ever`() {
        let words: [UInt] = [0, 1, 8, 0x10_0000, 0x10_0008, 0x10_0010, 0x10_0018, .max, .max - 7, 1 << 60, 0x3010, 0x7100, 0x9100]
        for pointer in words {
            for (first, second) in words.flatMap({ first in words.map { (first, $0) } }) {
                for third in words {
                    let sample = ThreadSample(programCounter: third, stackPointer: 0x10_0000, framePointer: pointer, stack: [first, second, third])
                    #expect(sample.frames(in: Self.map).count <= 4)
                    _ = occupation(sample)
                }
            }
        }
        #expect(occupation(ThreadSample(programCounter: 0, stackPointer: .max - 6, framePointer: .max, stack: [.max, 0x3010, .max, 0x3010])).isEmpty)
    }

    @Test func `a function without a frame record comes where it stands on the stack`() {
        var sample = thread(0xB010, 0x3020, 0x3040)
        sample.stack[0] = 0x3030
        #expect(occupation(sample).occupants == [occupant(Self.a, 1, 0x102F, 0x101F, 0x103F)])
    }

    @Test func `what lies beyond the beginning of the thread is not its stack`() {
        var sample = thread(0xB010, base: [0x9100, 0xB100])
        sample.stack += thread(0x3010, 0x3020).stack
        sample.isCut = true
        #expect(occupation(sample).isEmpty, "an idle thread beside a greedy one")
        sample = thread(0x3010)
        sample.stack += thread(0x5010, 0x5020).stack
        #expect(occupation(sample).occupants == [occupant(Self.a, 1, 0x1010)])
    }

    // MARK: What is said of it

    @Test func `the function is the first whose name is known`() {
        let report = PoolReport(occupation(thread(0x3010, 0x3020, 0x3040))) { $0.offset == 0x101F ? "f()" : $0.offset == 0x103F ? "g()" : nil }
        #expect(report.occupants == "a 1.0.0 (libA.so): 1 thread, in f()")
    }

    private func text(_ occupation: PoolOccupation, name: String? = nil) -> String {
        PoolReport(occupation) { _ in name }.occupants
    }

    @Test func `the report names everybody, and the function where it is known`() {
        let found = occupation(thread(0x3010), thread(0x3010), thread(0x1010))
        #expect(text(found) == "a 1.0.0 (libA.so): 2 threads; server, which is no plugin of this host: 1 thread")
        #expect(text(found, name: "f()") == "a 1.0.0 (libA.so): 2 threads, in f(); server, which is no plugin of this host: 1 thread, in f()")
    }

    @Test func `the report says how many threads nobody could look at`() {
        let found = occupation(unreachable: 2)
        #expect(!found.isEmpty)
        #expect(text(found) == "2 threads that could not be looked at, SIGPROF being blocked or in use")
    }

    @Test func `times are given in seconds`() {
        let report = PoolReport(occupation(thread(0x3010))) { _ in nil }
        #expect(report.record(waited: .milliseconds(1_049)).metadata == ["by": "a 1.0.0 (libA.so): 1 thread", "waited": "1.0 s"])
        #expect(report.recordOver(lasted: .milliseconds(12_351)).metadata["lasted"] == "12.4 s")
    }
}
