/// A line on standard error that shows the current activity if it is a terminal.
package struct ProgressLine: Sendable {
    private let isShown = Terminal.takesProgress

    package init() {}

    package func show(_ text: String) {
        if isShown { Output.overwrite(text) }
    }

    package func clear() { show("") }
}
