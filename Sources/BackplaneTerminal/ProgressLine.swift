/// One line on standard error that says what is being done, where a person watches.
struct ProgressLine: Sendable {
    private let isShown = Terminal.takesProgress

    func show(_ text: String) {
        if isShown { Output.overwrite(text) }
    }

    func clear() { show("") }
}
