import Backplane
import BackplaneHost

/// The requests that every host answers, besides the handshake.
extension ControlRequest {
    static let ofEveryHost = [swap, preview, rollback, generations, statistics, call, apply, reset]

    private static let swap = ControlRequest(SwapRequest.self, endsWithClient: false, endsTrouble: true) {
        host, request, work throws(BackplaneError) in
        let options = try request.options?.options() ?? SwapOptions()
        return try await SwapReportForm(
            ProbationWatch.tell(work) { report throws(BackplaneError) in
                try await host.swap(request.libraries, options, onProbation: report)
            })
    }

    /// A handler that ends with its client: nothing of what it did remains when nobody reads it.
    private static let preview = ControlRequest(PreviewRequest.self, endsWithClient: true) {
        host, request throws(BackplaneError) in
        let options = try request.options?.options() ?? SwapOptions()
        return SwapPreviewForm(try await host.previewSwap(request.libraries, options))
    }

    private static let rollback = ControlRequest(RollbackRequest.self, endsWithClient: false, endsTrouble: true) {
        host, request, work throws(BackplaneError) in
        let options = try request.options?.options() ?? SwapOptions()
        return try await SwapReportForm(
            ProbationWatch.tell(work) { report throws(BackplaneError) in
                try await host.rollback(plugin: request.plugin, to: request.generation, options, onProbation: report)
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

    /// A handler that ends with its client: calls that never return would otherwise occupy all connections.
    private static let call = ControlRequest(CallRequest.self, endsWithClient: true) {
        host, request, work throws(BackplaneError) in
        let limit = try (request.timeout ?? 60).asSeconds(at: "/timeout")
        // The host ends the call at its deadline, unless the plugin blocks the thread that is to be notified.
        work.expectEnd(within: limit + .seconds(1))
        let output = try await host.call(
            request.manager, request.method, Array((request.input ?? "null").utf8), host.begin(within: limit))
        return CallRequest.Answer(output: String(decoding: output, as: UTF8.self))
    }

    private static let apply = ControlRequest(ApplyRequest.self) { host, request throws(BackplaneError) in
        guard request.manifest.hasPrefix("/") else {
            throw BackplaneError(
                .controlMalformed, "expected an absolute path, found `\(request.manifest)`", at: "/manifest")
        }
        let environment = request.environment ?? host.manifestSource.environment
        // Only a regular file, since another client's pipe could keep this request for ever.
        let document = ManifestDocument(
            parsing: try ManifestFile.read(request.manifest, onlyRegular: true), path: request.manifest,
            environment: environment == "" ? nil : environment)
        let hasErrors = document.problems.contains { $0.severity == .error }
        guard request.empty == true || hasErrors || !document.manifest.managers.isEmpty else {
            throw BackplaneError(
                .manifestEmpty,
                "the manifest has no managers, so that every manager of the host would stop; `backplane apply --empty`, or `\"empty\": true` in the request, says that this is meant",
                at: request.manifest)
        }
        return ManifestChangeForm(try await host.apply(document, trustsLibraries: request.trustsLibraries ?? false))
    }

    private static let reset = ControlRequest(ResetRequest.self) { host, request throws(BackplaneError) in
        if let manager = request.manager { return ManifestChangeForm(try await host.reset(manager)) }
        return ManifestChangeForm(try await host.reset())
    }
}
