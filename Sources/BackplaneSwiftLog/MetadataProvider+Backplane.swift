#if Engines
public import Backplane
public import Logging

extension Logger.MetadataProvider {
    /// A metadata provider that adds the trace of the current call to log messages, as `trace`.
    ///
    /// The call is the one of the enclosing `Call.withLogging`. The host adds the traces of plugins' messages.
    public static var backplane: Logger.MetadataProvider {
        Logger.MetadataProvider {
            LoggedCall.current?.trace.map { ["trace": .string($0.id)] } ?? [:]
        }
    }
}

/// The call that the current task is serving.
enum LoggedCall {
    @TaskLocal static var current: Call?
}

extension Call {
    /// Runs a function, and adds the call's trace to its log messages through `Logger.MetadataProvider.backplane`.
    ///
    /// - Returns: The result of the function.
    public func withLogging<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await LoggedCall.$current.withValue(self, operation: body)
    }
}
#endif
