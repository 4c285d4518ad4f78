import Backplane
import BackplaneHost
import CBackplane
import CBackplaneHost
import Foundation

/// What its entry costs.
struct EffortFacts: Codable, Sendable {
    /// Instructions, or where those are not counted nanoseconds.
    var count: UInt64
    var isInstructions: Bool

    var verdicts: Verdicts {
        let text = isInstructions
            ? "\(count) instructions" : "\((count + 500) / 1_000) µs on the processor; this machine lets nobody count instructions"
        return [.effort: .passed([text])]
    }
}

/// What its entry asked of the system, and what it left.
struct CallFacts: Codable, Sendable {
    /// By their names; `nil`: this system does not tell.
    var calls: [String]?
    var threads, files: [String]

    var verdicts: Verdicts {
        [
            .quiet: calls.map { calls in
                Verdict(findings: calls.isEmpty ? [] : ["it made the system calls \(calls.joined(separator: ", ")); do that in create or activate"])
            } ?? .skipped("this system does not tell what system calls are made"),
            .threads: Verdict(findings: threads.map { "a thread called `\($0)` goes on; start it in activate" }),
            .files: Verdict(findings: files.map { "\($0) is open; open it in activate" }),
        ]
    }
}

/// What two copies of it answered in one process, as an old and a new generation do.
struct CopyFacts: Codable, Sendable {
    var first, second: PluginReport

    var verdicts: Verdicts {
        guard first != second else { return [.stable: .passed()] }
        let (one, other) = (first.components.map(\.className), second.components.map(\.className))
        let what = first.id != second.id || first.version != second.version
            ? "\(first.id) \(first.version), and then \(second.id) \(second.version)"
            : one == other ? "the same classes with other contracts or wires" : "\(one.joined(separator: ", ")), and then \(other.joined(separator: ", "))"
        return [.stable: .failed(["it answers \(what); what a plugin brings depends on its code alone"])]
    }
}

/// What its entry did with an answer that ends sooner than it knows.
struct BoundFacts: Codable, Sendable {
    var room: Int
    /// The first byte behind the end that it wrote to.
    var overrun: Int?

    var verdicts: Verdicts {
        [.bounded: Verdict(findings: overrun.map { "it wrote to byte \($0) of an answer of \(room); write no more than `answer->size` covers" }.map { [$0] } ?? [])]
    }
}

extension Candidate {
    func effort() throws(BackplaneError) -> EffortFacts {
        let call = EntryCall(try entry())
        note("its entry ran")
        var count: UInt64 = 0
        let isCounted = bph_count_instructions({ EntryCall.run($0) }, call.context, &count)
        return EffortFacts(count: count, isInstructions: isCounted != 0)
    }

    func calls() throws(BackplaneError) -> CallFacts {
        let call = EntryCall(try entry())
        let threads = RunningThreads(), files = OpenFiles()
        note("its entry ran")
        var noted = bph_noted()
        let isWatched = bph_watch_calls({ EntryCall.run($0) }, call.context, &noted)
        let numbers = withUnsafeBytes(of: &noted.calls) { Array($0.bindMemory(to: Int32.self).prefix(Int(noted.count))) }
        return CallFacts(
            calls: isWatched == 0 ? nil : SystemCall.names(numbers), threads: RunningThreads().since(threads), files: OpenFiles().since(files))
    }

    func copies() throws(BackplaneError) -> CopyFacts {
        func answer(_ number: String) throws(BackplaneError) -> PluginReport {
            let file = try prepared(), library = try loaded(file)
            note("the entry of its \(number) copy ran")
            return PluginReport(try file.describe(library))
        }
        return CopyFacts(first: try answer("first"), second: try answer("second"))
    }

    func bounds() throws(BackplaneError) -> BoundFacts {
        let entry = try entry(), pattern: UInt8 = 0xA5
        let room = MemoryLayout.offset(of: \bp_answer.problems)!, size = MemoryLayout<bp_answer>.size
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * size, alignment: MemoryLayout<bp_answer>.alignment)
        memory.initializeMemory(as: UInt8.self, repeating: pattern)
        for index in 0..<room { memory[index] = 0 }
        memory.storeBytes(of: UInt32(room), as: UInt32.self)
        note("its entry ran with an answer of \(room) bytes")
        _ = PlainOffer.ask(entry, memory.baseAddress!.assumingMemoryBound(to: bp_answer.self))
        return BoundFacts(room: room, overrun: (room..<memory.count).first { memory[$0] != pattern })
    }
}

/// An entry to be called from C.
private final class EntryCall {
    private let entry: PluginDescription.Entry
    private var answer = bp_answer()

    init(_ entry: PluginDescription.Entry) {
        self.entry = entry
        answer.size = UInt32(MemoryLayout<bp_answer>.size)
    }

    /// Never freed: the process ends soon.
    var context: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static func run(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        let call = Unmanaged<EntryCall>.fromOpaque(context).takeUnretainedValue()
        _ = PlainOffer.ask(call.entry, &call.answer)
    }
}
