/// One line on standard error that says what is being done, where a person watches.
package struct ProgressLine: Sendable {
    private let isShown = Terminal.takesProgress

    package init() {}

    package func show(_ text: String) {
        if isShown { Output.overwrite(text) }
    }

    package func clear() { show("") }
}
