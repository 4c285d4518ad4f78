import CBackplaneHost
import Glibc

/// Looks at what the threads of this process are doing, without stopping them or making them wait.
///
/// A thread that waits in the kernel is read from outside, so that no call of it is interrupted; one that runs is
/// interrupted for a moment (`CBackplaneHost`, which says how).
enum ThreadSampler {
    enum Outcome {
        case sampled(ThreadSample)
        /// It runs, and the signal is used by somebody else, is blocked or did not reach it in time.
        case unreachable
    }

    /// The threads of Swift's pool, as far as they are still there.
    ///
    /// libdispatch, whose threads they are, names them after their queues, such as `com.apple.root.default-qos`, of which
    /// the last 15 bytes are left.
    static func poolSamples() -> [Outcome] {
        let threads = ((try? FileTree.names(in: "/proc/self/task")) ?? []).compactMap { Int32($0) }
        var buffer = [UInt](repeating: 0, count: Int(BPH_STACK_LIMIT) / 8)
        return threads.filter { text("comm", of: $0)?.hasSuffix("-qos\n") ?? false }.compactMap { sample($0, &buffer) }
    }

    /// A thread of this process; `nil`: it is gone.
    static func sample(_ thread: Int32) -> Outcome? {
        var buffer = [UInt](repeating: 0, count: Int(BPH_STACK_LIMIT) / 8)
        return sample(thread, &buffer)
    }

    private static func sample(_ thread: Int32, _ buffer: inout [UInt]) -> Outcome? {
        guard let state = state(of: thread) else { return nil }
        if case .waiting(let programCounter, let stackPointer) = state {
            let count = buffer.withUnsafeMutableBytes { bph_copy_memory(stackPointer, $0.baseAddress!, $0.count) }
            return .sampled(ThreadSample(programCounter, stackPointer, nil, buffer, count))
        }
        guard !blocksSignal(thread) else { return .unreachable }
        var registers = bph_registers()
        var count = buffer.count * 8
        let result = buffer.withUnsafeMutableBytes { bph_sample_running(thread, 100, &registers, $0.baseAddress!, &count) }
        guard result == Int32(BPH_SAMPLED) else { return .unreachable }
        return .sampled(ThreadSample(registers.program_counter, registers.stack_pointer, registers.frame_pointer, buffer, count))
    }

    private enum State {
        case running
        case waiting(programCounter: UInt, stackPointer: UInt)
    }

    /// `running`, or a line that ends with the stack pointer and the program counter. `nil`: it is gone.
    private static func state(of thread: Int32) -> State? {
        guard let line = text("syscall", of: thread) else { return text("comm", of: thread).map { _ in .running } }
        let fields = line.split(whereSeparator: \.isWhitespace)
        let numbers = fields.suffix(2).compactMap { UInt($0.dropFirst(2), radix: 16) }
        return fields.count >= 3 && numbers.count == 2 ? .waiting(programCounter: numbers[1], stackPointer: numbers[0]) : .running
    }

    private static func blocksSignal(_ thread: Int32) -> Bool {
        let lines = text("status", of: thread)?.split(separator: "\n") ?? []
        guard let line = lines.first(where: { $0.hasPrefix("SigBlk:") }), let mask = UInt64(line.suffix(16), radix: 16) else { return true }
        return mask & (1 << (BPH_SIGNAL - 1)) != 0
    }

    private static func text(_ name: String, of thread: Int32) -> String? {
        guard let file = try? FileDescriptor(opening: "/proc/self/task/\(thread)/\(name)", O_RDONLY), let bytes = try? file.bytes(count: 4_096)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ThreadSample {
    fileprivate init(_ programCounter: UInt, _ stackPointer: UInt, _ framePointer: UInt?, _ buffer: [UInt], _ count: Int) {
        self.init(
            programCounter: programCounter, stackPointer: stackPointer, framePointer: framePointer, stack: Array(buffer.prefix(count / 8)),
            isCut: count == buffer.count * 8)
    }
}
