#if Engines
import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneNetwork
import BackplaneRoutes
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization

/// The drawings of a window as server-sent events, which a script shows.
///
/// A connection takes only the newest drawing, so that a slow browser keeps up with a window that changes quickly.
final class DrawingStream: Sendable {
    private struct State {
        /// The step that waits for the next drawing.
        var step: RouteStep<WindowDrawing?>?
        var isStopped = false
    }
    /// The size of patches, in bytes, above which the whole content may be smaller.
    private static let manyBytes = 32 << 10
    private let window: Window
    private let rendering: HTMLRendering
    private let clock: any DeadlineClock
    private let state = Mutex(State())

    init(_ window: Window, _ rendering: HTMLRendering, clock: any DeadlineClock) {
        (self.window, self.rendering, self.clock) = (window, rendering, clock)
    }

    /// Sends changes until the window is closed, the browser leaves, or the server stops.
    ///
    /// - Parameter revision: The revision of the drawing that the page shows; `nil` if it shows another window.
    @concurrent func send(after revision: Int?, to writer: inout any ResponseBodyWriter) async throws {
        try await withGracefulShutdownHandler {
            try await write(after: revision, to: &writer)
        } onGracefulShutdown: {
            self.stop()
        }
    }

    @concurrent private func write(after revision: Int?, to writer: inout any ResponseBodyWriter) async throws {
        defer { state.withLock { $0.step.take() }?.cancel() }
        var shown = window.drawing
        // The first message, even without changes, shows the script that there is a window.
        let isShown = shown.revision == revision
        try await write(
            isShown ? ScreenMessage(revision: shown.revision) : message(showing: shown, after: nil), to: &writer)
        while true {
            let (step, isStopped) = current(after: shown.revision)
            if isStopped { return }
            guard let next = await step.result(until: clock.moment + PartSender.patience, by: clock) else {
                try Task.checkCancellation()
                if !state.withLock({ $0.isStopped }) { try await writer.write(ByteBuffer(string: ":\n\n")) }
                continue
            }
            state.withLock { $0.step = nil }
            guard let next else { return }
            try await write(message(showing: next, after: shown), to: &writer)
            shown = next
        }
    }

    @concurrent private func write(_ message: ScreenMessage, to writer: inout any ResponseBodyWriter) async throws {
        try await writer.write(ByteBuffer(string: try ServerEvent.json(message).text))
    }

    /// Returns the step that waits for the next drawing, and begins it if necessary.
    private func current(after revision: Int) -> (RouteStep<WindowDrawing?>, isStopped: Bool) {
        let (step, isStopped) = state.withLock { ($0.step, $0.isStopped) }
        if let step { return (step, isStopped) }
        let next = RouteStep { [window] in await window.drawing(after: revision) }
        return state.withLock { state in
            state.step = next
            return (next, state.isStopped)
        }
    }

    private func stop() {
        let step = state.withLock { state in
            state.isStopped = true
            return state.step
        }
        step?.interrupt()
    }

    /// Returns the message for a page to show a drawing.
    ///
    /// - Parameter former: The drawing that the page shows; `nil` if it is unknown.
    private func message(showing drawing: WindowDrawing, after former: WindowDrawing?) -> ScreenMessage {
        var message = ScreenMessage(revision: drawing.revision)
        let address = ScreenAddress(of: drawing)
        if former.map({ ScreenAddress(of: $0) }) != address { message.address = address.text }
        message.moves = former.map { $0.front?.number != drawing.front?.number }
        let patches = former.map { rendering.patches(from: $0, to: drawing) }
        let size = patches?.reduce(0) { $0 + $1.size } ?? .max
        if size >= Self.manyBytes {
            let content = rendering.content(of: drawing)
            if content.utf8.count < size {
                (message.title, message.content) = (drawing.front?.heading ?? "", content)
                return message
            }
        }
        message.patches = patches
        return message
    }
}

/// A message to the script of a page.
private struct ScreenMessage: Encodable, Sendable {
    /// The revision of the drawing that the page shows after the message.
    var revision: Int
    /// The address of the window, if it is another one.
    var address: String?
    /// The changes of the page.
    var patches: [HTMLPatch]?
    /// The content of the page in place of changes, and its title.
    var content, title: String?
    /// Whether another screen is in front.
    var moves: Bool?

    init(revision: Int) { self.revision = revision }
}

extension HTMLPatch {
    /// The approximate number of bytes in the message.
    fileprivate var size: Int { id.utf8.count + (html?.utf8.count ?? 0) + 64 }
}
#endif
