public import Backplane
import BackplaneHost
import Glibc

/// A window in a terminal, or as text through a pipe.
///
/// In a terminal, the window is shown on the full screen and used with keys. Otherwise each drawing is written as text
/// with numbers, and lines such as `3` or `3 moby` name what to press, to follow or to enter.
///
/// ```swift
/// try await TerminalSession.run(AppManager(host))
/// ```
public struct TerminalSession: Sendable {
    private enum Event: Sendable {
        case keys([TerminalKey])
        case line(String)
        /// The window has another drawing.
        case drawing
        case resized, continued
        /// The input or the window has ended.
        case end
    }
    private let window: Window
    private let input: Int32
    private let output: Int32

    /// Creates the session of a window.
    ///
    /// - Parameters:
    ///   - window: The window.
    ///   - input: The file that is read; by default, standard input.
    ///   - output: The file that is written; by default, standard output.
    public init(_ window: Window, input: Int32 = 0, output: Int32 = 1) {
        (self.window, self.input, self.output) = (window, input, output)
    }

    /// Shows a window of an application as ``run()`` does, and closes it.
    ///
    /// - Throws: The error for which the first screens of the window are not shown; `host.exhausted`.
    public static func run(_ app: AppManager) async throws(BackplaneError) {
        let window = try await app.makeWindow()
        do throws(BackplaneError) {
            try await TerminalSession(window).run()
        } catch {
            await window.close()
            throw error
        }
        await window.close()
    }

    /// Shows the window until the person quits, the input or the output ends, the window is closed, or the task is
    /// cancelled.
    ///
    /// From then on, a write to a pipe without a reader no longer ends the process (`SIGPIPE`), unless it handles that.
    ///
    /// - Throws: `host.exhausted` if no pipe or no thread can be created.
    public func run() async throws(BackplaneError) {
        var news: [Int32] = [-1, -1]
        guard pipe(&news) == 0 else {
            throw BackplaneError(
                .hostExhausted,
                "no file could be opened for the terminal: \(String(cString: strerror(errno))); raise the limit "
                    + "(`ulimit -n`)")
        }
        for end in news { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        if let handler = signal(SIGPIPE, SIG_IGN) { signal(SIGPIPE, handler) }
        let (events, event) = AsyncStream.makeStream(of: Event.self)
        let (actions, action) = AsyncStream.makeStream(of: WindowAction.self)
        let first = window.drawing.revision
        let drawings = Task { [window] in
            var revision = first
            while let drawing = await window.drawing(after: revision) {
                revision = drawing.revision
                event.yield(.drawing)
            }
            event.yield(.end)
        }
        let isFullScreen = isatty(output) == 1 && TerminalMode.enter(input: input, output: output, news: news[1])
        let isRead = HostThread.tryStart("bp-terminal") { [input, news] in
            Self.read(input, news[0], isFullScreen: isFullScreen) { event.yield($0) }
            for end in news { close(end) }
        }
        if isFullScreen {
            let work = Task { [window] in for await action in actions { await window.perform(action) } }
            if isRead { await runScreen(events) { action.yield($0) } }
            TerminalMode.leave()
            work.cancel()
        } else if isRead {
            await runDialogue(events)
        }
        drawings.cancel()
        guard isRead else {
            for end in news { close(end) }
            throw BackplaneError(
                .hostExhausted,
                "no thread could be created for the terminal; raise the limits on processes and memory (`ulimit -u`, "
                    + "`ulimit -v`)")
        }
        // The thread closes the pipe.
        var end = TerminalMode.News.end.rawValue
        _ = Glibc.write(news[1], &end, 1)
    }

    // MARK: Full screen

    private func runScreen(_ events: AsyncStream<Event>, _ act: (WindowAction) -> Void) async {
        var screen = TerminalScreen(window.drawing, size: size), shown: [String] = []
        draw(screen, over: &shown)
        for await event in events {
            switch event {
            case .keys(let keys):
                for key in keys {
                    switch screen.press(key) {
                    case .act(let actions): for action in actions { act(action) }
                    case .quit: return
                    }
                }
            case .drawing: screen.show(window.drawing)
            case .resized, .continued:
                if case .continued = event { TerminalMode.resume() }
                screen.resize(size)
                shown = []
            case .line: break
            case .end: return
            }
            guard draw(screen, over: &shown) else { return }
        }
    }

    private var size: TerminalScreen.Size {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalScreen.Size(columns: 80, rows: 24)
        }
        return TerminalScreen.Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Writes the lines that differ from those that are shown; returns `false` if that is impossible.
    @discardableResult
    private func draw(_ screen: TerminalScreen, over shown: inout [String]) -> Bool {
        let colour = getenv("NO_COLOR").map { $0.pointee == 0 } ?? true
        let lines = screen.lines.map { screen.styled($0, colour: colour) }
        // After a change of the size, everything is written.
        var text = shown.count == lines.count ? "" : "\u{1B}[2J"
        for (row, line) in lines.enumerated() where shown.count != lines.count || shown[row] != line {
            text += "\u{1B}[\(row + 1);1H\u{1B}[2K\(line)"
        }
        shown = lines
        return write(text)
    }

    // MARK: Dialogue

    private func runDialogue(_ events: AsyncStream<Event>) async {
        var revision = window.drawing.revision
        var dialogue = TerminalDialogue(window.drawing)
        guard write(dialogue.show(window.drawing) + "\n\n") else { return }
        for await event in events {
            var isWanted = false
            switch event {
            case .line(let line):
                switch dialogue.read(line) {
                case .act(let actions): for action in actions { await window.perform(action) }
                case .show: isWanted = true
                case .refuse(let reason): guard write(reason + "\n\n") else { return }
                case .quit: return
                }
            case .end: return
            case .drawing, .keys, .resized, .continued: break
            }
            let drawing = window.drawing
            guard isWanted || drawing.revision != revision else { continue }
            revision = drawing.revision
            guard write(dialogue.show(drawing) + "\n\n") else { return }
        }
    }

    // MARK: Files

    /// Writes all of a text; returns `false` if the reader has gone.
    private func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var entry = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Reads keys or lines until the input ends, or the session does.
    private static func read(
        _ input: Int32, _ news: Int32, isFullScreen: Bool, _ tell: (Event) -> Void
    ) {
        var decoder = TerminalKeyDecoder(), line: [UInt8] = []
        var files = [
            pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: news, events: Int16(POLLIN), revents: 0),
        ]
        var buffer = [UInt8](repeating: 0, count: 1 << 12)
        while true {
            // The escape key is the beginning of other keys' bytes, which arrive at once.
            let ready = poll(&files, 2, decoder.isUndecided ? 50 : -1)
            if ready == 0 { tell(.keys(decoder.end())) }
            guard ready > 0 else { continue }
            if files[1].revents != 0 {
                var byte: UInt8 = 0
                switch Glibc.read(news, &byte, 1) == 1 ? TerminalMode.News(rawValue: byte) : .end {
                case .resized: tell(.resized)
                case .continued: tell(.continued)
                case .end, nil: return
                }
            }
            guard files[0].revents != 0 else { continue }
            let count = Glibc.read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else {
                if !line.isEmpty { tell(.line(String(decoding: line, as: UTF8.self))) }
                tell(.end)
                // The session still has to read what it was told.
                files[0].fd = -1
                continue
            }
            guard !isFullScreen else {
                tell(.keys(decoder.decode(buffer[..<count])))
                continue
            }
            for byte in buffer[..<count] {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                tell(.line(String(decoding: line, as: UTF8.self)))
                line = []
            }
        }
    }
}
