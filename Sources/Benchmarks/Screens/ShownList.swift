import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneScreens

/// A window that shows a list of a plugin, and its rendering as a page.
struct ShownList: Sendable {
    static let rows = 1_000
    private let host: PluginHost
    private let window: Window
    private let screen: Int
    private let rendering = HTMLRendering(
        HTMLRendering.Addresses(
            screen: { "/screens/\($0.screen)" }, image: { "/image?key=\($0)" }, tab: { "/tabs/\($0)" }, back: "/back",
            form: "/event"), token: "")

    init(_ lanes: LaneRule, in folder: String) async throws {
        host = try await ScreenRig.host(lanes, rows: Self.rows, in: folder)
        do {
            window = try await AppManager(host).makeWindow()
            screen = window.drawing.front?.number ?? 0
        } catch {
            await host.stop()
            throw error
        }
    }

    func close() async {
        await window.close()
        await host.stop()
    }

    /// Renders the whole window a number of times, and returns the milliseconds of each.
    func render(_ count: Int) throws -> Double {
        let drawing = window.drawing, start = ContinuousClock.now
        var size = 0
        for _ in 0..<count { size += rendering.content(of: drawing).utf8.count }
        guard size > count * Self.rows * 100 else {
            throw BackplaneError(.componentFailed, "the page of \(Self.rows) rows has \(size / count) bytes")
        }
        return (ContinuousClock.now - start) / .milliseconds(1) / Double(count)
    }

    /// Changes a row a number of times, and returns the milliseconds from each event to its patch.
    func change(_ count: Int) async throws -> Double {
        let start = ContinuousClock.now
        for number in 0..<count {
            let before = window.drawing
            await window.send(ViewEvent(.press, "borrow", rows: ["\(number % Self.rows)"]), to: screen)
            let patches = rendering.patches(from: before, to: window.drawing)
            guard patches.count == 1 else {
                throw BackplaneError(.componentFailed, "a change of one row has \(patches.count) patches")
            }
        }
        return (ContinuousClock.now - start) / .milliseconds(1) / Double(count)
    }
}
