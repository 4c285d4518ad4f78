import BackplaneHost
import Glibc
import Synchronization

/// The input and the output of a session, which its own thread reads and writes, so that no task is blocked.
///
/// The thread reads on only after its input has been taken, so that a program that writes faster has to wait.
final class TerminalFiles: Sendable {
    private struct State {
        /// The keys or the line that have not been taken.
        var keys: [TerminalKey] = []
        var line: TerminalLines.Line?
        var isResized = false
        var isContinued = false
        /// A Boolean value that indicates whether there is nothing more to read.
        var isRead = false
        var unwritten: ArraySlice<UInt8> = []
        var isEnding = false
        /// The task that waits for the end of the thread.
        var waiting: CheckedContinuation<Void, Never>?
    }
    private let input: Int32
    /// The output, opened so that writing does not block.
    let output: Int32
    private let givenOutput: Int32
    /// The ends of a pipe whose bytes wake the thread: bytes of ``TerminalMode/News``, or any others.
    private let wakingEnds: [Int32]
    private let change: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    /// Opens the files that a session needs; returns `nil` if that is impossible.
    ///
    /// - Parameters:
    ///   - change: The stream that receives an element after each change, and ends with the output, or with the input
    ///     of keys.
    init?(input: Int32, output: Int32, _ change: AsyncStream<Void>.Continuation) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (self.input, givenOutput, wakingEnds, self.change) = (input, output, ends, change)
        self.output = Self.reopened(output)
    }

    /// The end of the pipe to which a signal handler writes bytes of ``TerminalMode/News``.
    var news: Int32 { wakingEnds[1] }

    /// Starts the thread, which reads keys or lines; returns `false` if it cannot be created.
    func begin(readsKeys: Bool) -> Bool { HostThread.tryStart("bp-terminal") { self.run(readsKeys: readsKeys) } }

    /// Ends the thread, and returns when it no longer uses the files.
    func end() async {
        await withCheckedContinuation { continuation in
            state.withLock { ($0.isEnding, $0.waiting) = (true, continuation) }
            wake()
        }
    }

    /// Closes the files that the session has opened itself, after the thread has ended.
    func close() {
        if output != givenOutput { Glibc.close(output) }
        for end in wakingEnds { Glibc.close(end) }
    }

    /// Returns a terminal or a pipe opened again, so that writing to it does not block; otherwise the file itself.
    ///
    /// The flag on the file itself would also affect other processes that use the file, such as the shell.
    static func reopened(_ file: Int32) -> Int32 {
        var status = stat()
        guard fstat(file, &status) == 0, [S_IFCHR, S_IFIFO].contains(status.st_mode & S_IFMT) else { return file }
        let own = open("/proc/self/fd/\(file)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        return own < 0 ? file : own
    }

    // MARK: The session's side

    /// Returns the keys that were pressed, and the changes of the terminal.
    func take() -> (keys: [TerminalKey], isResized: Bool, isContinued: Bool) {
        let taken = state.withLock { state in
            defer { (state.keys, state.isResized, state.isContinued) = ([], false, false) }
            return (keys: state.keys, isResized: state.isResized, isContinued: state.isContinued)
        }
        if !taken.keys.isEmpty { wake() }
        return taken
    }

    /// Returns the next line if it has arrived and meets a condition.
    func takeLine(if isWanted: (TerminalLines.Line) -> Bool = { _ in true }) -> TerminalLines.Line? {
        let line = state.withLock { state in
            state.line.map(isWanted) == true ? state.line.take() : nil
        }
        if line != nil { wake() }
        return line
    }

    /// A Boolean value that indicates whether a text is not written yet, so that no other one can be.
    var isWriting: Bool { state.withLock { !$0.unwritten.isEmpty } }

    /// Begins to write a text.
    func write(_ text: String) {
        state.withLock { $0.unwritten = Array(text.utf8)[...] }
        wake()
    }

    private func wake() {
        var byte = UInt8.max
        _ = Glibc.write(wakingEnds[1], &byte, 1)
    }

    // MARK: The thread

    private func run(readsKeys: Bool) {
        var decoder = TerminalKeyDecoder(), lines = TerminalLines()
        var files = [
            pollfd(fd: wakingEnds[0], events: Int16(POLLIN), revents: 0),
            pollfd(fd: -1, events: Int16(POLLIN), revents: 0), pollfd(fd: -1, events: Int16(POLLOUT), revents: 0),
        ]
        // A Boolean value that indicates whether the reader of the output has gone.
        var hasReaderLeft = false
        while true {
            let (isTaken, isRead, isWritten, isEnding) = state.withLock { state in
                (state.keys.isEmpty && state.line == nil, state.isRead, state.unwritten.isEmpty, state.isEnding)
            }
            if isEnding { break }
            if isTaken, !readsKeys, let line = lines.next() {
                tell { $0.line = line }
                continue
            }
            let isReading = isTaken && !isRead
            files[1].fd = isReading ? input : -1
            // Without a text to write, only the end of the reader matters, and the system always reports it.
            files[2] = pollfd(fd: hasReaderLeft ? -1 : output, events: isWritten ? 0 : Int16(POLLOUT), revents: 0)
            // The escape key is the beginning of other keys' bytes, which arrive at once.
            let ready = poll(&files, 3, isReading && decoder.isUndecided ? 50 : -1)
            if ready == 0 { tell { [keys = decoder.end()] in $0.keys += keys } }
            guard ready > 0 else { continue }
            if files[0].revents != 0 { readNews() }
            if files[2].revents != 0 { hasReaderLeft = !writeOn() }
            guard files[1].revents != 0, let bytes = read() else { continue }
            if readsKeys {
                tell { [keys = decoder.decode(bytes)] in $0.keys += keys }
            } else if bytes.isEmpty {
                lines.end()
            } else {
                lines.append(bytes)
            }
            guard bytes.isEmpty else { continue }
            state.withLock { $0.isRead = true }
            if readsKeys { change.finish() }
        }
        state.withLock { $0.waiting.take() }?.resume()
    }

    private func tell(_ note: (inout State) -> Void) {
        state.withLock { note(&$0) }
        change.yield()
    }

    private func readNews() {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(wakingEnds[0], &bytes, bytes.count)
        let news = bytes.prefix(max(0, count)).compactMap(TerminalMode.News.init)
        guard !news.isEmpty else { return }
        tell { state in
            if news.contains(.resized) { state.isResized = true }
            if news.contains(.continued) { state.isContinued = true }
        }
    }

    /// Returns bytes of the input, none at its end; `nil` if there are none at the moment.
    private func read() -> ArraySlice<UInt8>? {
        var bytes = [UInt8](repeating: 0, count: 1 << 12)
        let count = Glibc.read(input, &bytes, bytes.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return nil }
        return bytes.prefix(max(0, count))
    }

    /// Writes as much as there is room for, perhaps nothing; returns `false` if the reader has gone.
    private func writeOn() -> Bool {
        // A pipe that is ready has room for this number of bytes.
        let bytes = state.withLock { $0.unwritten.prefix(Int(PIPE_BUF)) }
        let count = bytes.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR || errno == EAGAIN { return true }
        let isWritten = state.withLock { state in
            state.unwritten = count > 0 ? state.unwritten.dropFirst(count) : []
            return state.unwritten.isEmpty
        }
        if isWritten { change.yield() }
        if count <= 0 { change.finish() }
        return count > 0
    }
}
