package import Backplane

extension BackplaneError {
    /// The error and its causes without confidential details, for display.
    package var shown: BackplaneError {
        var shown = self
        shown.failure?.details = failure?.details.filter { !$0.key.hasPrefix(".") } ?? [:]
        shown.causes = causes.map(\.shown)
        return shown
    }
}
