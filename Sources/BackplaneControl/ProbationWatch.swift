import Backplane
import BackplaneHost

/// The news of a swap that its new generations are in force on probation: from then on callers see them.
enum ProbationWatch {
    /// Makes a swap and tells whoever asked for it of its probation, on this thread: the coordinator waits for nobody who reads slowly.
    static func tell(
        _ work: ControlWork, of swap: (_ report: @escaping ProbationReport) async throws(BackplaneError) -> SwapReport
    ) async throws(BackplaneError) -> SwapReport {
        let (news, report) = AsyncStream.makeStream(of: [PluginChange].self)
        async let told: Void = {
            for await plugins in news {
                for plugin in plugins { work.report(ControlEvent("generation \(plugin.toGeneration) of \(plugin.plugin) is in force, on probation")) }
            }
        }()
        let outcome: Result<SwapReport, BackplaneError>
        do throws(BackplaneError) { outcome = .success(try await swap { report.yield($0) }) } catch { outcome = .failure(error) }
        report.finish()
        await told
        return try outcome.get()
    }
}
