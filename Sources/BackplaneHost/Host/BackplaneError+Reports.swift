public import Backplane

// Only programs put errors into sets. In the SDK, these conformances would be part of every plugin.

extension BackplaneError {
    /// The error and its causes without confidential details, for reports.
    package var shown: BackplaneError {
        var shown = self
        shown.failure?.details = failure?.details.filter { !$0.key.hasPrefix(".") } ?? [:]
        shown.failure?.json = nil
        shown.causes = causes.map(\.shown)
        return shown
    }
}

extension BackplaneError: Hashable {
    /// Hashes the code, message, location, failure and causes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(location)
        hasher.combine(failure)
        hasher.combine(causes)
    }
}

extension BackplaneError.Failure: Hashable {
    /// Hashes the code and the details.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(details)
    }
}
