import Backplane
import CBackplane
import Testing

/// A plugin of this SDK in hosts that know more of a struct than it does, or less.
///
/// All structs end where the readable memory ends, so that one byte too many is a crash.
@Suite(.timeLimit(.minutes(5)))
struct PluginGrowthTests {
    // MARK: The entry

    @Test(arguments: [0, 8, 40, 4_096]) func `a longer offer is read as far as it is known`(more: Int) {
        var host = OtherVersionHost()
        host.offerSize += more
        #expect(host.ask(ProbePlugin.self).status == BP_OK)
    }

    @Test(arguments: [4, 8, 16, 40, 48]) func `an offer without what a plugin needs is declined, and nothing touched`(
        size: Int
    ) {
        var host = OtherVersionHost()
        host.offerSize = size
        let asked = host.ask(ProbePlugin.self)
        #expect(asked.status == BP_UNIMPLEMENTED)
        #expect(asked.untouched == 0..<asked.offered)
    }

    @Test func `an answer is written as far as both sides know it, whatever its size`() {
        let known = MemoryLayout<bp_answer>.size
        for size in stride(from: 8, through: known + 160, by: 8) {
            var host = OtherVersionHost()
            host.answerSize = size
            let asked = host.ask(ProbePlugin.self)
            #expect(asked.status == BP_OK)
            #expect(Int(asked.answer.size) == min(size, known), "it says how far it knows the answer")
            #expect(asked.untouched.lowerBound <= known, "of \(size) bytes offered")
            if size >= MemoryLayout<bp_answer>.offset(of: \.toolchain)! {
                #expect(asked.answer.id.text == "org.example.probe" && asked.answer.version.text == "1.0.0")
            }
        }
    }

    // MARK: Creation

    private func manager(_ host: OtherVersionHost = OtherVersionHost()) throws -> bp_component {
        try #require(try host.component("ProbeManager", of: ProbePlugin.self))
    }

    @Test(arguments: [0, 8, 64]) func `a longer creation is read as far as it is known`(more: Int) async throws {
        let manager = try manager()
        let (instance, error) = await manager.make(
            configuration: #"{"word": "hello"}"#, resources: "/files",
            creationSize: MemoryLayout<bp_creation>.size + more)
        #expect(await manager.ask(instance) == Reply(status: 0, text: #""hello \/files []""#), "\(error)")
    }

    @Test func `what a shorter creation does not reach is not there`() async throws {
        let manager = try manager()
        let (instance, _) = await manager.make(
            configuration: #"{"word": "hello"}"#, resources: "/files", labels: ["first"],
            creationSize: MemoryLayout<bp_creation>.offset(of: \.resources)!)
        #expect(await manager.ask(instance) == Reply(status: 0, text: #""hello - [\"first\"]""#))

        let (shorter, _) = await manager.make(
            configuration: #"{"word": "hello"}"#, labels: ["first"],
            creationSize: MemoryLayout<bp_creation>.offset(of: \.wires)!)
        #expect(await manager.ask(shorter) == Reply(status: 0, text: #""hello - []""#))
    }

    @Test(arguments: [0, 8, 24]) func `connections are stepped through by the size of the first`(more: Int) async throws
    {
        let manager = try manager()
        let (instance, _) = await manager.make(
            labels: ["second", "other", "first"], connectionSize: MemoryLayout<bp_connection>.size + more)
        #expect(await manager.ask(instance) == Reply(status: 0, text: #""- - [\"first\", \"second\"]""#))
    }

    @Test func `connections without slots are none`() async throws {
        let manager = try manager()
        let (instance, _) = await manager.make(
            labels: ["first", "second"], connectionSize: MemoryLayout<bp_connection>.offset(of: \.slot)!)
        #expect(await manager.ask(instance) == Reply(status: 0, text: #""- - []""#))
    }

    @Test(arguments: [4, 12, 36]) func `connections of an impossible size are an error of the creation`(size: Int)
        async throws
    {
        let made = try await manager().make(labels: ["first"], connectionSize: size)
        #expect(made.instance == nil)
        #expect(made.error.text.contains("bp_connection declares the size \(size)"), "\(made.error)")
    }

    // MARK: Host services

    private func probe(_ name: String, _ getInterface: @escaping bp_get_interface, _ call: Call = Call())
        async throws -> Reply
    {
        var host = OtherVersionHost()
        host.getInterface = getInterface
        let component = try #require(try host.component(name, of: ProbePlugin.self))
        let (instance, error) = await component.make()
        try #require(instance != nil, "\(error)")
        return await component.ask(instance, for: call)
    }

    @Test func `functions behind the known ones of a table are left alone`() async throws {
        let before = OddTables.linesHeard.count
        #expect(try await probe("ProbeManager", OddTables.long).status == BP_OK)
        #expect(OddTables.linesHeard.dropFirst(before) == ["write", "no trace number=1"], "the known ones are called")
        #expect(try await probe("ProbeService", OddTables.long) == Reply(status: 0, text: #""204""#))
        #expect(try await probe("ProbeStore", OddTables.long) == Reply(status: 0, text: #""[\"a\", \"b\"]""#))
    }

    @Test func `a table of its first release lacks only the functions that were added later`() async throws {
        let before = OddTables.linesHeard.count
        #expect(try await probe("ProbeManager", OddTables.first).status == BP_OK)
        #expect(OddTables.linesHeard.dropFirst(before) == ["write", "write number=1"])
        #expect(try await probe("ProbeManager", OddTables.first, Call(within: nil)).status == BP_OK)
        let traced = try #require(OddTables.linesHeard.last)
        #expect(traced.wholeMatch(of: /write number=1 trace=[0-9a-f]{32}/) != nil, "\(traced)")
        #expect(
            try await probe("ProbeFinder", OddTables.first)
                == Reply(status: 0, text: #""[\"a\", \"b\"] host.interface-missing""#))
        #expect(try await probe("ProbeStore", OddTables.first) == Reply(status: 0, text: #""[\"a\", \"b\"]""#))
    }

    @Test func `a table that ends too early counts as missing, and nothing of it is called`() async throws {
        for host in [OddTables.short, { _, _ in nil }] as [bp_get_interface] {
            #expect(try await probe("ProbeManager", host).status == BP_OK, "it does without a log")
            for (name, service) in [("ProbeService", BP_HTTP), ("ProbeStore", BP_STORE)] {
                let reply = try await probe(name, host)
                #expect(reply.status == BP_ERROR)
                #expect(
                    reply.text.contains("host.interface-missing")
                        && reply.text.contains("this host does not offer \(service)"),
                    "\(reply.text)")
            }
        }
    }
}
