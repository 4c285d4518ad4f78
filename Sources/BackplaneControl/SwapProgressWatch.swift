import Backplane
import BackplaneHost

/// The progress reports of a swap that waits for long calls, or whose new generations are on probation.
enum SwapProgressWatch {
    /// Runs a swap and reports its progress on this thread, so that the coordinator never waits for a slow client.
    static func tell(
        _ work: ControlWork,
        of swap: (_ report: @escaping SwapProgressReport) async throws(BackplaneError) -> SwapReport
    ) async throws(BackplaneError) -> SwapReport {
        let (news, report) = AsyncStream.makeStream(of: SwapProgress.self)
        async let told: Void = {
            for await progress in news {
                for text in progress.texts { work.report(ControlEvent(text)) }
            }
        }()
        let outcome: Result<SwapReport, BackplaneError>
        do throws(BackplaneError) { outcome = .success(try await swap { report.yield($0) }) } catch {
            outcome = .failure(error)
        }
        report.finish()
        await told
        return try outcome.get()
    }
}

extension SwapProgress {
    fileprivate var texts: [String] {
        switch self {
        case .waiting(let calls): ["waiting for long calls: \(calls)"]
        case .onProbation(let plugins):
            plugins.map { "generation \($0.toGeneration) of \($0.plugin) is active, on probation" }
        }
    }
}
