#if Engines
public import Backplane
public import Logging

extension Logger.MetadataProvider {
    /// The provider of the trace of the call that the program's own code works for, as `trace`.
    ///
    /// The call is that of `Call.withLogging`. Messages of plugins have their traces from the host.
    public static var backplane: Logger.MetadataProvider {
        Logger.MetadataProvider {
            LoggedCall.current?.trace.map { ["trace": .string($0.id)] } ?? [:]
        }
    }
}

/// The call that the current task works for.
enum LoggedCall {
    @TaskLocal static var current: Call?
}

extension Call {
    /// Runs a function whose messages have the call's trace, with `Logger.MetadataProvider.backplane`.
    ///
    /// - Returns: What the function returns.
    public func withLogging<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await LoggedCall.$current.withValue(self, operation: body)
    }
}
#endif
