#if Engines
public import Backplane
public import BackplaneHost
public import Tracing

/// Calls in the spans of swift-distributed-tracing.
///
/// The trace of a call follows W3C Trace Context, so the program's instrument must read and write `traceparent`.
extension PluginHost {
    /// Returns a new call that continues the span of a context.
    ///
    /// ```swift
    /// let call = host.begin(within: .seconds(2), in: .current)
    /// ```
    ///
    /// - Parameters:
    ///   - duration: The time until the call's deadline; `nil` means no deadline.
    ///   - context: The context of the span. Without one, a new trace begins.
    public func begin(within duration: Duration? = nil, in context: ServiceContext?) -> Call {
        begin(within: duration, traceparent: context?.traceparent)
    }

    /// Runs a function as a client span of remote procedure calls, with a call that continues the span.
    ///
    /// ```swift
    /// let found = try await host.withSpan("Library/search") { call in try await library.search("whale", call) }
    /// ```
    ///
    /// The span is a child of the span in progress. It has the attributes `rpc.system.name`, `rpc.method` and, after an
    /// error, `error.type` with its code.
    ///
    /// - Parameters:
    ///   - method: The names of the contract and the method, such as `Library/search`, which are the span's name.
    ///   - duration: The time until the call's deadline; `nil` means no deadline.
    ///   - body: The function, which receives the call to pass on to managers.
    /// - Returns: The result of the function.
    public func withSpan<Result>(
        _ method: String, within duration: Duration? = nil, _ body: (Call) async throws -> Result
    ) async rethrows -> Result {
        let span = startSpan(method, ofKind: .client)
        defer { span.end() }
        span.updateAttributes { attributes in
            attributes["rpc.system.name"] = "backplane"
            attributes["rpc.method"] = method
        }
        do {
            return try await ServiceContext.$current.withValue(span.context) {
                try await body(begin(within: duration, in: span.context))
            }
        } catch {
            span.fail(error)
            throw error
        }
    }
}

extension Call {
    /// The context of the call's trace, in which a component of the program begins its spans.
    ///
    /// This is the current context, with the trace as its span.
    public var serviceContext: ServiceContext { ServiceContext.continuing(trace?.traceparent) }
}

extension ServiceContext {
    /// The span of the context as the value of the field `traceparent`; `nil` without a span.
    var traceparent: String? {
        var fields: [String: String] = [:]
        InstrumentationSystem.instrument.inject(self, into: &fields, using: FieldsOfTrace())
        return fields["traceparent"]
    }

    /// Returns the current context with the span that a field `traceparent` names.
    static func continuing(_ traceparent: String?) -> ServiceContext {
        var context = ServiceContext.current ?? .topLevel
        if let traceparent {
            InstrumentationSystem.instrument.extract(
                ["traceparent": traceparent], into: &context, using: FieldsOfTrace())
        }
        return context
    }
}

/// The access of an instrument to header fields by their names in lower case.
private struct FieldsOfTrace: Injector, Extractor {
    func inject(_ value: String, forKey name: String, into fields: inout [String: String]) {
        fields[name.lowercased()] = value
    }

    func extract(key name: String, from fields: [String: String]) -> String? { fields[name.lowercased()] }
}

extension Tracing.Span {
    /// Records the code of the error that has ended the operation of the span, but not its text, which may be secret.
    func fail(_ error: any Error) {
        attributes["error.type"] = BackplaneError(thrown: error).code.rawValue
        setStatus(SpanStatus(code: .error))
    }
}
#endif
