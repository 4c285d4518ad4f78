public import Backplane
import Glibc

/// A window in a terminal, or as text through a pipe.
///
/// In a terminal, the window fills the screen and is used with keys. Otherwise, each drawing is written as text with
/// numbers. Lines such as `3` or `3 moby` then press, follow or fill in the target with that number.
///
/// ```swift
/// try await TerminalSession.run(AppManager(host))
/// ```
public struct TerminalSession: Sendable {
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

    /// Opens a window of an application, shows it as ``run()`` does, and closes it.
    ///
    /// - Throws: The error that prevents the first screens from being shown; `host.exhausted`.
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
    /// From then on, a write to a pipe without a reader no longer ends the process (`SIGPIPE`), unless the process
    /// handles that signal.
    ///
    /// - Throws: `host.exhausted` if no pipe or no thread can be created.
    public func run() async throws(BackplaneError) {
        // Changes are looked up later, so that any number of changes is one element.
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        guard let files = TerminalFiles(input: input, output: output, change) else {
            throw BackplaneError(
                .hostExhausted,
                "no file could be opened for the terminal: \(String(cString: strerror(errno))); raise the limit "
                    + "(`ulimit -n`)")
        }
        if let handler = signal(SIGPIPE, SIG_IGN) { signal(SIGPIPE, handler) }
        let isFullScreen =
            isatty(output) == 1 && TerminalMode.enter(input: input, output: files.output, news: files.news)
        let isBegun = files.begin(readsKeys: isFullScreen)
        if isBegun {
            change.yield()
            let drawings = Task { [window] in
                var revision = 0
                while let drawing = await window.drawing(after: revision) {
                    revision = drawing.revision
                    change.yield()
                }
                change.finish()
            }
            if isFullScreen { await runScreen(files, changes) } else { await runDialogue(files, changes, change) }
            drawings.cancel()
            await files.end()
        }
        if isFullScreen { TerminalMode.leave() }
        files.close()
        guard isBegun else {
            throw BackplaneError(
                .hostExhausted,
                "no thread could be created for the terminal; raise the limits on processes and memory (`ulimit -u`, "
                    + "`ulimit -v`)")
        }
    }

    // MARK: Full screen

    private func runScreen(_ files: TerminalFiles, _ changes: AsyncStream<Void>) async {
        var screen = TerminalScreen(window.drawing, size: size), codes = TerminalMode.codes, shown: [String] = []
        var isDrawn = false
        let actions = TerminalActions(window)
        defer { actions.end() }
        for await _ in changes {
            let news = files.take()
            if news.isResized || news.isContinued {
                if news.isContinued {
                    TerminalMode.resume()
                    codes = TerminalMode.codes
                }
                screen.resize(size)
                (shown, isDrawn) = ([], false)
            }
            if !news.keys.isEmpty {
                guard case .act(let new) = screen.press(news.keys) else { return }
                for action in new { actions.perform(action) }
                isDrawn = false
            }
            // While the terminal has no room, keys refer to the lines that it still shows.
            guard !files.isWriting else { continue }
            let drawing = window.drawing
            if drawing.revision != screen.drawing.revision {
                screen.show(drawing)
                isDrawn = false
            }
            guard !isDrawn else { continue }
            let text = codes + text(of: screen, over: &shown)
            if !text.isEmpty { files.write(text) }
            (codes, isDrawn) = ("", true)
        }
    }

    private var size: TerminalScreen.Size {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalScreen.Size(columns: 80, rows: 24)
        }
        return TerminalScreen.Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Returns the codes for the lines that differ from the shown ones.
    private func text(of screen: TerminalScreen, over shown: inout [String]) -> String {
        let colour = getenv("NO_COLOR").map { $0.pointee == 0 } ?? true
        let lines = screen.lines.map { screen.styled($0, colour: colour) }
        // After a change of the size, everything is written.
        var text = shown.count == lines.count ? "" : "\u{1B}[2J"
        for (row, line) in lines.enumerated() where shown.count != lines.count || shown[row] != line {
            text += "\u{1B}[\(row + 1);1H\u{1B}[2K\(line)"
        }
        shown = lines
        return text
    }

    // MARK: Dialogue

    /// Performs lines in order, each after the one before has been performed and its result written.
    private func runDialogue(
        _ files: TerminalFiles, _ changes: AsyncStream<Void>, _ change: AsyncStream<Void>.Continuation
    ) async {
        var dialogue = TerminalDialogue(window.drawing), revision: Int?, isQuitting = false
        let actions = TerminalActions(window)
        defer { actions.end() }
        for await _ in changes {
            while !files.isWriting {
                if actions.isBusy {
                    guard files.takeLine(if: { $0 == .text("q") }) != nil else { break }
                    // The second `q` does not wait.
                    if isQuitting { return }
                    isQuitting = true
                    continue
                }
                let drawing = window.drawing
                if drawing.revision != revision {
                    revision = drawing.revision
                    files.write(dialogue.show(drawing) + "\n\n")
                    continue
                }
                if isQuitting { return }
                guard let line = files.takeLine() else { break }
                switch line {
                case .text(let text):
                    switch dialogue.read(text) {
                    case .act(let new): actions.performInOrder(new) { change.yield() }
                    case .show: revision = nil
                    case .refuse(let reason): files.write(reason + "\n\n")
                    case .quit: return
                    }
                case .tooLong: files.write("a line has at most 1 MB\n\n")
                case .end: return
                }
            }
        }
    }
}
