import Backplane
import BackplaneHost
import BackplaneTools
import Foundation

/// The rows for changing one of a host's 200 managers, and for looking one up.
struct ApplyRows: Sendable {
    private let host: LazyValue<PluginHost>

    init(in folder: String) {
        host = LazyValue {
            let host = PluginHost(
                manifest: ManifestDocument(Self.crowd(keeping: 0).manifest),
                options: HostOptions(
                    loadFolder: folder + "/load", dataFolder: folder + "/data", log: StandardErrorLog(level: .error)))
            do {
                try await host.start()
            } catch {
                await host.stop()
                throw error
            }
            return host
        }
    }

    private static func crowd(keeping kept: Int) -> Crowd { Crowd(managers: 200, kept: kept) }
    private static let manager = crowd(keeping: 0).lastName

    func close() async {
        await host.valueIfMade?.stop()
    }

    var rows: [Row] {
        let host = host
        return [
            .duration("applying one changed number to 200 managers", limit: 20) {
                let host = try await host.value()
                // Choose a number that differs from all earlier ones, because the host may be that of an earlier round.
                let document = ManifestDocument(Self.crowd(keeping: .random(in: 1...(.max / 2))).manifest)
                let start = ContinuousClock.now
                let change = try await host.apply(document)
                let time = ContinuousClock.now - start
                guard change.components.map(\.action) == [.recreated] else {
                    throw BackplaneError(
                        .componentFailed,
                        "expected one component to be recreated, found \(change.components.map(\.component))",
                        at: Self.manager)
                }
                return time
            },
            .calls("look-up by name, one of 200 managers") { count in
                let host = try await host.value()
                for _ in 0..<count { _ = try await host.manager(Self.manager, as: CrowdContract.self) }
                return count
            },
        ]
    }
}
