package import Backplane
package import BackplaneExchange
package import BackplaneHost
import BackplaneTestKit

extension PluginHost {
    /// Runs a host with the system's clock while `body` runs, in a new folder unless one is given.
    package static func running(
        _ manifest: Manifest, _ plugins: [any Plugin.Type] = [], in folder: String? = nil,
        executors: [any HTTPExecutor], lanes: LaneRule = .fastest, _ change: (inout HostOptions) -> Void = { _ in },
        _ body: (PluginHost) async throws -> Void
    ) async throws {
        let files = try TestFolder(), folder = folder ?? files.path
        var options = HostOptions(
            loadFolder: folder + "/loads", dataFolder: folder + "/data", executors: executors, lanes: lanes,
            occupationLimit: nil)
        change(&options)
        let host = PluginHost(manifest: manifest, plugins: plugins, options: options)
        do {
            try await host.start()
            try await body(host)
        } catch {
            await host.stop()
            throw error
        }
        await host.stop()
    }
}
