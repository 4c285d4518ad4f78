import Backplane
import BackplaneHost

/// The requests that every host answers, besides the handshake.
extension ControlRequest {
    static let ofEveryHost =
        [
            swap, preview, rollback, generations, statistics, call, stream, events, apply, reset, StoreRequest.handler,
            CredentialsRequest.handler, LogLevelsRequest.handler,
        ] + ofTransfers + ofOperations

    private static let swap = ControlRequest(SwapRequest.self, endsWithClient: false, endsTrouble: true) {
        host, request, work throws(BackplaneError) in
        let options = try request.options?.options() ?? SwapOptions()
        let manifest = try request.apply?.document(for: host, at: "/apply/manifest")
        return try await SwapReportForm(
            SwapProgressWatch.tell(work) { report throws(BackplaneError) in
                try await host.swap(request.libraries, applying: manifest, options, progress: report)
            })
    }

    /// A handler that ends with its client, because it has no effect other than its answer.
    private static let preview = ControlRequest(PreviewRequest.self, endsWithClient: true) {
        host, request throws(BackplaneError) in
        let options = try request.options?.options() ?? SwapOptions()
        let manifest = try request.apply?.document(for: host, at: "/apply/manifest")
        return SwapPreviewForm(try await host.previewSwap(request.libraries, applying: manifest, options))
    }

    private static let rollback = ControlRequest(RollbackRequest.self, endsWithClient: false, endsTrouble: true) {
        host, request, work throws(BackplaneError) in
        let options = try request.options?.options() ?? SwapOptions()
        return try await SwapReportForm(
            SwapProgressWatch.tell(work) { report throws(BackplaneError) in
                try await host.rollback(plugin: request.plugin, to: request.generation, options, progress: report)
            })
    }

    private static let generations = ControlRequest(
        GenerationsRequest.self, endsWithClient: false, endsTrouble: true
    ) { host, request, _ throws(BackplaneError) in
        [GenerationForm](try await host.generations(of: request.plugin))
    }

    private static let statistics = ControlRequest(
        StatisticsRequest.self, endsWithClient: false, endsTrouble: true
    ) { host, _, _ throws(BackplaneError) in
        [ComponentStatisticsForm](await host.statistics)
    }

    /// A handler that ends with its client, because calls that never return would otherwise occupy all connections.
    private static let call = ControlRequest(CallRequest.self, endsWithClient: true) {
        host, request, work throws(BackplaneError) in
        let limit = try (request.timeout ?? 60).asSeconds(at: "/timeout")
        // The host ends the call at its deadline, unless the plugin blocks the thread that is to be notified.
        work.expectEnd(within: limit + .seconds(1))
        let call = host.begin(within: limit, traceparent: request.traceparent)
        let stages = ReportedStages(of: call, in: host, if: request.stages)
        defer { stages?.report(to: work) }
        let output = try await host.call(
            request.manager, request.method, Array((request.input ?? "null").utf8), call)
        return CallRequest.Answer(output: String(decoding: output, as: UTF8.self))
    }

    private static let stream = ControlRequest(StreamRequest.self, endsWithClient: true, isLasting: true) {
        host, request, work throws(BackplaneError) in
        let call = host.begin(
            within: try (request.timeout ?? 60).asSeconds(at: "/timeout"), traceparent: request.traceparent)
        if let limit = request.limit, limit < 1 {
            throw BackplaneError(.controlMalformed, "expected a number of at least 1, found \(limit)", at: "/limit")
        }
        let stages = ReportedStages(of: call, in: host, if: request.stages)
        defer { stages?.report(to: work) }
        let stream = try await host.stream(
            request.manager, request.method, Array((request.input ?? "null").utf8), call)
        var sent = 0
        for try await element in stream {
            stages?.report(to: work)
            try work.send(element: element)
            sent += 1
            if sent == request.limit { break }
        }
        return StreamRequest.Answer(elements: sent)
    }

    private static let events = ControlRequest(EventsRequest.self, endsWithClient: true, isLasting: true) {
        host, request, work throws(BackplaneError) in
        var sent = 0
        let events = host.events
        // Notifies a client that it misses no event from now on.
        work.report(ControlEvent("listening"))
        for await event in events {
            try work.send(element: try JSON.encode(HostEventForm(event), failing: .controlFailed))
            sent += 1
            if sent == request.limit { break }
        }
        return EventsRequest.Answer(elements: sent)
    }

    private static let apply = ControlRequest(ApplyRequest.self) { host, request throws(BackplaneError) in
        let form = AppliedManifestForm(
            manifest: request.manifest, environment: request.environment, empty: request.empty ?? false)
        let document = try form.document(for: host, at: "/manifest")
        return ManifestChangeForm(
            try await host.apply(
                document, trustsLibraries: request.trustsLibraries ?? false,
                allowsMissingMethods: request.allowsMissingMethods ?? false,
                discardsState: request.discardsState ?? false, encodesState: request.encodesState ?? false))
    }

    private static let reset = ControlRequest(ResetRequest.self) { host, request throws(BackplaneError) in
        if let manager = request.manager { return ManifestChangeForm(try await host.reset(manager)) }
        return ManifestChangeForm(try await host.reset())
    }
}

/// The stages of a call's HTTP exchanges, requested by a client.
private struct ReportedStages {
    private let exchanges: TracedExchanges

    /// Starts to collect stages; returns `nil` unless they are requested and the call has a trace.
    init?(of call: Call, in host: PluginHost, if isAsked: Bool?) {
        guard isAsked == true, let exchanges = host.exchanges(of: call.trace) else { return nil }
        self.exchanges = exchanges
    }

    /// Reports the collected stages, each as an event.
    func report(to work: ControlWork) {
        for line in exchanges.takeLines() {
            guard work.report(ControlEvent(line)) else { return }
        }
    }
}
