public import Backplane

// Only programs put errors into sets: in the SDK these conformances would be part of every plugin.

extension BackplaneError: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(location)
        hasher.combine(failure)
        hasher.combine(causes)
    }
}

extension BackplaneError.Failure: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(details)
    }
}
