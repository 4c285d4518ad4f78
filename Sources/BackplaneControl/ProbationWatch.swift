import Backplane
import BackplaneHost

/// The progress reports of a swap whose new generations are active on probation.
enum ProbationWatch {
    /// Runs a swap and reports its probation on this thread, so that the coordinator never waits for a slow client.
    static func tell(
        _ work: ControlWork, of swap: (_ report: @escaping ProbationReport) async throws(BackplaneError) -> SwapReport
    ) async throws(BackplaneError) -> SwapReport {
        let (news, report) = AsyncStream.makeStream(of: [PluginChange].self)
        async let told: Void = {
            for await plugins in news {
                for plugin in plugins {
                    work.report(
                        ControlEvent("generation \(plugin.toGeneration) of \(plugin.plugin) is active, on probation"))
                }
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
