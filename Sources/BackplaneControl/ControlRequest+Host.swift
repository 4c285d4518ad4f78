import Backplane
import BackplaneHost

/// What every host answers, but for the greeting.
extension ControlRequest {
    static let ofEveryHost = [swap, preview, rollback, generations, statistics, call, apply, reset]

    private static let swap = ControlRequest(SwapRequest.self, endsWithClient: false) { host, request, work throws(BackplaneError) in
        let options = try request.options.checked
        return try await ProbationWatch.tell(work) { report throws(BackplaneError) in
            try await host.swap(request.libraries, options, onProbation: report)
        }
    }

    private static let preview = ControlRequest(PreviewRequest.self) { host, request throws(BackplaneError) in
        try await host.previewSwap(request.libraries, request.options.checked)
    }

    private static let rollback = ControlRequest(RollbackRequest.self, endsWithClient: false) { host, request, work throws(BackplaneError) in
        let options = try request.options.checked
        return try await ProbationWatch.tell(work) { report throws(BackplaneError) in
            try await host.rollback(plugin: request.plugin, to: request.generation, options, onProbation: report)
        }
    }

    private static let generations = ControlRequest(GenerationsRequest.self) { host, request throws(BackplaneError) in
        try await host.generations(of: request.plugin)
    }

    private static let statistics = ControlRequest(StatisticsRequest.self) { host, _ throws(BackplaneError) in
        await host.statistics
    }

    /// Ended when nobody waits for it any more: calls that never return would otherwise take every place there is.
    private static let call = ControlRequest(CallRequest.self, endsWithClient: true) { host, request, work throws(BackplaneError) in
        let limit = try seconds(request.timeout ?? 60, at: "/timeout")
        // The host ends it at its deadline, unless the plugin keeps the thread that is told so.
        work.expectEnd(within: limit + .seconds(1))
        let output = try await host.call(request.manager, request.method, Array((request.input ?? "null").utf8), host.begin(within: limit))
        return CallRequest.Answer(output: String(decoding: output, as: UTF8.self))
    }

    private static let apply = ControlRequest(ApplyRequest.self) { host, request throws(BackplaneError) in
        guard request.manifest.hasPrefix("/") else {
            throw BackplaneError(.controlMalformed, "expected an absolute path, found `\(request.manifest)`", at: "/manifest")
        }
        let environment = request.environment ?? host.manifestSource.environment
        return try await host.apply(ManifestDocument(contentsOf: request.manifest, environment: environment == "" ? nil : environment))
    }

    private static let reset = ControlRequest(ResetRequest.self) { host, request throws(BackplaneError) in
        if let manager = request.manager { return try await host.reset(manager) }
        return try await host.reset()
    }

    /// - Throws: `control.malformed` for what no clock can count.
    fileprivate static func seconds(_ seconds: Double, at location: String) throws(BackplaneError) -> Duration {
        guard seconds > 0, seconds <= 1e9 else {
            throw BackplaneError(.controlMalformed, "expected a number of seconds above 0, found \(seconds)", at: location)
        }
        return .seconds(seconds)
    }
}

extension SwapOptions? {
    /// The options that were given, or what a swap is made with otherwise.
    fileprivate var checked: SwapOptions {
        get throws(BackplaneError) {
            let options = self ?? SwapOptions()
            _ = try ControlRequest.seconds(options.drainLimit, at: "/options/drainLimit")
            _ = try ControlRequest.seconds(options.stepLimit, at: "/options/stepLimit")
            guard let probation = options.probation else { return options }
            _ = try ControlRequest.seconds(probation.duration, at: "/options/probation/duration")
            _ = try ControlRequest.seconds(probation.healthInterval, at: "/options/probation/healthInterval")
            guard (0...1).contains(probation.errorRate) else {
                throw BackplaneError(.controlMalformed, "expected a part from 0 to 1, found \(probation.errorRate)", at: "/options/probation/errorRate")
            }
            return options
        }
    }
}
